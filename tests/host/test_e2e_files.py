"""Files of the workspace that the model sends to people, on the whole agent."""

import json

import pytest

from tenner_sim.services import OWNER, Step
from tests.host.e2e import LIMIT_S, agent_board
from tests.host.test_e2e_chart import outgoing

#: Many blocks, and every byte.
DATA = bytes(range(256)) * 180
LEAK = b"it is a-key-of-brave\n"


def call(**args):
    return "call message " + json.dumps(args)


def board(**options):
    files = {"/workspace/notes/the-day.bin": DATA, "/workspace/leak.txt": LEAK}
    return agent_board(files=files, **options)


def documents(bench):
    return [one for one in list(bench.telegram.sent) if one.file]


def wait_document(bench, count=1):
    bench.telegram.wait_for(lambda _: len(documents(bench)) >= count, LIMIT_S)
    return documents(bench)[count - 1]


@pytest.mark.parametrize("runtime", ["micropython", "cpython"])
def test_the_owner_gets_one(runtime):
    with board(runtime=runtime) as bench:
        bench.ready()
        bench.telegram.say(OWNER, call(text="all of today", file="notes/the-day.bin"))
        sent = wait_document(bench)
        assert (sent.text, sent.file.name, sent.chat_id) == ("all of today", "the-day.bin", OWNER)
        assert sent.file.data == DATA
        bench.wait_told("^message: queued for telegram:1000")
        # A text that is too long for a caption comes before it.
        bench.telegram.say(OWNER, call(text="all " * 150 + "done", file="notes/the-day.bin"))
        assert wait_document(bench, 2).text == ""
        assert bench.wait_told("^all all .*done$")
        bench.wait_told("^message: queued for telegram:1000", count=2)
        for path in ("../config.json", "/state/telegram.0", "notes"):
            assert bench.ask(call(text="x", file=path)).startswith("message: error: ")
        assert len(documents(bench)) == 2
        assert outgoing(bench) == []
        assert "Traceback" not in bench.log


def test_a_file_with_a_secret_stays():
    with board(changes={"web.search_key": "a-key-of-brave"}) as bench:
        bench.ready()
        answer = bench.ask(call(text="x", file="leak.txt"))
        assert "this file holds a secret of config.json" in answer
        assert documents(bench) == []
        assert outgoing(bench) == []


def test_a_power_cut_in_the_middle_of_sending():
    with board() as bench:
        bench.ready()
        bench.telegram.plan([Step(path="sendDocument", stall=0)])
        bench.telegram.say(OWNER, call(text="all of today", file="notes/the-day.bin"))
        bench.telegram.wait_requests(1, LIMIT_S, "sendDocument")
        bench.board.power_cycle()
        bench.ready()
        # It may have arrived: it is not sent again, and leaves no copy.
        bench.telegram.say(OWNER, "say: after")
        bench.wait_told("^after")
        found = [one for one in bench.telegram.requests if one.path.endswith("sendDocument")]
        assert len(found) == 1
        assert outgoing(bench) == []
