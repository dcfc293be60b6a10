"""Boots of the whole agent that the schedule must survive: deep sleep, and power cuts round an
alert."""

import json

from tenner_sim.services import OWNER, Step
from tests.host.e2e import SideBySide, agent_board, begin_the_hour

together = SideBySide()

#: Long enough for the next message, on a busy machine too; a test waits until it is over.
TALK_S = 30
SLEEP = {"power.mode": "sleep", "power.awake_s": 0}
HOURLY = "# Heartbeat\n- (every 1h) Say: how is the plant?\n"


def runs(bench):
    """The run log as it is on flash."""
    text = bench.board.read_tree().get("/state/runs.jsonl", b"").decode()
    return [json.loads(line) for line in text.splitlines()]


def asleep(bench):
    bench.wait_for("sleeping for ")
    bench.board.wait_state("asleep")


@together.check
def test_a_beat_runs_once_and_between_two_the_board_sleeps():
    with agent_board(HOURLY, changes=SLEEP, power=False) as bench:
        begin_the_hour(bench.board)
        for count in range(4):
            asleep(bench)
            assert len(bench.model.requests) == count
            bench.board.clock(advance_s=3600)
        asleep(bench)
        lines = [line for line in runs(bench) if line["r"] == "ran"]
        assert len(lines) == len(bench.model.requests) == 4
        dues = [line["due"] for line in lines]
        assert [b - a for a, b in zip(dues, dues[1:], strict=False)] == [3600] * 3
        # Said once, and then known over three boots.
        assert len(bench.told()) == 1
        # Woken in the middle of an interval it finds nothing to do.
        bench.board.power_cycle()
        asleep(bench)
        assert len(bench.model.requests) == 4


@together.check
def test_an_unmet_condition_asks_no_model_and_loses_no_line():
    beat = (
        "- (every 1h; when room.temperature > 30) Hot.\n"
        "- (every 1h; when room.temperature < 5) Cold.\n"
    )
    with agent_board(beat, changes=SLEEP, power=False) as bench:
        begin_the_hour(bench.board)
        for _ in range(3):
            asleep(bench)
            bench.board.clock(advance_s=3600)
        asleep(bench)
        lines = [line for line in runs(bench) if line["k"] != "beat"]
        assert len(lines) == len({(line["k"], line["due"]) for line in lines}) == 6
        assert bench.model.requests == []


@together.check
def test_wrong_settings_stop_nothing_and_are_told_once():
    wrong: dict[str, object] = {
        "time.zone": "Nowhere/Land",
        "time.ntp_host": "http://pool.ntp.org/",
        "heartbeat.active_hours": "8-22-30",
        "heartbeat.patience": "soon",
        "session.max_kb": -3,
        "turn.max_rounds": "many",
        "mqtt.topic": "a/#",
        "sensors.every": [],
        "llm.max_tokens": True,
        "voice.url": "my server",
        "budget.tokens_per_dya": 5,
        "nonsense": {"key": 1},
    }
    beat = "- (every 1m; when room.temperature > -50 reset -60; notify) The pump room is wet.\n"
    with agent_board(beat, changes=wrong) as bench:
        bench.wait_told("Settings that are wrong, and not used:")
        bench.wait_told("The pump room is wet.")
        bench.echo("still there")
        text = next(text for text in bench.told() if "not used" in text)
        assert "llm.max_tokens must be a whole number from 16 to 32000, not true" in text
        assert "until then it is 1024" in text
        assert "time.ntp_host must be the name or the address of a server" in bench.log
        assert "... and 7 more" in text
        bench.board.power_cycle()
        bench.echo("again there")
        assert sum("not used" in text for text in bench.told()) == 1


@together.check
def test_who_wrote_while_it_slept_is_answered_and_the_conversation_keeps_it_awake():
    changes = {"power.mode": "sleep", "power.awake_s": TALK_S}
    with agent_board(HOURLY, changes=changes) as bench:
        asleep(bench)
        bench.telegram.say(OWNER, "say: good morning")
        bench.board.clock(advance_s=3600)
        bench.wait_told("good morning")
        bench.wait_for("staying awake: a conversation")
        bench.echo("still there")
        before = bench.log.count("sleeping for ")
        assert before == 1
        asleep(bench)


@together.check
def test_a_pin_wakes_it_once():
    changes = {"power.mode": "sleep", "power.awake_s": TALK_S, "power.wake_gpio": "A0"}
    with agent_board(HOURLY, changes=changes, power=False) as bench:
        begin_the_hour(bench.board)
        asleep(bench)
        bench.board.set("gpio0", 0)
        bench.wait_for("DEEPSLEEP start")
        bench.wait_for("staying awake: a conversation")
        # Held down it does not wake the board again and again.
        asleep(bench)
        bench.board.set("gpio0", 1)
        bench.wait_for("DEEPSLEEP start")
        assert bench.model.requests == []


@together.check
def test_an_alert_that_waits_over_a_power_cut_is_told_once():
    with agent_board("# Heartbeat\n- (every 2s) Say: water the plants.\n") as bench:
        bench.telegram.plan([Step(path="sendMessage", status=429, retry_after_s=600, times=9)])
        bench.wait_for("ran: message queued (")
        bench.telegram.wait_requests(1, path="sendMessage")
        bench.board.power_cycle()
        # Beats come and go while it waits, and after it has arrived.
        bench.wait_for("ran: told before (")
        bench.telegram.plan([])
        bench.board.power_cycle()
        bench.wait_told("water the plants")
        # Told in order: with the answer here, the board knows that the alert before it arrived.
        bench.echo("heard")
        bench.wait_for("ran: told before (")
        bench.board.power_cycle()
        bench.wait_for("ran: told before (")
        assert len([text for text in bench.told() if "water the plants" in text]) == 1


# (pin, words of the sentence)
NO_PINS = [("A9", "pins.csv has no pin A9"), ("BUTTON", "pin BUTTON is reserved: boot button")]


@together.each(NO_PINS)
def test_a_pin_that_cannot_wake_is_one_sentence(pin, sentence):
    changes = {"power.mode": "sleep", "power.wake_gpio": pin}
    with agent_board(HOURLY, changes=changes) as bench:
        bench.wait_for(f"power.wake_gpio: {sentence}")
        assert "Traceback" not in bench.log
