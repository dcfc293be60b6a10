"""The heartbeat of the whole agent: when the model is asked, when it is not, and a person
first."""

from tenner_sim.services import OWNER, STALL, Step
from tests.host.e2e import (
    ASK,
    HEAP,
    ONE_SESSION,
    PSRAM,
    READS,
    STALLED_S,
    WARM_ROOM,
    SideBySide,
    agent_board,
)

together = SideBySide()

WARM_TOLD = r"TMP102 at 0x48 on i2c0 reads 31\.5 °C"

# (name, HEARTBEAT.md, the decision)
NOTHING_TO_DO = [
    ("empty", "", "nothing to do"),
    ("headings", "# Heartbeat\n\n## Morning\n\n### Evening\n", "nothing to do"),
    (
        "comments",
        "# Heartbeat\n<!-- look at the room -->\n<!--\n- remind me\n-->\n",
        "nothing to do",
    ),
    (
        "ticked",
        "# Heartbeat\n- [x] Remind me to water\n- [X] (every 1s) Read i2c\n",
        "nothing to do",
    ),
    ("deleted", None, "disabled (no HEARTBEAT.md)"),
]


@together.each(NOTHING_TO_DO)
def test_the_model_is_not_asked_when_there_is_nothing_to_do(_name, heartbeat, decision):
    with agent_board(heartbeat) as bench:
        bench.ready()
        # Now and by force: neither finds work.
        bench.type("/trigger")
        bench.wait_for(f"({decision})")
        bench.type("/why")
        bench.wait_for("next: ")
        assert bench.model.requests == []
        assert bench.told() == []


@together.each([(31.5,), (36.25,)])
def test_the_condition_decides_and_the_message_has_the_value(value):
    with agent_board(WARM_ROOM) as bench:
        bench.wait_for("no condition met (1 checked)")
        assert bench.model.requests == []
        bench.board.set("room.temperature", value)
        bench.wait_for(f"room.temperature {value:g} > 30: alarm")
        bench.wait_told(r"reads %s °C" % f"{value:g}".replace(".", r"\."))
        bench.wait_for("bytes sent")
        bench.wait_for("calls i2c")
        bench.wait_for("tool      i2c read")
        bench.wait_for(": message queued (")
        # Fired once: still warm is no news.
        bench.wait_for("no condition met (1 checked)")
        assert len(bench.model.requests) == 2
        assert len(bench.told()) == 1


@together.check
def test_an_item_without_a_condition_asks_and_silence_stays_silent():
    beat = '- (every 1s) call i2c {"action": "scan", "bus": "i2c0"}\n'
    with agent_board(beat) as bench:
        bench.wait_for("ran: nothing to report")
        assert bench.model.requests
        assert bench.told() == []


@together.check
def test_the_same_alert_is_told_once():
    with agent_board("- (every 1s) Say: water the plants.\n") as bench:
        bench.wait_for("ran: message queued (")
        bench.wait_for("ran: told before (")
        bench.wait_told("water the plants")
        assert len(bench.told()) == 1


def _stalled_beat(bench):
    """A heartbeat turn whose request the model does not answer."""
    bench.model.plan([STALL])
    bench.board.set("room.temperature", 31.5)
    bench.model.wait_requests(1)


@together.check
def test_a_person_at_the_console_comes_first():
    with agent_board(WARM_ROOM) as bench:
        bench.ready()
        _stalled_beat(bench)
        bench.type(ASK)
        bench.wait_for("preempted by a user message")
        bench.wait_for(READS.format(31.5))
        # The beat is run again and the alert is not lost.
        bench.wait_told(WARM_TOLD)
        bench.wait_for(": message queued (")
        assert bench.model.plan_left == []


@together.each([(HEAP,), (PSRAM,)])
def test_a_person_on_telegram_comes_first_where_two_tls_sessions_fit(heap):
    with agent_board(WARM_ROOM, heap=heap) as bench:
        bench.ready()
        _stalled_beat(bench)
        assert bench.ask("say: me first").startswith("me first"), bench.log[-3000:]
        bench.wait_told(WARM_TOLD)
        assert "preempted by a user message" in bench.log


@together.check
def test_a_person_on_telegram_is_answered_after_a_request_of_a_board_with_one_tls_session():
    with agent_board(WARM_ROOM, changes={"llm.timeout_s": STALLED_S}) as bench:
        bench.ready()
        bench.board.set("chip.idf_free", ONE_SESSION)
        _stalled_beat(bench)
        bench.telegram.say(OWNER, "say: patience")
        bench.wait_told("^patience")


@together.check
def test_a_person_on_telegram_is_noticed_between_the_rounds_of_a_board_with_one_tls_session():
    with agent_board(WARM_ROOM) as bench:
        bench.ready()
        bench.board.set("chip.idf_free", ONE_SESSION)
        # A slow model that calls a tool: before it is told the result, Telegram is looked at.
        bench.model.plan([Step(delay_ms=5000)])
        bench.board.set("room.temperature", 31.5)
        bench.model.wait_requests(1)
        bench.telegram.say(OWNER, "say: me first")
        bench.wait_for("preempted by a user message")
        bench.wait_told("^me first")
        bench.wait_told(WARM_TOLD)


@together.check
def test_a_failing_model_hides_no_alarm_and_the_owner_is_told_the_reason_once():
    with agent_board(WARM_ROOM) as bench:
        bench.ready()
        bench.model.plan([Step(status=401, times=100)])
        bench.board.set("room.temperature", 31.5)
        bench.wait_for("heartbeat failed (1 in a row): ")
        bench.wait_told("(?i)^(?!room).*key")
        bench.wait_told("^room.temperature 31.5 °C .limit 30.: The room is too warm")
        assert len(bench.told()) == 2
        bench.type_until("/heartbeat", "failed 1 times in a row")


def test_the_whole_path_with_the_words_and_the_heap_of_a_chip(micropython32):
    # Unlike on a chip, TLS takes its 40 KB from the same heap here.
    with agent_board(WARM_ROOM, interpreter=micropython32, heap="192K") as bench:
        bench.board.set("room.temperature", 31.5)
        bench.wait_told(WARM_TOLD)
        bench.board.set("room.temperature", 26.5)
        assert bench.ask(ASK) == READS.format(26.5)
        bench.type("/status")
        bench.wait_for("network up")
        assert "MemoryError" not in bench.log
