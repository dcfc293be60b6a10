"""After any fault the person gets one answer, and the next message works."""

import re

from tenner_sim.services import GARBAGE, OWNER, STALL, Step
from tests.host.e2e import ASK, READS, STALLED_S, SideBySide, agent_board

together = SideBySide()

SENTENCE = r"^I could not get an answer: [^\n]+$"

# (name, plan, the person's message)
FAULTS = [
    ("rate-limit", [Step(status=429, retry_after_s=1)], "^hello"),
    ("server-error", [Step(status=500)], "^hello|" + SENTENCE),
    ("server-error-stays", [Step(status=503, times=9)], SENTENCE),
    ("wrong-key", [Step(status=401)], SENTENCE),
    ("reset-in-body", [Step(reset=200, where="body")], "^hello|" + SENTENCE),
    ("reset-stays", [Step(reset=200, where="body", times=9)], SENTENCE),
    ("garbage", [GARBAGE, GARBAGE, GARBAGE], SENTENCE),
    ("cut-stream", [Step(cut=300, where="body")], "^hello|" + SENTENCE),
    ("ended-stream-stays", [Step(events=2, no_done=True, times=9)], SENTENCE),
    ("stall", [STALL, STALL, STALL], SENTENCE),
    ("huge", [Step(huge_body=300_000, times=9)], SENTENCE + r"|^\(The model gave no text\.\)$"),
]


@together.each(FAULTS)
def test_the_model_fails_and_the_person_is_told(_name, plan, pattern):
    changes = {"llm.timeout_s": STALLED_S} if STALL in plan else None
    with agent_board(changes=changes) as bench:
        bench.ready()
        bench.model.plan(plan)
        bench.telegram.say(OWNER, "say: hello")
        bench.wait_told(pattern)
        bench.model.plan([])
        assert bench.ask(ASK) == READS.format(21.5)
        answers = [text for text in bench.told() if re.search(pattern, text)]
        assert len(answers) == 1, bench.told()
        assert "Traceback" not in bench.log


@together.check
def test_a_time_server_without_the_time():
    with agent_board(power=False) as bench:
        bench.board.clock(fault="unsynchronized")
        bench.board.power_on()
        bench.wait_for("no time from pool.ntp.org: it does not know the time itself")
        bench.board.clock(fault="")
        bench.wait_for("(pool.ntp.org)")
        assert "Traceback" not in bench.log


@together.check
def test_wifi_lost_in_the_middle_of_a_request():
    with agent_board() as bench:
        bench.ready()
        bench.model.plan([STALL])
        bench.telegram.say(OWNER, "say: hello")
        bench.model.wait_requests(1)
        bench.board.wifi(False)
        bench.wait_for("disconnected")
        bench.type("say: anybody there?")
        bench.wait_for("I could not get an answer: ")
        bench.board.wifi(True)
        bench.wait_for("connected")
        bench.wait_told("^hello|" + SENTENCE)
        bench.echo("after")
        assert "Traceback" not in bench.log


@together.each([("power_cycle",), ("reset",), ("soft_reset",)])
def test_a_restart_in_the_middle_of_a_turn(way):
    with agent_board() as bench:
        bench.ready()
        bench.echo("before")
        bench.fresh()
        bench.model.plan([STALL])
        bench.telegram.say(OWNER, "say: half")
        bench.model.wait_requests(1)
        getattr(bench.board, way)()
        bench.ready()
        bench.wait_told("I was restarted while working on this")
        bench.fresh()
        bench.echo("after")
        # The conversation is unchanged: the answers before the cut, and nothing torn.
        sent = bench.model.requests[0].body.decode()
        assert "before" in sent and "half" not in sent
        assert len([text for text in bench.told() if text.startswith("I was restarted")]) == 1


@together.check
def test_an_answer_in_the_outbox_survives_a_power_cut():
    with agent_board() as bench:
        bench.ready()
        bench.telegram.plan([Step(path="sendMessage", status=429, retry_after_s=60)])
        bench.telegram.say(OWNER, "say: kept")

        def refused(telegram):
            # Polls and messages share one TLS session: a poll after the refusal has come past it.
            methods = [one.path.rpartition("/")[2] for one in telegram.requests]
            return "sendMessage" in methods[:-1] and methods[-1] == "getUpdates"

        bench.telegram.wait_for(refused)
        bench.board.power_cycle()
        bench.telegram.plan([])
        bench.ready()
        bench.wait_told("kept")
        bench.echo("on")
        assert len([text for text in bench.told() if "kept" in text]) == 1
        assert len(bench.model.requests) == 2


@together.check
def test_what_may_have_arrived_before_a_power_cut_is_not_told_twice():
    with agent_board() as bench:
        bench.ready()
        bench.telegram.plan([Step(path="sendMessage", stall=0)])
        bench.telegram.say(OWNER, "say: once")
        bench.telegram.wait_requests(1, path="sendMessage")
        bench.board.power_cycle()
        bench.ready()
        bench.echo("on")
        told = [text for text in bench.told() if "once" in text]
        assert len([text for text in told if not text.startswith("(maybe sent before) ")]) == 1


#: As on an ESP32 without memory for lwIP's select, or for Python: the loop's own poll fails, not a
#: task. Once, when the agent has written a note.
FAILING_POLL = b"""
import asyncio, os

class Poller:
    def __init__(self, poller):
        self.poller = poller

    def __getattr__(self, name):
        return getattr(self.poller, name)

    def ipoll(self, ms):
        try:
            os.remove("/workspace/notes/fail.md")
        except OSError:
            return self.poller.ipoll(ms)
        raise ERROR

queue = asyncio.core._io_queue
queue.poller = Poller(queue.poller)

from tenner.app import main
main()
"""


@together.each(
    [
        (b"OSError(5)", "[Errno 5] EIO"),
        (b"MemoryError('allocating 397 bytes')", "allocating 397 bytes"),
    ]
)
def test_a_board_whose_event_loop_fails_restarts_and_says_so(error, shown):
    main = FAILING_POLL.replace(b"ERROR", error)
    with agent_board(files={"/main.py": main}) as bench:
        bench.ready()
        bench.telegram.say(OWNER, 'call write_file {"path":"notes/fail.md","content":"now"}')
        bench.wait_for(f"too little memory for connections ({shown}): restarting")
        bench.ready()
        bench.wait_told("^I was restarted while working on this")
        bench.echo("on")


@together.check
def test_telegram_fails_for_a_while():
    with agent_board() as bench:
        bench.ready()
        bench.telegram.plan(
            [
                Step(path="getUpdates", status=502),
                Step(path="getUpdates", status=429, retry_after_s=1),
                Step(path="sendMessage", status=500),
            ]
        )
        bench.telegram.say(OWNER, "say: patience")
        bench.wait_told("^patience")
        assert bench.telegram.plan_left == []
        assert len([text for text in bench.told() if "patience" in text]) == 1
