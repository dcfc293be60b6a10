"""telegram-test-api (npm): an emulator that gives each update once, all that wait in one reply,
and never waits."""

import contextlib
import json
import time

import pytest

from tests.ports import free_port
from tests.services.agent import INTERPRETERS, LIMIT_S, Agent, find
from tests.services.kit import call, need, npm, program, running

TOKEN = "77:secret-token-of-a-test"
OWNER = 1000


class Emulator:
    """The owner's side of it."""

    def __init__(self, port):
        self.url = f"http://127.0.0.1:{port}"

    def say(self, text, who=OWNER):
        person = {"id": who, "first_name": "Ann", "is_bot": False}
        chat = {"id": who, "type": "private", "first_name": "Ann"}
        message = {"botToken": TOKEN, "date": int(time.time()), "from": person, "chat": chat}
        call(self.url + "/sendMessage", {**message, "text": text})

    def told(self):
        history = call(self.url + "/getUpdatesHistory", {"token": TOKEN})["result"]
        return [one["message"]["text"] for one in history if "chat_id" in one["message"]]

    def wait_told(self, holds):
        end = time.monotonic() + LIMIT_S
        while time.monotonic() < end:
            told = self.told()
            if holds(told):
                return told
            time.sleep(0.2)
        raise AssertionError(f"told: {self.told()}")


@contextlib.contextmanager
def emulating(port, folder):
    """A running one; it forgets everything when it ends."""
    module = json.dumps(str(need(npm, "telegram-test-api")))
    script = (
        f"const T = require({module}); new (T.default || "
        f"T)({{port: {port}, host: '127.0.0.1'}}).start()"
    )
    with running([need(program, "node"), "-e", script], port, folder):
        yield Emulator(port)


@pytest.fixture
def emulator(tmp_path):
    with emulating(free_port(), tmp_path) as made:
        yield made


@pytest.fixture(params=INTERPRETERS)
def agent(request, tmp_path, emulator):
    """The agent as a service, with nobody but the owner."""
    root = tmp_path / "agent"
    root.mkdir()
    made = Agent(root, find(request.param))
    made.set(
        telegram={"token": TOKEN, "base_url": emulator.url, "owner": OWNER, "poll_s": 1},
        console={"enabled": False},
    )
    with made.serving():
        yield made
    assert TOKEN not in made.log


def test_emulator_a_command_is_answered(agent, emulator):
    emulator.say("/status")
    emulator.wait_told(lambda told: any(text.startswith("tenner ") for text in told))


def test_emulator_many_updates_in_one_reply_are_all_answered(agent, emulator):
    for number in range(12):
        emulator.say(f"/nonsense{number}")

    def all_of_them(told):
        return all(any(f"/nonsense{n}." in text for text in told) for n in range(12))

    emulator.wait_told(all_of_them)


def test_emulator_a_stranger_gets_nothing(agent, emulator):
    emulator.say("let me in", who=4711)
    emulator.wait_told(lambda told: any("A stranger wrote" in text for text in told))
    emulator.say("/lanes")
    told = emulator.wait_told(lambda told: any("running" in text for text in told))
    assert len(told) == 2
