"""People and the agent on the virtual board: Telegram, the serial console, commands, strangers."""

import re

import pytest

from tenner_sim.services import OWNER, STALL, Step
from tests.host.e2e import ASK, HEAP, PSRAM, READS, agent_board

STRANGER = 4242


@pytest.fixture(scope="module")
def bench():
    """One board for all tests that do not depend on earlier messages."""
    with agent_board() as made:
        yield made.ready()


def test_a_message_is_answered_with_what_the_sensor_shows(bench):
    bench.board.set("room.temperature", 23.25)
    assert bench.ask(ASK) == READS.format(23.25)
    bench.board.set("room.temperature", 24.5)
    assert bench.ask(ASK) == READS.format(24.5)
    bench.wait_for("telegram:1000: 2 model calls, 1 tool calls")


def test_the_answer_quotes_the_message(bench):
    said = bench.telegram.say(OWNER, "say: which one?")
    bench.wait_told("^which one")
    assert bench.telegram.sent[-1].reply_to == said["message_id"]


def test_the_menu_of_telegram_has_the_commands(bench):
    bench.telegram.wait_for(lambda telegram: telegram.commands)
    assert bench.telegram.commands[0] == {
        "command": "sensors",
        "description": "the sensors, read now",
    }
    assert {"alarms", "chart", "help", "guest"} < {
        one["command"] for one in bench.telegram.commands
    }


def test_a_stranger_gets_nothing_and_the_owner_is_told_once(bench):
    before = len(bench.model.requests)
    bench.telegram.say(STRANGER, "say: let me in", username="mallory")
    bench.wait_told(f"stranger.*{STRANGER}")
    bench.telegram.say(STRANGER, "/status", username="mallory")
    bench.telegram.say(STRANGER, "say: please", username="mallory")
    # Updates are read in order: when the owner is answered, the stranger's were dealt with.
    bench.echo("still here")
    assert bench.told(STRANGER) == []
    assert len([text for text in bench.told() if "tranger" in text]) == 1
    assert len(bench.model.requests) == before + 1
    notice = next(one for one in bench.telegram.sent if "tranger" in one.text)
    bench.telegram.press(notice, f"g:let:{STRANGER}")
    bench.wait_told(f"^User {STRANGER} is let in")
    bench.telegram.wait_for(lambda _: not notice.buttons)
    bench.telegram.say(STRANGER, "say: inside", username="mallory")
    bench.wait_told("inside", chat=STRANGER)
    assert bench.ask("/guest").startswith(f"Let in: {STRANGER}.")
    assert bench.ask(f"/guest out {STRANGER}") == f"User {STRANGER} is out."
    bench.telegram.say(STRANGER, "say: again", username="mallory")
    bench.echo("still here")
    assert len(bench.told(STRANGER)) == 1


def test_the_console_is_a_channel(bench):
    bench.board.set("room.temperature", 18.75)
    sent = len(bench.telegram.sent)
    bench.type(ASK)
    bench.wait_for(READS.format(18.75))
    assert len(bench.telegram.sent) == sent


# (the message, words of the answer, its last words on the console, in no log line and no echo)
COMMANDS = [
    ("/help", r"/sensors - [\s\S]*/stop - [\s\S]*/help all - ", "the others"),
    ("/sensors", r"room: temperature [\d.]+ °C", "room: temperature "),
    (
        "/status",
        r"tenner \d[\s\S]*heap \d+ KB free[\s\S]*network up, clock \w+day 20\d\d-",
        "waiting",
    ),
    ("/heartbeat", r"heartbeat every 30 min[\s\S]*next in[\s\S]*now: not", "now: "),
    ("/why", r"next: ", "next: "),
    ("/lanes", r"running: nothing", "preempted by people"),
    ("/budget", r"today: \d+ tokens", "limit: "),
    ("/stop", r"Nothing is running\.", "Nothing is running."),
    ("/trigger", r"Running the heartbeat now\.", "heartbeat: "),
    ("/new", r"A fresh conversation\.", "/new."),
    ("/stauts", r"no command /stauts\. Did you mean /status\?", "/status?"),
    ("/frobnicate", r"no command /frobnicate\. /help all lists", "lists all commands"),
]
COMMAND_IDS = [command for command, _, _ in COMMANDS]


@pytest.mark.parametrize(("command", "pattern", "last"), COMMANDS, ids=COMMAND_IDS)
def test_a_command_by_telegram(bench, command, pattern, last):
    before = len(bench.model.requests)
    found = re.search(pattern, bench.ask(command))
    assert found, bench.told()[-1]
    if command == "/trigger":
        bench.wait_told(r"^heartbeat: \w+ \(")
    assert len(bench.model.requests) == before


@pytest.mark.parametrize(("command", "pattern", "last"), COMMANDS, ids=COMMAND_IDS)
def test_a_command_on_the_console(bench, command, pattern, last):
    start = len(bench.log)
    bench.type(command)
    bench.wait_for(last)
    bench.wait_for("\n")
    printed = bench.log[start:].replace("\r", "")
    assert re.search(pattern, printed), printed


def test_new_forgets_what_was_said(bench):
    bench.ask("say: pineapple")
    bench.ask("say: banana")
    assert "pineapple" in bench.model.requests[-1].body.decode()
    bench.ask("/new")
    bench.ask("say: cherry")
    assert "pineapple" not in bench.model.requests[-1].body.decode()


def test_stop_from_the_console_ends_a_turn_of_telegram(bench):
    bench.fresh()
    bench.model.plan([Step(stall=300, where="body")])
    bench.telegram.say(OWNER, "say something long of 2000 characters")
    bench.model.wait_requests(1)
    bench.type("/stop")
    bench.wait_told(r"^Stopped, as you asked\.$")
    bench.echo("after that")


@pytest.mark.parametrize("heap", [HEAP, PSRAM])
def test_stop_by_telegram_where_two_tls_sessions_fit(heap):
    with agent_board(heap=heap) as bench:
        bench.ready()
        bench.model.plan([STALL])
        bench.telegram.say(OWNER, "say: never")
        bench.model.wait_requests(1)
        bench.telegram.say(OWNER, "/stop")
        bench.wait_told(r"^Stopping\.$")
        bench.wait_told(r"^Stopped, as you asked\.$")
        bench.echo("again")


def test_the_code_of_the_serial_console_makes_a_chat_the_owner():
    with agent_board(changes={"telegram.owner": None}) as bench:
        bench.ready()
        offered = re.search(r"no owner yet\. .*: (\w{8})\r?\n", bench.log)
        bench.telegram.say(STRANGER, "/status", username="mallory")
        assert bench.ask(offered.group(1), quotes=False).startswith("This agent is yours now.")
        assert bench.told(STRANGER) == []
        bench.echo("mine")
        bench.board.reset()
        bench.wait_for("connected")
        assert "no owner yet" not in bench.log[bench.log.rindex("rst:") :]
        bench.echo("still mine")
        assert bench.ask("/pair") == "Only on the serial console, since its user holds the board."
        # The board is sold: the person with the serial line takes it over.
        start = len(bench.log)
        bench.type("/pair")
        bench.wait_for("this message: ")
        bench.wait_for("\n")
        code = re.search(r"send its bot @\w+ this message: (\w{8})", bench.log[start:]).group(1)
        bench.telegram.say(STRANGER, code, username="mallory")
        bench.wait_told("^This agent is yours now", STRANGER)


def test_a_long_answer_is_seen_while_it_is_written():
    with agent_board(heap=PSRAM) as bench:
        bench.ready()
        bench.model.plan([Step(piece_delay_ms=60)])
        said = bench.telegram.say(OWNER, "say: " + "one more line of a long story, " * 12)
        preview = bench.wait_told("^one more line.* \u2026$")
        bench.wait_for("1 model calls, 0 tool calls")
        bench.telegram.wait_for(lambda server: server.sent[-1].text.endswith(")"))
        assert len(bench.told()) == 1, "the preview has become the answer"
        answer = bench.telegram.sent[-1]
        assert len(answer.text) > len(preview)
        assert answer.reply_to == said["message_id"]
