"""Charts of the whole agent: asked for by a person, by the model, and lost in mid-send."""

import io
import json
import re

import numpy as np
import pytest
from PIL import Image

from tenner.chart import picture
from tenner_sim.services import OWNER, Step
from tests.bench.agent import readings
from tests.host.e2e import LIMIT_S, agent_board

FOLDER = "/state/outgoing"


def board(heartbeat="# Heartbeat\n", names=("room.temperature",), **options):
    """An agent with a day of readings; it keeps no others, so that these are all."""
    options.setdefault("files", {})["/state/readings.1"] = readings(names)
    options["changes"] = {"sensors.every": "1d", **options.get("changes", {})}
    return agent_board(heartbeat, **options)


def photos(bench):
    return [one for one in list(bench.telegram.sent) if one.file]


def wait_photo(bench, count=1):
    try:
        bench.telegram.wait_for(lambda _: len(photos(bench)) >= count, LIMIT_S)
    except TimeoutError as exc:
        raise AssertionError(f"no photo; the board: {bench.log[-3000:]}") from exc
    return photos(bench)[count - 1]


def check_picture(photo):
    """It is a chart of the wave: one line from the left to the right."""
    assert photo.file.media_type == "image/png" and photo.file.name.endswith(".png")
    with Image.open(io.BytesIO(photo.file.data)) as image:
        image.load()
        pixels = np.asarray(image)
    assert pixels.shape == (picture.HEIGHT, picture.WIDTH)
    columns = (pixels[picture.TOP : picture.TOP + picture.AREA] == 8).any(axis=0)
    first, last = np.flatnonzero(columns)[[0, -1]]
    assert columns[first:last].all() and last - first > 500


def outgoing(bench):
    """The pictures on flash, after the delivery that removes them: it ends before a second answer
    begins."""
    bench.echo("first")
    bench.echo("second")
    return waiting(bench)


def waiting(bench):
    return [name for name in bench.board.read_tree() if name.startswith(FOLDER)]


@pytest.mark.parametrize("runtime", ["micropython", "cpython"])
def test_a_person_asks_for_one(runtime):
    with board(runtime=runtime, names=("room.temperature", "room.humidity")) as bench:
        bench.ready()
        assert bench.ask("/chart room.temperature", quotes=False) == (
            "room.temperature, last 24 h: 15 to 25 \u00b0C"
        )
        check_picture(wait_photo(bench))
        # The picture is the answer.
        told = bench.ask("/chart room.humidity 90m", quotes=False)
        assert told.startswith("room.humidity, last 90 min: 23.")
        assert len(bench.told()) == len(photos(bench)) == 2
        bench.ask("/chart", quotes=False)
        choices = bench.telegram.sent[-1]
        assert [one["text"] for one in choices.buttons] == ["room.humidity", "room.temperature"]
        bench.telegram.press(choices, "c:room.temperature")
        wait_photo(bench, 3)
        assert "24 h" in photos(bench)[2].text
        # A tap on a value that is no more, and one of somebody else.
        choices.buttons[0]["callback_data"] = "c:cellar.humidity"
        bench.telegram.press(choices, "c:cellar.humidity")
        bench.wait_told("^There are no readings of cellar.humidity")
        assert bench.ask("/chart room.temperature 1m") == (
            "expected a value and a time of 5 minutes or more, as room.temperature 24h"
        )
        assert bench.ask("/chart room") == (
            "There are no readings of room, only of: room.humidity, room.temperature."
        )
        assert len(photos(bench)) == 3
        bench.echo("after")
        assert outgoing(bench) == []
        assert "Traceback" not in bench.log


def test_the_model_sends_one():
    with board() as bench:
        bench.ready()
        answer = bench.ask('call chart {"value":"room","hours":12}')
        assert answer == "chart: a picture of room.temperature follows your answer"
        check_picture(wait_photo(bench))
        assert photos(bench)[0].text.startswith("room.temperature, last 12 h: ")
        answer = bench.ask('call chart {"value":"cellar.temperature"}')
        assert answer.startswith("chart: error: There are no readings of cellar.temperature, only")
        assert len(photos(bench)) == 1
        assert "Traceback" not in bench.log


def test_on_the_console_it_is_a_file_of_the_workspace():
    with board() as bench:
        bench.ready()
        bench.type("/chart room.temperature")
        bench.wait_for("chart.png in the workspace: room.temperature, last 24 h: 15 to 25")
        data = bench.board.read_tree()["/workspace/chart.png"]
        assert Image.open(io.BytesIO(data)).size == (picture.WIDTH, picture.HEIGHT)
        assert photos(bench) == []


def test_a_power_cut_in_the_middle_of_sending():
    with board() as bench:
        bench.ready()
        bench.telegram.plan([Step(path="sendPhoto", stall=0)])
        bench.telegram.say(OWNER, "/chart room.temperature")
        bench.telegram.wait_requests(1, LIMIT_S, "sendPhoto")
        assert waiting(bench) != []
        bench.board.power_cycle()
        bench.ready()
        bench.echo("after")
        assert "power was lost while sending to 1000" in bench.log
        # It may have arrived: it is not sent again, and leaves no file.
        found = [one for one in bench.telegram.requests if one.path.endswith("sendPhoto")]
        assert len(found) == 1
        assert outgoing(bench) == []


@pytest.mark.parametrize("writes", [1, 4, 9])
def test_a_power_cut_in_the_middle_of_drawing(writes):
    with board() as bench:
        bench.ready()
        bench.echo("before")
        bench.board.power_cut(writes)
        bench.telegram.say(OWNER, "/chart room.temperature")
        bench.board.wait_state("off")
        bench.board.power_on()
        bench.ready()
        # The cut may also be at an earlier write; the owner hears of a question that was lost.
        bench.wait_told(r"^I was restarted while working on this|^room\.temperature, last 24 h")
        bench.telegram.say(OWNER, "say: after")
        bench.wait_told("^after")
        assert len(photos(bench)) <= 1
        assert outgoing(bench) == []
        assert "Traceback" not in bench.log


HOT = (
    "- (every 1s; when room.temperature > 30 reset 28; notify; chart 6h) Warm: {room.temperature}"
)


def test_an_alarm_has_one():
    with board(f"# Heartbeat\n\n{HOT}\n") as bench:
        bench.ready()
        bench.board.set("room.temperature", 31.5)
        check_picture(wait_photo(bench))
        texts = [one.text for one in bench.telegram.sent]
        assert re.match(r"Warm: 31\.5", texts[0])
        assert re.match(r"room\.temperature, last 6 h: .* to 31\.5 °C", texts[1])
        # Its end has none, and the next chart shows the episode.
        bench.board.set("room.temperature", 20)
        bench.wait_told('^back to normal: "Warm: 31.5 °C"; room.temperature 20 °C')
        bench.telegram.say(OWNER, "/chart room.temperature")
        wait_photo(bench, 2)
        assert len(photos(bench)) == 2
        kept = bench.board.read_tree()["/state/episodes.jsonl"].decode()
        name, start, end = json.loads(kept)
        assert name == "room.temperature" and 0 <= end - start < LIMIT_S
        assert outgoing(bench) == []
        assert "Traceback" not in bench.log


def test_an_alarm_comes_without_a_chart_that_cannot_be_drawn():
    with agent_board(f"# Heartbeat\n\n{HOT}\n", changes={"sensors.every": "off"}) as bench:
        bench.ready()
        bench.board.set("room.temperature", 31.5)
        bench.wait_told(r"^Warm: 31\.5")
        bench.wait_for("No readings are kept: sensors.every is off.")
        assert photos(bench) == []
        assert "Traceback" not in bench.log


def test_telegram_refuses_it_and_the_owner_is_told():
    with board() as bench:
        bench.ready()
        bench.telegram.plan(
            [Step(path="sendPhoto", status=400, message="Bad Request: IMAGE_PROCESS_FAILED")]
        )
        told = bench.ask("/chart room.temperature", quotes=False)
        assert told == (
            "A message to telegram/file:1000 was not delivered: Bad Request: IMAGE_PROCESS_FAILED"
        )
        bench.echo("after")
        assert outgoing(bench) == []


def test_it_is_sent_again_after_a_refusal_for_a_while():
    with board() as bench:
        bench.ready()
        bench.telegram.plan([Step(path="sendPhoto", status=429, retry_after_s=1)])
        bench.telegram.say(OWNER, "/chart room.temperature")
        check_picture(wait_photo(bench))
        bench.echo("after")
        assert outgoing(bench) == []
