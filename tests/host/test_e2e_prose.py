"""A line in the owner's own words: asked about once, offered with buttons, written when taken."""

import re

from tests.host.e2e import agent_board

WORDS = "the room should not get hotter than 30 degrees, please"
RULE = "(when room.temperature > 30; notify)"
FILE = f"# Heartbeat\n\n- {WORDS}\n"
ASKED = "You put one line of an owner's list"


def offered(bench):
    """Have the beat ask the model, and return the message of the offer."""
    bench.model.script = ["HEARTBEAT_OK", RULE]
    bench.type("/trigger")
    bench.wait_told(r"^Line 3, '")
    return next(one for one in list(bench.telegram.sent) if one.text.startswith("Line 3, '"))


def press(bench, message, label, pattern):
    """Press a button, and wait for the answer that fits the pattern."""
    data = {button["text"]: button["callback_data"] for button in message.buttons}
    bench.telegram.press(message, data[label])
    return bench.wait_told(pattern)


def read(bench):
    return bench.ask("/heartbeat")


def test_use_it_with_a_reboot_before_the_answer():
    with agent_board(FILE) as bench:
        bench.ready()
        message = offered(bench)
        assert [one["text"] for one in message.buttons] == [
            "Use it",
            "Ask the model each time",
            "Off",
        ]
        # A board that was slow to start has stored a reading, and looks back on it first.
        looks_back = r"(In the last .*)?"
        offer = rf"Line 3, '{WORDS}', as: {re.escape(RULE)}\. {looks_back}Until you answer it asks"
        assert re.match(offer, message.text)
        asked = [one for one in bench.model.requests if ASKED in one.body.decode()]
        assert len(asked) == 1 and "room.temperature" in asked[0].body.decode()
        assert "tools" not in asked[0].json
        bench.board.reset()
        bench.ready()
        said = press(bench, message, "Use it", "^Line 3 is a rule")
        assert said == f"Line 3 is a rule now: {RULE} {WORDS}"
        bench.fresh()
        assert "line 3: alarm. Looks at room.temperature every minute" in read(bench)
        bench.board.set("room.temperature", 31.5)
        bench.ask("/trigger 3")
        bench.wait_told(f"^{WORDS}")
        assert bench.model.requests == []
        press(bench, message, "Off", r"^HEARTBEAT\.md has no such line")
        assert "Traceback" not in bench.log


def test_the_other_answers():
    with agent_board(FILE) as bench:
        bench.ready()
        message = offered(bench)
        press(bench, message, "Ask the model each time", "^Line 3 asks the model at each beat")
        press(bench, message, "Use it", r"^HEARTBEAT\.md has no such line")
        assert "line 3: asks the model at every beat" in read(bench)
    with agent_board(FILE) as bench:
        bench.ready()
        offered(bench)
        bench.type("/heartbeat off 3")
        bench.wait_for("Line 3 is off")
        assert "line 3: done" in read(bench)
