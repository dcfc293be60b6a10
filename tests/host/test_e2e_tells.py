"""An alarm and a reminder of the whole agent while the model answers with nothing, or not at
all."""

import json

from tenner_sim.services import OWNER, Step
from tests.host.e2e import ONE_SESSION, SideBySide, agent_board

together = SideBySide()

PUMP = "- (every 1s; when room.temperature > 30 reset -1) The pump room is wet: tell me.\n"
TOLD = (
    r"^room\.temperature 31\.5 °C \(limit 30\): The pump room is wet: tell me\. "
    r"\(at \d\d:\d\d; the model did not answer: "
)
CALL = '<tool_call>\n{"name":"sensor","arguments":{"action":"read","name":"room"}}\n</tool_call>'


def reply(delta, finish="stop"):
    """A reply of chat completions: one delta, and its end."""
    chunks = [
        {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
        {"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]},
    ]
    lines = [json.dumps(chunk) for chunk in chunks] + ["[DONE]"]
    body = "".join(f"data: {line}\n\n" for line in lines)
    return Step(path="completions", status=200, body=body.encode(), times=50)


# (name, the model's treatment, the reason that the owner reads)
REPLIES = [
    ("empty", reply({"content": ""}), "it sent no text"),
    ("reasoning", reply({"reasoning_content": "hmm"}), "it sent no text"),
    ("cut", reply({"reasoning_content": "hmm"}, "length"), "its reply was cut off"),
    ("silence", reply({"content": "HEARTBEAT_OK"}), "it answered that there was nothing"),
    ("error", reply({"content": ""}, "error"), ""),
    ("filter", reply({"content": "No."}, "content_filter"), "it refused"),
    ("400", Step(path="completions", status=400, message="Unsupported parameter", times=50), ""),
    ("429", Step(path="completions", status=429, message="Too many", times=50), ""),
    ("call", reply({"content": CALL}), ""),
]


def about_the_pump(bench):
    """Return the messages about the alarm, without the answer to /alarms."""
    return [text for text in bench.told() if "pump room" in text and not text.startswith("alarm ")]


@together.each(REPLIES)
def test_the_board_tells_what_the_model_does_not(_name, treatment, why):
    with agent_board(PUMP, changes={"heartbeat.patience": "20s"}) as bench:
        bench.ready()
        bench.model.plan([treatment])
        bench.board.set("room.temperature", 31.5)
        bench.wait_told(TOLD + why)
        # Further looks tell nothing more.
        assert "active since" in bench.ask("/alarms")
        told = about_the_pump(bench)
        assert len(told) == 1, told
        assert "tool_call" not in told[0]
        assert "Traceback" not in bench.log


@together.each([("heap of a chip", ONE_SESSION), ("room for two", None)])
def test_a_silent_model_is_not_waited_for(_name, idf_free):
    with agent_board(PUMP, changes={"heartbeat.patience": "10s"}) as bench:
        bench.ready()
        if idf_free:
            bench.board.set("chip.idf_free", idf_free)
        bench.model.plan([Step(path="completions", stall=0, times=50)])
        bench.board.set("room.temperature", 31.5)
        bench.wait_told(TOLD)
        # The agent answers people as before.
        bench.model.plan([])
        bench.telegram.say(OWNER, "say: hello")
        bench.wait_told("^hello")
        assert len(about_the_pump(bench)) == 1, bench.told()


@together.check
def test_a_power_cut_before_the_answer_neither_loses_nor_doubles_it():
    with agent_board(PUMP, changes={"heartbeat.patience": "15s"}) as bench:
        bench.ready()
        bench.model.plan([Step(path="completions", stall=0, times=50)])
        bench.board.set("room.temperature", 31.5)
        bench.model.wait_requests(1)
        bench.board.power_cycle()
        bench.wait_told(TOLD)
        assert "active since" in bench.ask("/alarms")
        assert len(about_the_pump(bench)) == 1, bench.told()


@together.each([("empty", {"content": ""}), ("silence", {"content": "HEARTBEAT_OK"})])
def test_a_reminder_is_sent_whatever_the_model_answers(_name, delta):
    schedule = {"kind": "every", "every_seconds": 4}
    payload = {"kind": "agent_turn", "message": "Tell me to water the basil."}
    jobs = {"jobs": [{"id": "basil", "schedule": schedule, "payload": payload}]}
    with agent_board(files={"/workspace/CRON.json": json.dumps(jobs)}) as bench:
        bench.model.plan([reply(delta)])
        bench.ready()
        bench.wait_told(r"^Tell me to water the basil\. \(the model did not answer: it ")
