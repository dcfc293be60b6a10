"""A webhook beside Telegram, on the virtual board with a chip's code: it gets each alert."""

import json

from tenner_sim.services import Step
from tests.host.e2e import ASK, agent_board
from tests.host.test_e2e_mqtt import ALERT

PATH = "/hooks/attic"


def changes(services):
    return {"webhook.url": services.model.url + PATH}


def test_an_alert_goes_to_telegram_and_to_the_webhook_once():
    with agent_board(ALERT, changes=changes) as bench:
        bench.model.plan([Step(path=PATH, status=503), Step(path=PATH, body=b"ok")])
        bench.board.set("room.temperature", 31.5)
        bench.wait_told("Warm: 31.5")
        first, again = bench.model.wait_requests(2, path=PATH)
        assert json.loads(again.body)["text"].startswith("Warm: 31.5")
        assert first.body == again.body
        assert again.headers["content-type"] == "application/json"
        # The answers to people stay with them.
        assert bench.ask(ASK)
        assert len(bench.model.wait_requests(2, path=PATH)) == 2


def test_a_webhook_that_refuses_holds_nothing_back():
    with agent_board(ALERT, changes=changes) as bench:
        bench.model.plan([Step(path=PATH, status=404, times=9)])
        bench.board.set("room.temperature", 31.5)
        bench.wait_told("Warm: 31.5")
        bench.model.wait_requests(1, path=PATH)
        assert bench.ask(ASK)
        assert len(bench.model.wait_requests(1, path=PATH)) == 1
