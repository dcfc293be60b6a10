"""After every change of phase of the entire agent, the code that does not stay is gone.

On the 32-bit interpreter, in a debug build: it shows its heap, in which each module object is a
letter. An extra one is code that something still
refers to: 5 to 10 KB for nothing.
"""

from __future__ import annotations

import pytest

from tenner_host import FIRMWARE, interpreters
from tenner_host.release import keys
from tenner_sim.services import API_KEY, OWNER, OfflineModel, Step
from tenner_sim.services.mcp_tools import McpTools
from tests import photos, provider_requests
from tests.bench import agent, mqtt, remote, web
from tests.bench.rows import NotMeasured
from tests.host.broker import find_mosquitto
from tests.host.overlays_heap import looks, stale
from tests.host.releases import Server, code, micropython_of, public, release

pytestmark = pytest.mark.long

#: Less than a board with PSRAM has, and more than enough.
HEAP_KB = 400

CONDITION = (
    "- (every 2s; when room.temperature > 20) Say how warm it is.\n- (every 3s) Say hello.\n"
)
TOOLS = (
    'call i2c {"action":"scan","bus":"i2c0"}',
    'call sensor {"action":"read","name":"room"}',
    'call write_file {"path":"notes.md","content":"x"}',
    'call read_file {"path":"notes.md"}',
    'call message {"text":"x","file":"notes.md"}',
    'call list_dir {"path":"/"}',
    'call cron {"action":"list"}',
    'call chart {"value":"room"}',
    'call i2c {"bus":"wrong"}',
    "call nothing {}",
)


def ask_each(running, texts):
    """Ask one after the other: somebody who writes during a turn has code of the poll loaded
    beside it."""
    for text in texts:
        running.ask(text)
        running.idle()


def run(ask, **more):
    """Return the agent's output while `ask` talks to it."""
    try:
        interpreters.find_micropython32()
    except interpreters.InterpreterMissing as exc:
        pytest.skip(str(exc))
    with agent.agent(HEAP_KB, debug=True, **more) as running:
        try:
            running.idle()
            ask(running)
            running.idle()
        finally:
            lines = list(running.lines)
    return lines


def check(lines, *phases, except_in=()):
    found = looks(lines)
    assert set(phases) <= {look.phase for look in found}
    assert [one for one in stale(found) if one.split()[0] not in except_in] == []


def test_turns_with_tools():
    def ask(running):
        ask_each(running, (*TOOLS, "say hello"))

    phases = ("TURN", "OFFER", "REQUEST", "REPLY", "TOOL_CALL", "TOOL", "KEEP", "SEND", "RECEIVE")
    check(run(ask, files={"state/readings.1": agent.readings()}), *phases, "CHART")


@pytest.mark.parametrize("api", ["chat", "messages"])
def test_a_photo(api):
    provider_requests.load(api)

    def ask(running):
        telegram = running.services.telegram
        for count in (1, 2):
            telegram.attach(OWNER, "photo", "what?", sizes=photos.sizes())
            running.wait_sent(count)
            running.idle()
        assert telegram.sent[1].text.startswith("I see image/jpeg")

    check(run(ask, llm={"api": api}), "FETCH", "TURN", "REQUEST", "REPLY")


def test_a_voice_note():
    # The answer comes after the quote; without a service's address nothing would be fetched.
    with OfflineModel() as hears:

        def ask(running):
            telegram = running.services.telegram
            for count in (2, 4):
                telegram.attach(OWNER, "voice", data=photos.voice_note())
                running.wait_sent(count)
                running.idle()
            assert len(hears.sounds) == 2

        settings = {"voice": {"url": hears.base_url, "key": API_KEY}}
        check(run(ask, settings=settings), "FETCH", "HEAR", "SEND", "TURN")


def test_a_long_answer_and_a_long_history():
    def ask(running):
        ask_each(running, ("say something long 6000", "say hello"))

    check(run(ask, messages=200), "SEND")


def test_a_heartbeat_with_a_met_condition():
    def ask(running):
        running.services.telegram.wait_sent(2)

    check(run(ask, heartbeat=CONDITION), "BEAT", "BEAT_READ")


def test_the_offer_of_a_rule_for_a_line_of_prose():
    def ask(running):
        telegram = running.services.telegram
        running.services.model.script = ["HEARTBEAT_OK", "(when room.temperature > 30; notify)"]
        running.ask("/trigger 0")
        telegram.wait_for(lambda _: any("Line 1, '" in one.text for one in telegram.sent), 120)
        running.idle()
        ask_each(running, ("/heartbeat use 2", "/heartbeat use 1"))
        assert any("Line 1 is a rule now" in one.text for one in telegram.sent)

    prose = "- the room must not get hotter than 30 degrees\n"
    files = {"state/readings.1": agent.readings()}
    check(run(ask, heartbeat=prose, files=files), "BEAT", "READ", "TURN", "SEND")


def test_the_chart_of_an_alarm():
    heartbeat = "- (every 1s; when room.temperature > 20; notify; chart) Warm.\n"

    def ask(running):
        running.services.telegram.wait_for(
            lambda telegram: any(one.file for one in telegram.sent), 120
        )

    files = {"state/readings.1": agent.readings()}
    check(run(ask, heartbeat=heartbeat, files=files), "CHART")


def test_commands_load_their_overlays():
    asked = ("/status", "/heartbeat", "/why", "/alarms", "/tools", "/nothing", "/chart room")

    def ask(running):
        ask_each(running, asked)

    check(run(ask, files={"state/readings.1": agent.readings()}), "COMMAND", "CHART")


@pytest.fixture(params=["mqtt", "lan"])
def reach(request):
    """A way to the board of the owner's computer."""
    try:
        interpreters.find_micropython32()
    except interpreters.InterpreterMissing as exc:
        pytest.skip(str(exc))
    if request.param == "mqtt":
        find_mosquitto()
        return remote.board
    return remote.page


def test_the_requests_of_the_owners_computer(reach):
    with reach(HEAP_KB, debug=True) as (running, link):
        running.idle()
        remote.requests(link)
        remote.commands(link)
        running.idle()
        lines = list(running.lines)
    # A poll for messages may be opening its connection while MQTT reads sensors.
    check(lines, "REMOTE", "COMMAND", except_in=("MQTT",))


def test_an_update_from_the_owners_computer(reach):
    with reach(HEAP_KB, debug=True) as (running, link):
        running.idle()
        remote.one_update(running, link)
        lines = list(running.lines)
    # As above.
    check(lines, "REMOTE", "UPDATE", except_in=("MQTT",))


#: The chip's module with two slots, of which one is a file.
SLOTS = """
HEAP_DATA = 4
slot = open("slot.bin", "w+b")


def idf_heap_info(capabilities):
    return [(180000, 100000, 60000, 90000)]


class Partition:
    RUNNING = 1

    def __init__(self, id):
        self.runs = id == 1

    def get_next_update(self):
        return Partition(0)

    def info(self):
        return (0, 0, 0, 2031616, "ota_0" if self.runs else "ota_1", False)

    def readblocks(self, block, buf, offset=0):
        slot.seek(offset)
        if self.runs:
            buf[0], buf[12] = 0xE9, 5
        else:
            slot.readinto(buf)

    def writeblocks(self, block, buf, offset=0):
        slot.seek(offset)
        slot.write(buf)

    def ioctl(self, command, block):
        pass

    def set_boot(self):
        pass
"""


def test_an_update_of_micropython():
    files = {
        "chip/esp32.py": SLOTS.encode(),
        "boot_trial.py": (FIRMWARE / "boot_trial.py").read_bytes(),
        keys.ON_BOARD.lstrip("/"): public(),
    }
    wrong = micropython_of(chip="esp32s3")
    releases = [
        release(code("9.0.0"), "9.0.0", micropython=one) for one in (wrong, micropython_of())
    ]
    with Server(releases[0]) as server:

        def ask(running):
            running.ask("/update", "Looking at update.url")
            running.wait_line("has MicroPython for the esp32s3, this board is none")
            running.services.telegram.wait_sent(2)
            # Nobody writes while the answer is sent: see ask_each.
            running.idle()
            ask_each(running, ("say hello", TOOLS[0]))
            server.body = releases[1]
            running.services.telegram.say(OWNER, "/update 9.0.0")
            running.wait_line("9.0.0 is in place: restarting")

        lines = run(ask, files=files, settings={"update": {"url": server.url}})
        check(lines, "UPDATE", "TURN", "TOOL")


def test_a_model_that_fails():
    def ask(running):
        running.services.model.plan([Step(path="/chat/completions", status=500)] * 2)
        ask_each(running, ["say hello"] * 2)

    # On a loaded machine code of `ask` was seen to stay alive after a failure, so that is not
    # compared here.
    assert "REQUEST" in {look.phase for look in looks(run(ask))}


def test_a_tool_of_an_mcp_server():
    with McpTools({"weather": "dry", "news": "none"}) as server:

        def ask(running):
            for _ in range(2):
                running.ask('call home-weather {"place":"hall"}', "dry")
                running.idle()

        settings = {"mcp": {"home": {"url": server.mcp_url}}}
        check(run(ask, settings=settings), "LIST", "TOOL", "TOOL_READ")


def test_a_page_of_the_web():
    pages = web.Pages(
        b"<title>Tide</title><p>High at 06:12, p&acirc;t&eacute; <a href=/x>more</a>" * 50
    )
    pages.start()
    try:

        def ask(running):
            for more in ("", ',"links":true'):
                running.ask(f'call web_fetch {{"url":"{pages.url}/"{more}}}', "High at 06:12")
                running.idle()

        place = f"localhost:{pages.port}"
        settings = {"tools": {"web_fetch": "allow"}, "web": {"allow": [place]}}
        check(run(ask, settings=settings), "TOOL", "TOOL_READ", "ANSWER")
    finally:
        pages.stop()


def test_turns_with_a_broker_connected():
    try:
        with mqtt.broker() as (port, log):

            def ask(running):
                mqtt.wait_text(log, "Received PUBLISH")
                ask_each(running, (TOOLS[0], "say hello"))
                mqtt.wait_text(log, "sensor/room")

            check(run(ask, settings=mqtt.settings(port)), "MQTT", "TURN", "TOOL", "SEND")
    except NotMeasured as exc:
        pytest.skip(str(exc))


def test_a_question_about_an_update_waits_during_a_turn():
    with Server(release(code("9.0.0"), "9.0.0")) as server:

        def ask(running):
            (running.root / keys.ON_BOARD.lstrip("/")).write_bytes(public())
            running.ask("/update", "Looking at update.url")
            running.services.telegram.wait_sent(2)
            (question,) = [one for one in running.services.telegram.sent if one.buttons]
            ask_each(running, ("say hello", TOOLS[0]))
            running.services.telegram.press(question, question.buttons[0]["callback_data"])
            running.wait_line("9.0.0 is in place: restarting")

        lines = run(ask, settings={"update": {"url": server.url}})
        # The code of a question itself enters these, and goes on there.
        check(lines, "UPDATE", "TURN", "TOOL", except_in=("SENDING", "SENT"))
