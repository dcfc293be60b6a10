"""Talking with the whole agent on its console, and running code in its place."""

import json
import re
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from tenner_host.board.board import AT_REPL
from tenner_host.board_clock import clock_of
from tenner_host.cli import main as tenner
from tenner_host.console import answers, commands
from tenner_host.console.console import LOG_LINE, Console, Kind, Said
from tenner_host.doctor import linux_board, serial_board
from tenner_host.errors import CommandError
from tenner_host.web.now import status_fields
from tenner_sim.services import Step
from tenner_sim.vboard import VirtualBoard
from tests.host.e2e import ASK, READS, agent_board
from tests.host.terminal import terminal  # noqa: F401 -- a fixture


@pytest.fixture(scope="module")
def bench():
    with agent_board(heartbeat="- Say: water the plants.\n") as made:
        yield made.ready()


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TENNER_SIM_DIR", str(tmp_path / "sim"))


def tell(board, *arguments, status=0):
    done = CliRunner().invoke(tenner, [*arguments, "--port", board.pty])
    assert done.exit_code == status, done.output
    return done


# On a running agent.


@pytest.mark.parametrize(
    ("command", "text", "key"),
    [
        ("why", "next: ", "next_in_s"),
        ("status", "heap ", "heap"),
        ("heartbeat", "now: ", "tasks"),
    ],
)
def test_questions_leave_the_agent_alone(bench, command, text, key):
    boots, said = bench.board.status()["boots"], len(bench.board.serial_log)
    assert text in tell(bench.board, command).stdout
    answer = json.loads(tell(bench.board, command, "--json").stdout)
    assert key in answer, answer
    assert bench.board.status()["boots"] == boots
    logged = [line for line in bench.board.serial_log[said:].splitlines() if LOG_LINE.match(line)]
    assert not [line for line in logged if "/" + command in line], "nobody wants to read that"


def test_the_alarms_where_there_are_none(bench):
    assert "no alarms" in tell(bench.board, "alarms").stdout
    assert json.loads(tell(bench.board, "alarms", "--json").stdout)["alarms"] == []


# (the words behind `tenner alarms`, the refusal)
REFUSED = [
    ("ack 7", "There is no alarm 7 now"),
    ("mute 7 2h", "There is no alarm 7 now"),
    ("unmute 7", "There is no alarm 7 now"),
    ("why 7", "There is no alarm 7 now"),
    ("mute line 1 2h", "There is no alarm line 1 now"),
    ("ack", "expected: ack ID"),
    ("shout 7", "expected: ack ID"),
]


@pytest.mark.parametrize(("words", "sentence"), REFUSED)
def test_a_refused_command_fails(bench, words, sentence):
    done = tell(bench.board, "alarms", *words.split(), status=1)
    assert done.stderr.startswith(f"tenner: {sentence}") and not done.stdout
    done = tell(bench.board, "alarms", *words.split(), "--json", status=1)
    assert sentence in json.loads(done.stdout)["error"]["message"]


@pytest.mark.parametrize(
    ("answer", "is_refused"),
    [
        ('Nothing to acknowledge, it is over: "Hot!".', True),
        ('attic: Nothing to acknowledge, it is over: "Hot!".', True),
        ('"ever" is no duration; expected one such as 30m, 2h', True),
        ("There is no command /alarms. Did you mean /why?", True),
        ("/alarms is not available here.", True),
        ('Acknowledged: "There is no alarm "; x. I will say when it is over.', False),
        ("attic: Muted for 2 h: x. You will hear of events afterwards.", False),
        ("alarm 3: active; room.temperature > 30; There is no alarm 3 now", False),
        ("Not muted any more: x.", False),
    ],
)
def test_a_refusal_is_known_by_its_words(answer, is_refused):
    assert bool(answers.refusal([answer])) == is_refused


@pytest.mark.parametrize("read", [answers.status, answers.tasks, answers.why])
@pytest.mark.parametrize(
    ("lines", "shown"),
    [
        ([], "nothing"),
        (["What do you mean?"], "What do you mean?"),
        (["Too little", "memory."], "Too little memory."),
        (['{"line": 3, "tex'], "tex"),
        (["3", "null", '"a text"'], "null"),
        (["[1, 2]"], "[1, 2]"),
    ],
    ids=str,
)
def test_an_answer_that_is_no_json_is_an_error_with_its_text(read, lines, shown):
    with pytest.raises(CommandError, match="which isn't JSON") as raised:
        read(lines)
    assert shown in raised.value.message and "tenner sync" in raised.value.message


@pytest.mark.parametrize("read", [answers.status, answers.why])
def test_a_report_that_is_never_empty_is_an_error_when_it_is(read):
    with pytest.raises(CommandError, match="which isn't JSON"):
        read(["[]"])


def test_objects_are_read_past_lines_that_are_none():
    assert answers.tasks(["[]"]) == []
    task = '{"line": 3, "text": "Hot!", "next_s": 5, "last_run": null}'
    (found,) = answers.tasks(["(the clock is not set)", task, '{"line": 4, "te'])
    assert (found["line"], found["next_in_s"], found["done"]) == (3, 5, False)
    assert answers.why(['{"next_s": null}']) == {"decisions": [], "next_in_s": None}
    assert answers.status(['{"uptime_s": 1}']) == {"uptime_s": 1}


@pytest.mark.parametrize(
    ("read", "lines"),
    [
        (answers.status, ["tenner 0.1.0, micropython 1.22.0", "up 0 h 1 min"]),
        (
            answers.tasks,
            ['{"line": 3, "text": "Hot!", "next_s": 5, "last_run": "2026-11-21 08:30"}'],
        ),
    ],
)
def test_an_older_board_is_named_as_such(read, lines):
    with pytest.raises(CommandError, match="older than this program"):
        read(lines)


def test_an_error_in_place_of_an_answer_fails():
    line = line_of("\x1f\x1e\r\n\x1ffailed\x1e\r\n\x1cout of memory\x1e\r\n")
    with pytest.raises(CommandError, match="out of memory"):
        line.ask("/status")


def test_a_log_line_between_two_keys_of_the_echo_is_taken_out():
    log = "   +4.6s heartbeat not due (1630 s left)"
    for at in range(1, len("/status")):
        text = f"/status\r\n{log}\r\n".replace(
            "/status", "/status"[:at] + log + "\r\n" + "/status"[at:]
        )
        said = text.encode() + b"up 0 h\r\n"
        parts = iter([said[:at], said[at : at + 5], said[at + 5 :], b""])
        line = Console(
            SimpleNamespace(
                write=lambda data: None, read_available=lambda limit, parts=parts: next(parts)
            )
        )
        line.type("/status")
        assert list(line.lines(1)) == [log, log, "up 0 h"], at


def line_of(text, step=1):
    """A Console at a line that brings this text, so many bytes at a time."""
    data = text.encode()
    parts = iter([*(data[at : at + step] for at in range(0, len(data), step)), b""])
    written = []
    line = Console(
        SimpleNamespace(
            write=written.append, read_available=lambda limit: next(parts), device_name="here"
        )
    )
    line.written = written
    return line


LOG = "   +4.6s tool      fine\r\n"


@pytest.mark.parametrize("step", [1, 2, 7, 1000])
def test_frames_keep_their_words_whatever_those_are(step):
    said = [
        Said(Kind.LINE, LOG[:-2]),
        Said(Kind.ANSWER, "one\n" + LOG[:-2] + "\nallow? [y/n]"),
        Said(Kind.QUESTION, "run:\n| x [y/n]\n| y [y/n]"),
        Said(Kind.ANSWER, ""),
        Said(Kind.LINE, "a line"),
    ]
    text = ""
    for one in said:
        end = "" if one.kind is Kind.LINE else "\x1e"
        text += one.kind.value + one.text.replace("\n", "\r\n") + end + "\r\n"
    assert list(line_of(text, step).said(1)) == said


def test_an_answer_between_two_keys_and_one_without_an_end():
    text = "/st\x1cbefore\x1e\r\natus\r\n\x1clost\x1cwhole\x1e\r\n"
    found = [one for one in line_of(text).said(1) if one.kind is Kind.ANSWER]
    assert [one.text for one in found] == ["before", "whole"]


def test_what_was_said_before_is_no_answer():
    text = "\x1cold\x1e\r\n\x1dold? [y/n]\x1e\r\n\x1f\x1e\r\n" + LOG
    text += "\x1dnew?\r\n| a [y/n]\x1e\r\n\x1cnew\x1e\r\n\x1clater\x1e\r\n"
    line = line_of(text)
    assert [said.text for said in line.chat("hello")] == ["new?\n| a [y/n]", "new"]
    assert line_of(text).ask("/status") == ["new"]


def test_words_of_a_question_in_an_answer_are_no_question():
    line = line_of("\x1f\x1e\r\n\x1cOpen the door? [y/n]\x1e\r\n")
    assert [said.kind for said in line.chat("hello")] == [Kind.ANSWER]


def test_older_code_is_named():
    line = line_of("There is no command /=frames. Try /help.\r\n")
    with pytest.raises(CommandError, match="tenner sync"):
        line.ask("/status")


def test_chat_prints_the_answer_and_nothing_else(bench):
    bench.board.set("room.temperature", 23.25)
    assert tell(bench.board, "chat", ASK).stdout == READS.format(23.25) + "\n"
    done = tell(bench.board, "chat", "say:", "one", "two", "--json")
    assert json.loads(done.stdout)["answer"].startswith("one two")


def test_a_heartbeat_now_tells_its_outcome(bench):
    assert (
        tell(bench.board, "heartbeat", "--now").stdout.splitlines()[-1].startswith("heartbeat: ")
    )
    done = tell(bench.board, "heartbeat", "--now", "--json")
    assert json.loads(done.stdout)["outcome"]


def test_a_heartbeat_now_with_conditions_alone_ends_too():
    text = "- (every 5s; when room.temperature > 30; notify) It is hot.\n"
    with agent_board(heartbeat=text) as made:
        board = made.ready().board
        lines = tell(board, "heartbeat", "--now").stdout.splitlines()
        assert lines[-1].startswith("heartbeat: ")
        assert any(line.startswith("line 1: room.temperature") for line in lines), lines
        answer = json.loads(tell(board, "heartbeat", "--now", "--json").stdout)
        assert [one["line"] for one in answer["conditions"]] == [1] and answer["outcome"]


def test_lines_of_a_pipe_are_answered_one_by_one(bench):
    lines = "say: first\n\nsay: second\n/lanes\nsay: third"
    done = CliRunner().invoke(tenner, ["chat", "--port", bench.board.pty], input=lines)
    assert done.exit_code == 0, done.output
    said = [line for line in done.stdout.splitlines() if line and not line.startswith("(now: ")]
    assert [said[0], said[1], said[-1]] == ["first", "second", "third"], done.stdout


def test_no_answer_is_an_exit_status(bench):
    bench.model.plan([Step(status=401, times=9)])
    done = tell(bench.board, "chat", "say: one", status=1)
    assert done.stdout == ""
    assert done.stderr.startswith("tenner: ") and "key" in done.stderr
    done = tell(bench.board, "chat", "say: one", "--json", status=1)
    assert json.loads(done.stdout)["error"]["exit"] == 1
    command = ["chat", "--port", bench.board.pty]
    done = CliRunner().invoke(tenner, command, input="say: one\n/lanes\n")
    bench.model.plan([])
    assert done.exit_code == 1
    assert "running: " in done.stdout
    assert done.stderr.endswith("tenner: 1 lines had no answer, see above\n")
    tell(bench.board, "chat", "say: two")


@pytest.mark.parametrize("text", ["", "  "])
def test_nothing_is_nothing_to_say(text):
    done = CliRunner().invoke(tenner, ["chat", text, "--port", "/dev/null"])
    assert done.exit_code == 2
    assert "TEXT is empty" in done.output


CALL = "call gpio " + json.dumps({"action": "write", "pin": "LED", "value": 1})


def test_what_the_agent_asks_for_is_no_without_a_person(bench):
    assert "not approved" in tell(bench.board, "chat", CALL).stdout
    assert bench.board.signals().get("gpio3", 0) == 0


def test_what_the_agent_asks_for_is_asked_here(bench, terminal):
    chat = terminal("chat", CALL, "--port", bench.board.pty)
    chat.wait_for("Exactly: set pin LED (GPIO3) to 1 [y/N]: ")
    chat.type("y\n")
    chat.wait_for("pin LED (GPIO3) is at 1")
    assert chat.end() == 0
    assert bench.board.signals()["gpio3"] == 1


def test_a_talk_shows_answers_and_no_log_lines(bench, terminal):
    talk = terminal("chat", "--port", bench.board.pty)
    talk.wait_for("Ctrl-D ends this")
    talk.type("say: hello there\n")
    talk.wait_for("hello there\r\n")
    talk.wait_for("(now: ")
    assert "bytes sent" not in talk.seen
    talk.type("\x04")
    assert talk.end() == 0


def test_the_live_log_is_followed_until_ctrl_c(bench, terminal):
    log = terminal("logs", "-f", "--port", bench.board.pty)
    log.wait_for("Ctrl-C ends this")
    bench.type("/lanes")
    log.wait_for("running: ")
    log.type("\x03")
    assert log.end() == 130
    assert log.seen.endswith("tenner: stopped\r\n")


def test_the_repl_stops_and_starts_the_agent(bench, terminal):
    repl = terminal("repl", "--port", bench.board.pty)
    repl.wait_for("Ctrl-] leaves")
    repl.type("\x03")
    repl.wait_for("agent stopped")
    repl.wait_for(">>> ")
    repl.type("print(6 * 7)\r")
    repl.wait_for("42\r\n>>> ")
    repl.type("\x1d")
    assert repl.end() == 0
    assert "the agent does not run" in repl.seen
    done = tell(bench.board, "why", status=1)
    assert "the agent does not run: the board is at its REPL" in done.stderr
    repl = terminal("repl", "--port", bench.board.pty)
    repl.wait_for("Ctrl-] leaves")
    repl.type("\x04")
    repl.wait_for("boot      tenner")
    repl.type("\x1d")
    assert repl.end() == 0
    bench.board.wait_for("(pool.ntp.org)")


def test_the_run_log_is_read_from_flash(bench):
    tell(bench.board, "heartbeat", "--now")
    entries = json.loads(tell(bench.board, "logs", "--json").stdout)["runs"]
    assert entries and entries[-1]["result"]
    bench.board.wait_for("(pool.ntp.org)")
    # The board has no zone, and says so in the same words.
    assert re.search(r"\d UTC  heartbeat: ran, ", tell(bench.board, "logs", "-n", "3").stdout)
    assert "(UTC+00:00)" in tell(bench.board, "status").stdout
    bench.board.wait_for("(pool.ntp.org)")


# In place of the agent.


def test_run_prints_at_once_and_starts_the_agent_again(bench, tmp_path):
    (tmp_path / "x.py").write_text("for n in range(3):\n    print('é', n)\n")
    done = tell(bench.board, "run", "x.py")
    assert done.stdout_bytes.decode().replace("\r\n", "\n") == "é 0\né 1\né 2\n"
    bench.board.wait_for("boot      tenner")
    (tmp_path / "bad.py").write_text("1 / 0\n")
    done = tell(bench.board, "run", "bad.py", status=1)
    assert 'File "bad.py", line 1' in done.stderr
    assert "ZeroDivisionError" in done.stderr
    assert "tenner: bad.py ended with an exception on the board" in done.stderr


def test_ctrl_c_stops_what_runs_on_the_board_too(tmp_path, terminal):
    (tmp_path / "x.py").write_text("n = 0\nwhile True:\n    n += 1\n    print('at', n)\n")
    with VirtualBoard({"/main.py": b"print('main runs')\n"}) as board:
        board.wait_for("main runs")
        run = terminal("run", "x.py", "--port", board.pty)
        run.wait_for("at 3")
        run.type("\x03")
        assert run.end() == 130
        assert "Traceback" not in run.seen, run.seen
        said = board.serial_log
        assert board.exec("print('still', 6 * 7)") == "still 42\n"
        assert "at " not in board.serial_log[len(said) :]


def test_mount_reads_from_here(tmp_path, terminal):
    (tmp_path / "hostmod.py").write_text("print('from the host,', 6 * 7)\n")
    with VirtualBoard({"/main.py": b"import time\nprint('main runs')\ntime.sleep(99)\n"}) as board:
        board.wait_for("main runs")
        mount = terminal("mount", str(tmp_path), "--port", board.pty)
        mount.wait_for("Ctrl-] leaves")
        mount.type("import hostmod\r")
        mount.wait_for("from the host, 42")
        mount.type("\x1d")
        assert mount.end() == 0
        board.wait_for("main runs")


def test_a_part_that_fails_is_the_exit_status_and_a_finding_of_the_doctor(monkeypatch):
    sentence = "page, 4 times in a row, last 12 s ago: ValueError: a wrong value"
    answer = ["tenner 0.2.0", "up 0 h 1 min, heap 9 KB free", "network up"]
    state = {"services": [{"name": "beat", "state": "running"}]}

    class Answers:
        def __enter__(self):
            return self

        def __exit__(self, *error):
            pass

        def ask(self, line, limit_s=0):
            assert line in ("/status", "/status json")
            return [json.dumps(state)] if line == "/status json" else answer

    monkeypatch.setattr(commands, "_console", lambda port, sim: Answers())
    monkeypatch.setattr(linux_board, "Console", lambda line: Answers())
    board = SimpleNamespace(port=None)
    monkeypatch.setattr(linux_board.LinuxBoard, "console", lambda port: None)

    def findings():
        return [(one.check, one.state.value, one.text) for one in linux_board._agent(board)]

    assert CliRunner().invoke(tenner, ["status"]).exit_code == 0
    assert [state for _, state, _ in findings()] == ["ok"]
    answer.append("failing: " + sentence)
    done = CliRunner().invoke(tenner, ["status"])
    assert done.exit_code == 1 and sentence in done.output
    assert "error" not in json.loads(CliRunner().invoke(tenner, ["status", "--json"]).stdout)
    state["services"].append({"name": "page", "state": "failing", "last_error": sentence})
    done = CliRunner().invoke(tenner, ["status", "--json"])
    found = json.loads(done.stdout)
    assert done.exit_code == 1 and found["services"][1]["last_error"] == sentence
    assert found["error"] == {"message": "parts of the agent are failing: page", "exit": 1}
    assert status_fields(answer)["failing"] == [sentence]
    assert findings()[1] == ("service", "fail", sentence)
    # A serial board's, before it is stopped.
    monkeypatch.setattr(serial_board, "Console", lambda line: Answers())
    monkeypatch.setattr(serial_board.SerialBoard, "console", lambda port: None)
    monkeypatch.setattr(serial_board.SerialBoard, "peek", lambda port: "runs a program")
    (found,) = serial_board._services(board)
    assert (found.check, found.state.value, found.text) == ("service", "fail", sentence)
    answer.pop()
    assert [one.state.value for one in serial_board._services(board)] == ["ok"]
    monkeypatch.setattr(serial_board.SerialBoard, "peek", lambda port: AT_REPL)
    assert [one.state.value for one in serial_board._services(board)] == ["skip"]


@pytest.mark.parametrize(
    ("config", "text"),
    [
        (b'{"time": {"zone": "Europe/Berlin"}}', "2026-09-21 16:13 UTC+02:00"),
        (b'{"time": {"zone": "EST5EDT,M3.2.0,M11.1.0"}}', "2026-09-21 10:13 UTC-04:00"),
        (b'{"time": {"zone": "Mars/Olympus"}}', "2026-09-21 14:13 UTC"),
        (b"{", "2026-09-21 14:13 UTC"),
        (None, "2026-09-21 14:13 UTC"),
    ],
)
def test_times_are_those_of_the_board_and_say_their_zone(config, text):
    found = {"/config.json": config} if config else {}
    board = SimpleNamespace(read_files=lambda paths: found)
    assert f"{clock_of(board)(1790000000):%Y-%m-%d %H:%M %Z}" == text
