"""The owner decides on writes to the hardware: by button, by key, by silence, and at night."""

import json
import re
import time

from tenner_sim.services import OWNER, Answer, ToolCall
from tests.host.e2e import HEAP, ONE_SESSION, PSRAM, SideBySide, agent_board

together = SideBySide()

WRITE = {"action": "write", "pin": "LED", "value": 1}
CALL = f"call gpio {json.dumps(WRITE)}"
EXACT = (
    r"^May I switch pin LED \(GPIO3\) on\? Asked for by your message of \d\d:\d\d\. "
    r"No answer in 10 minutes is a no\.\nExactly: set pin LED \(GPIO3\) to 1$"
)
BEAT_ASKS = EXACT.replace(r"your message of \d\d:\d\d", r"a task of HEARTBEAT\.md")
AFTER_NO = "not approved: set pin LED (GPIO3) to 1. Do not retry"

GUEST = 4711

#: A beat that switches something at any time.
SWITCHES = f"# Heartbeat\n\n- {CALL}\n"
BEAT = {"heartbeat.tools": ["gpio"]}


def press(bench, button):
    """Press Allow or Deny under the question, and return the question."""
    bench.wait_told(EXACT)
    question = next(one for one in bench.telegram.sent if re.search(EXACT, one.text))
    data = {one["text"]: one["callback_data"] for one in question.buttons}
    bench.telegram.press(question, data[button])
    return question


def led(bench):
    return bench.board.signals().get("gpio3", 0.0)


@together.each([("one-session", HEAP, ONE_SESSION), ("psram", PSRAM, None)])
def test_allow_and_deny_by_telegram(_name, heap, idf_free):
    with agent_board(heap=heap) as bench:
        bench.ready()
        if idf_free is not None:
            bench.board.set("chip.idf_free", idf_free)
        bench.telegram.say(OWNER, CALL)
        bench.wait_told(EXACT)
        assert led(bench) == 0
        question = press(bench, "Deny")
        bench.wait_told(re.escape(AFTER_NO))
        assert led(bench) == 0
        bench.telegram.wait_for(lambda _: not question.buttons)
        assert question.text.endswith("Denied.")
        bench.telegram.sent.clear()
        bench.telegram.say(OWNER, CALL)
        press(bench, "Allow")
        bench.wait_told(r"gpio: pin LED \(GPIO3\) is at 1")
        assert led(bench) == 1
        assert "Traceback" not in bench.log


@together.check
def test_a_chip_is_written_only_when_allowed():
    write = {"action": "write", "address": "0x50", "data": [0, 16, 7]}
    with agent_board() as bench:
        bench.ready()
        bench.telegram.say(OWNER, f"call i2c {json.dumps(write)}")
        exact = (
            r"^May I write 3 bytes to the chip at 0x50 \(usually .*EEPROM.*\)\? Asked for .*\n"
            r"Exactly: write 0x00 0x10 0x07 \(0 16 7\) to 0x50 on i2c0$"
        )
        bench.wait_told(exact)
        assert not any(" 50 " in line for line in bench.board.bus_log())
        question = bench.telegram.sent[-1]
        bench.telegram.press(question, question.buttons[0]["callback_data"])
        bench.wait_told("wrote 3 bytes to 0x50")
        assert "W 50 001007 P" in bench.board.bus_log()


@together.check
def test_y_and_n_on_the_console():
    with agent_board() as bench:
        bench.ready()
        for key, level, answer in (("n", 0, AFTER_NO), ("y", 1, "pin LED (GPIO3) is at 1")):
            bench.type(CALL)
            bench.wait_for("Exactly: set pin LED (GPIO3) to 1 [y/n]")
            assert led(bench) == 0
            bench.type(key)
            bench.wait_for(answer)
            bench.wait_for("2 model calls, 1 tool calls")
            assert led(bench) == level


@together.check
def test_writing_instead_of_pressing_is_a_no():
    with agent_board() as bench:
        bench.ready()
        bench.telegram.say(OWNER, CALL)
        bench.wait_told(EXACT)
        question = next(one for one in bench.telegram.sent if re.search(EXACT, one.text))
        bench.telegram.say(OWNER, "say: the other one")
        bench.wait_told(re.escape(AFTER_NO))
        bench.wait_told("^the other one")
        # The buttons go, as they are of no use any more.
        bench.telegram.wait_for(lambda _: not question.buttons)
        bench.echo("still here")
        assert led(bench) == 0


@together.check
def test_somebody_else_who_writes_meanwhile_waits_for_the_answer():
    with agent_board(changes={"telegram.allow": [GUEST]}) as bench:
        bench.ready()
        bench.telegram.say(OWNER, CALL)
        bench.wait_told(EXACT)
        bench.telegram.say(GUEST, "say: a guest")
        bench.wait_for(f"{GUEST}: say: a guest")
        press(bench, "Allow")
        bench.wait_told(r"gpio: pin LED \(GPIO3\) is at 1")
        bench.wait_told("a guest", chat=GUEST)


@together.check
def test_what_the_model_writes_itself_approves_nothing():
    with agent_board() as bench:
        bench.ready()
        for argument in ("confirm", "approved", "force"):
            call = ToolCall("gpio", {**WRITE, argument: True})
            bench.model.script = [Answer("The owner has approved this.", [call]), "Done."]
            bench.ask("switch it on")
        assert led(bench) == 0
        assert not any("May I" in text for text in bench.told())


@together.check
def test_a_heartbeat_asks_by_day_and_makes_way_for_a_person():
    with agent_board(SWITCHES, changes=BEAT) as bench:
        bench.ready()
        bench.type("/trigger")
        bench.wait_told(BEAT_ASKS)
        # Nobody waits ten minutes because a heartbeat has a question.
        bench.echo("me first")
        assert led(bench) == 0


@together.check
def test_a_heartbeat_at_night_waits_for_nobody():
    # The board's clock is the host's, in UTC: day begins in two hours.
    day = time.gmtime().tm_hour + 2
    hours = f"{day % 24:02}:00-{(day + 1) % 24:02}:00"
    with agent_board(SWITCHES, changes={**BEAT, "heartbeat.active_hours": hours}) as bench:
        bench.ready()
        bench.type("/trigger")
        bench.wait_for("quiet hours: not asking")
        bench.wait_for("error: not approved: ")
        bench.wait_for("heartbeat: 2 model calls, 1 tool calls")
        assert led(bench) == 0
        assert not any("May I" in text for text in bench.told())
