"""A wrong value of any setting is refused by each command of this computer, in one sentence that
names it."""

import json
from contextlib import contextmanager

import pytest
from click.testing import CliRunner

from tenner.store import config
from tenner_host.cli import main as tenner
from tenner_host.errors import CommandError
from tenner_host.setup import command, questions
from tenner_host.setup import settings as store
from tenner_host.web import files as web_files
from tests.setting_values import UNDERSTOOD, wrong_json
from tests.setting_values import wrong_texts as wrong_on_boards

ROWS = list(config.rows())
BEFORE = {"name": "before"}
#: A terminal and a command line have bytes that are no text.
HALVES = ["a\udcffb", "\udc80", "a\ud800"]
LEAST = 20


def wrong_texts(type_text):
    """Return texts that are wrong also where a computer puts them straight."""
    return [one for one in wrong_on_boards(type_text) if one not in UNDERSTOOD]


class Board:
    """A board that nothing may be written to."""

    has_repl = joins_wifi = False
    port_module = None

    def read_files(self, paths):
        return {store.PATH: json.dumps(BEFORE).encode()}

    def guard(self, seconds):
        pass

    def write_files(self, files):
        raise AssertionError(files)

    restart = write_files


@pytest.fixture
def board(monkeypatch, tmp_path):
    made = Board()

    @contextmanager
    def opened(*_, **__):
        yield made

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(command, "open_board", opened)
    monkeypatch.setattr(command, "leave_as_it_was", lambda board: None)
    return made


def named(row):
    return row[0].replace("*", "0")


def checked(row, text, sentence):
    """A sentence names the setting and the reason, and no secret."""
    where = (row[0], text, sentence)
    # A member is refused with its object.
    key = "llm.fallbacks" if row[0].startswith("llm.fallbacks") else named(row)
    assert key in sentence, where
    reasons = (
        "must be",
        "expected",
        "no model",
        "unknown key",
        "9216",
        "cannot be read",
        "no variable",
    )
    assert any(one in sentence for one in reasons), where
    assert "\n" not in sentence and len(sentence) < 500 and "invalid literal" not in sentence, (
        where
    )
    assert not (row[4] and len(text) > 6 and text.strip('"') in sentence), where


def run(row, text, *arguments):
    """The sentence of a command that refuses."""
    done = CliRunner().invoke(tenner, ["setup", *arguments])
    lines = done.stderr.splitlines()
    assert done.exit_code == 1 and isinstance(done.exception, SystemExit), (row, text, done)
    assert len(lines) == 1 and lines[0].startswith("tenner: "), (row, text, done.output)
    checked(row, text, lines[0])


def test_set(board, tmp_path):
    count = 0
    for row in ROWS:
        found = wrong_texts(row[1]) + HALVES
        assert len(found) >= LEAST
        # Each is refused by the same function; a command takes a while.
        for text in found[:: 1 + len(found) // LEAST]:
            given = text
            if row[4]:
                (tmp_path / "secret").write_bytes(
                    text.encode(
                        errors="surrogateescape" if "\ud800" not in text else "surrogatepass"
                    )
                )
                given = "@secret"
                if not text.strip():
                    continue
            run(row, text, "--set", f"{named(row)}={given}")
            count += 1
    assert count > 1000


def test_assignments_of_every_value():
    for row in ROWS:
        for text in wrong_texts(row[1]) + HALVES:
            made = {}
            with pytest.raises(CommandError) as caught:
                store.assign_text(made, named(row), text)
                store.settle(made)
            checked(row, text, caught.value.message)


def test_from(board, tmp_path):
    for row in ROWS:
        key, found = named(row), wrong_json(row[1])
        assert len(found) >= LEAST
        for text in found[:: 1 + len(found) // LEAST]:
            given = f'{{"{key}": {text}}}'
            if row[0].startswith("llm.fallbacks."):
                name = row[0].split(".")[-1]
                model = "" if name == "model" else '"model": "m", '
                given = f'{{"llm.fallbacks": [{{{model}"{name}": {text}}}]}}'
            (tmp_path / "given.json").write_text(given)
            run(row, text, "--from", "given.json")


@pytest.mark.parametrize(
    "data", [b"\xff\xfe{}", b'{"name": "a\xff"}', b"", b"[]", b"{", b"\0" * 9]
)
def test_files_that_are_no_settings(board, tmp_path, data):
    (tmp_path / "given.json").write_bytes(data)
    done = CliRunner().invoke(tenner, ["setup", "--from", "given.json"])
    assert done.exit_code == 1 and isinstance(done.exception, SystemExit), done
    assert done.stderr.startswith("tenner: given.json") and done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "key",
    ["name\udcff", "", "name\n", "tools.a\nb", "x" * 5000, "a.b.c.d", "\x1b[31m", "mcp.\0.url"],
)
def test_keys_that_are_none(board, key):
    done = CliRunner().invoke(tenner, ["setup", "--set", f"{key}=x"])
    assert done.exit_code == 1 and isinstance(done.exception, SystemExit), done
    assert "is no key of the settings" in done.stderr
    assert done.stderr.count("\n") == 1 and len(done.stderr) < 300


def test_the_page_of_tenner_web(board):
    for row in ROWS:
        if row[4]:
            continue
        for text in wrong_texts(row[1]):
            with pytest.raises(CommandError) as caught:
                web_files.write_settings(board, {named(row): text})
            checked(row, text, caught.value.message)


class Trial:
    """Every test of the board passes."""

    def __init__(self, board):
        self.board = board

    def networks(self):
        return []

    def wifi(self, settings):
        return "joined"

    def model(self, settings):
        return "answers"

    def telegram(self, settings):
        return "the bot"


#: The answers to all questions, in their order.
ANSWERS = {
    "wifi.ssid": "home",
    "wifi.password": "secret12",
    "": "other",
    "llm.base_url": "http://a:8080/v1",
    "llm.api": "chat",
    "llm.api_key": "sk-0123456",
    "llm.model": "m",
    "telegram.token": "4711:abcdef",
    "time.zone": "Europe/Berlin",
    "heartbeat.active_hours": "08:00-22:00",
}


#: Answers that the dialog takes as they are meant.
MEANT = ("a.b/c", "www.a.b", "a.b", "always", "8am-10pm", "8-22h", "from 8 to 22", "Paris")
REFUSALS = (
    "That must be ",
    "Some of these letters aren't UTF-8",
    "A Wi-Fi password has at least",
    "There's no time zone",
)


@pytest.mark.parametrize("key", [key for key in ANSWERS if key])
def test_the_questions(board, key, monkeypatch, capsys):
    """Each wrong answer is asked for again, with the reason."""
    monkeypatch.setattr(Board, "joins_wifi", True)
    row = config.find(key)
    # The dialog understands more; "-" is an answer.
    wrong = [
        one
        for one in wrong_texts(row[1]) + HALVES
        if one.strip() not in ("", "-", *MEANT) and one.lower().strip() not in ("chat", "messages")
    ]
    assert len(wrong) >= LEAST
    script = []
    for name, right in ANSWERS.items():
        script += [*wrong, right] if name == key else [right]
    answers = iter(script)
    monkeypatch.setattr("rich_click.prompt", lambda *_, **__: next(answers))
    settings = {}
    parts = []
    questions.ask_all(Trial(board), settings, parts.append)
    assert parts == ["Wi-Fi", "model", "Telegram", "time zone", "active hours"]
    assert next(answers, None) is None
    said = [line for line in capsys.readouterr().err.splitlines() if line]
    refusals = [line for line in said if line.startswith(REFUSALS)]
    assert len(refusals) == len(wrong), said
    assert not any("sk-0123456" in line or "secret12" in line or "4711:" in line for line in said)
    store.settle(settings)
    assert store.get(settings, "heartbeat.active_hours") == "08:00-22:00"
    assert store.get(settings, "time.zone") == "CET-1CEST,M3.5.0,M10.5.0/3"
