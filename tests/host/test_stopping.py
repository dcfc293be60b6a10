"""A Linux agent that is asked to stop: by SIGTERM, as a service manager does, or by Ctrl-C."""

import json
import signal

import pytest

from tenner_sim import LIMIT_S
from tenner_sim.services import OWNER, STALL, TOKEN, Step
from tests.host import page_home

pytestmark = pytest.mark.long

TELEGRAM = {"telegram.token": TOKEN, "telegram.owner": str(OWNER), "web.enabled": False}
SIGNALS = [signal.SIGTERM, signal.SIGINT]
STOPPED = "I was stopped while working on this. Please send it again."


@pytest.fixture(scope="module")
def libs(tmp_path_factory):
    return tmp_path_factory.mktemp("libs")


@pytest.fixture(params=["cpython", "micropython32"])
def start(request, libs, tmp_path):
    """Start an agent of this interpreter; MicroPython of 64 bits here has no ffi."""
    argv = page_home.argv_of(request, request.param)
    lib = page_home.lib_of(libs, request.param)

    def run(heartbeat="# Heartbeat\n", changes=None):
        made = {**TELEGRAM, **(changes or {})}
        return page_home.home(tmp_path / "home", argv, lib, heartbeat, made)

    return run


def stop(agent, number):
    """Send the signal; return the exit status and the lines behind it."""
    lines = len(agent.lines)
    agent.process.send_signal(number)
    code = agent.process.wait(LIMIT_S)
    agent.wait_for("stopped$")
    assert "Traceback" not in "\n".join(agent.lines)
    return code, agent.lines[lines:]


def sends(agent, step):
    """The agent begins to send the answer "one", which meets this step of Telegram."""
    telegram = agent.services.telegram
    telegram.plan([step])
    telegram.say(OWNER, "say: one")
    telegram.wait_requests(1, path="sendMessage")


def texts(agent):
    return [one.text.partition("\n")[0] for one in agent.services.telegram.sent]


@pytest.mark.parametrize("number", SIGNALS, ids=lambda one: one.name)
def test_an_idle_agent_says_so_and_ends_well(start, number):
    with start() as agent:
        agent.services.telegram.wait_requests(1, path="getUpdates")
        code, lines = stop(agent, number)
    assert code == 0
    assert [line.split(" ", 2)[-1].strip() for line in lines if " app " in line] != []


@pytest.mark.parametrize("number", SIGNALS, ids=lambda one: one.name)
def test_the_turn_is_cancelled_with_one_answer_and_a_record(start, number):
    with start() as agent:
        services = agent.services
        services.model.plan([STALL])
        services.telegram.say(OWNER, "say: one")
        services.model.wait_requests(1, path="chat")
        code, _ = stop(agent, number)
        assert code == 0
        assert texts(agent) == [STOPPED]
        (history,) = (agent.root / "state" / "sessions").glob("*.jsonl")
        assert STOPPED in history.read_text()
        agent.start()
        services.telegram.say(OWNER, "say: two")
        services.telegram.wait_sent(2)
        assert texts(agent) == [STOPPED, "two"]


def test_the_message_under_way_arrives_once(start):
    with start() as agent:
        services = agent.services
        sends(agent, Step(path="sendMessage", delay_ms=1000))
        code, _ = stop(agent, signal.SIGTERM)
        assert code == 0
        assert texts(agent) == ["one"]
        agent.start()
        services.telegram.say(OWNER, "say: two")
        services.telegram.wait_sent(2)
        assert texts(agent) == ["one", "two"]


def test_what_telegram_does_not_take_now_arrives_after_the_restart(start):
    with start() as agent:
        services = agent.services
        sends(agent, Step(path="sendMessage", status=500, times=99))
        code, _ = stop(agent, signal.SIGTERM)
        assert (code, texts(agent)) == (0, [])
        services.telegram.plan([])
        agent.start()
        services.telegram.wait_sent(1)
        assert texts(agent) == ["one"]


def test_a_job_is_due_again_after_the_restart(start):
    line = "# Heartbeat\n\n- (every 1s; urgent) Say: the beat\n"
    with start(line, {"heartbeat.every": 1}) as agent:
        services = agent.services
        services.model.plan([STALL])
        services.model.wait_requests(1, path="chat")
        code, _ = stop(agent, signal.SIGTERM)
        assert (code, texts(agent)) == (0, [])
        state = json.loads((agent.root / "state" / "heartbeat.json").read_text())
        assert state.pop("")["failures"] == 0
        assert "preempted" in json.dumps(state)
        agent.start()
        services.model.wait_requests(2, path="chat")


def test_a_second_signal_ends_it_at_once(start):
    with start() as agent:
        sends(agent, Step(path="sendMessage", delay_ms=60_000))
        agent.process.send_signal(signal.SIGTERM)
        agent.wait_for("a signal asks me to stop")
        agent.process.send_signal(signal.SIGTERM)
        assert agent.process.wait(LIMIT_S) == -signal.SIGTERM


def test_what_hangs_does_not_hold_it(start):
    """A message whose service has stopped answering: its outcome is unknown, and it is marked."""
    with start() as agent:
        sends(agent, Step(path="sendMessage", delay_ms=60_000))
        code, _ = stop(agent, signal.SIGTERM)
        assert code == 0
