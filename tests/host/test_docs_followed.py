"""README.md and docs/first-alert.md, followed as written: each command is typed in an empty
folder, from the wheel, and its output compared with the printed one, numbers aside."""

import re
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass, field

import pytest

from tenner_host import ROOT
from tenner_sim import LIMIT_S
from tests.host.installed import folder, run, sdist, tenner, wheel  # noqa: F401
from tests.host.terminal import terminal  # noqa: F401 -- a fixture

pytestmark = pytest.mark.long

README = ROOT / "README.md"
TUTORIAL = ROOT / "docs" / "first-alert.md"
#: A path in backticks, of a file that the reader writes.
FILE = re.compile(r"`((?:workspace/)?[A-Z]+\.(?:md|json))`")
#: They change nothing, so they can be repeated.
LOOKS = ("tenner heartbeat", "tenner alarms")


@dataclass
class Block:
    """A fenced part of a document: commands with their outputs, a file, or an output alone."""

    before: str
    language: str
    text: str
    commands: list = field(default_factory=list)

    def __post_init__(self):
        lines = self.text.splitlines()
        if lines[0].startswith("$ "):
            for line in lines:
                if line.startswith("$ "):
                    self.commands.append((line[2:], []))
                else:
                    self.commands[-1][1].append(line)
        elif lines[0].startswith(("tenner ", "make ", "# in a clone")):
            plain = [re.split(r"\s+#|^#", line)[0].rstrip() for line in lines]
            self.commands = [(line, []) for line in plain if line]


def blocks(path, begin="", end=None):
    """The fenced parts between two headings."""
    text = path.read_text(encoding="utf-8")
    text = text[text.index(begin) : text.index(end) if end else None]
    found, at = [], 0
    for match in re.finditer(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        found.append(Block(text[at : match.start()], match[1], match[2]))
        at = match.end()
    return found


def plain(line):
    """A line without the parts that differ from run to run."""
    line = re.sub(r"\b[0-9a-f]{2}(?::[0-9a-f]{2}){5}\b", "MAC", line)
    line = re.sub(r"(this message: )\w+", r"\1CODE", line)
    line = re.sub(r"'(?:board|fresh|try|demo)'", "NAME", line)
    return " ".join(re.sub(r"\d[\d.:]*", "0", line).split())


def missing(wanted, output):
    """The first line of a document that is not in an output, in its place; `...` ends one
    early."""
    lines = [plain(line) for line in output.splitlines()]
    for line in wanted:
        shown = plain(line)
        early = shown.removesuffix(" ...") if shown.endswith(" ...") else None
        for at, there in enumerate(lines):
            if there == shown or (early and there.startswith(early)):
                del lines[: at + 1]
                break
        else:
            return line
    return None


def assert_shown(wanted, output):
    line = missing(wanted, output)
    assert line is None, f"the document shows {line!r}; the output is\n{output}"


class Reader:
    """Somebody who types along, in the folder and with the command of an installed wheel."""

    def __init__(self, installed):
        self.installed = installed

    def type(self, line):
        done = subprocess.run(
            line,
            shell=True,
            cwd=self.installed.work,
            env=self.installed.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=600,
        )
        assert done.returncode == 0, f"{line}: {done.stdout}"
        return done.stdout

    def follow(self, block):
        """Write a block's file, or type its commands; return the last output."""
        if block.language in ("json", "markdown"):
            (self.installed.work / FILE.findall(block.before)[-1]).write_text(block.text)
            return ""
        said = ""
        for command, wanted in block.commands:
            said = self.type(command)
            deadline = time.monotonic() + LIMIT_S
            # The document shows a state that comes within seconds.
            while command in LOOKS and missing(wanted, said) and time.monotonic() < deadline:
                said = self.type(command)
            assert_shown(wanted, said)
        return said

    def phone(self, wanted):
        """Wait until the phone shows the lines of `wanted`."""
        words = plain(wanted)
        deadline = time.monotonic() + LIMIT_S
        while True:
            messages = re.sub(r"[│╭╮╰╯─]", " ", self.type("tenner sim phone"))
            if words in plain(messages):
                return
            assert time.monotonic() < deadline, f"{words} is not among {messages}"


def answer_setup(dialog, printed, reader):
    """Answer the questions of `tenner setup` with the lines that `tenner sim start` printed."""
    answers = re.search(
        r"Wi-Fi +(?P<ssid>\S+), password (?P<password>\S+)\n(?s:.*)"
        r"model +provider (?P<provider>\w+), (?P<url>\S+), (?P<api>\w+), key (?P<key>\S+)\n"
        r" +model (?P<model>[^;\s]+)(?s:.*)Telegram +token (?P<token>\S+)\n",
        printed,
    ).groupdict()
    for question, answer in (
        ("name of the network", "ssid"),
        ("Password", "password"),
        ("Provider", "provider"),
        ("Address of its API", "url"),
        ("Does it speak", "api"),
        ("Its key", "key"),
        ("Model: ", "model"),
        ("Token of the bot", "token"),
    ):
        dialog.wait_for(question)
        dialog.type(answers[answer] + "\n")
    dialog.wait_for("Your time zone")
    dialog.type("Europe/Berlin\n")
    dialog.wait_for("Active hours")
    # At any hour of the day at which this runs.
    dialog.type("0-24\n")
    dialog.wait_for("on Telegram this message: ")
    dialog.wait_for("Waiting for it")
    code = re.search(r"this message: (\w+)", dialog.seen)[1]
    hint = re.search(r"in another terminal: `(tenner sim phone [^`]*)`", dialog.seen)[1]
    assert hint.endswith(f" {code}") and "t.me" not in dialog.seen
    reader.type(hint)
    dialog.wait_for("That chat owns the agent now.")
    dialog.wait_for("Next: `tenner sync`")
    assert dialog.end() == 0
    for secret in ("password", "key", "token"):
        assert answers[secret] not in dialog.seen
    return answers


@pytest.fixture(scope="module")
def reader(tenner):
    yield Reader(tenner)
    subprocess.run(["tenner", "sim", "stop"], env=tenner.environment, check=False)


def test_the_tutorial_from_an_empty_board_to_an_alert(tenner, terminal, reader):
    rehearsal = re.findall(r"`(tenner sim [^`]*)`", TUTORIAL.read_text(encoding="utf-8"))
    start, warm, phone, send = rehearsal
    assert (phone, send) == ("tenner sim phone", "tenner sim phone CODE")
    printed = reader.type(start)
    parts = iter(blocks(TUTORIAL, "## ESP32-C3\n", "## LicheeRV"))
    # Flash.
    part = next(parts)
    assert [one[0] for one in part.commands] == ["tenner boards", "tenner flash --fast"]
    said = reader.follow(part)
    assert_shown(next(parts).text.splitlines(), said)
    # Settings.
    part = next(parts)
    assert part.text == "tenner setup\n"
    dialog = terminal("setup", installed=tenner)
    answers = answer_setup(dialog, printed, reader)
    assert_shown(next(parts).text.splitlines(), re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "", dialog.seen))
    # The sensor.
    assert [reader.follow(next(parts)) for _ in range(4)]
    # The alert, and its end.
    reader.type(warm)
    reader.phone(next(parts).text)
    reader.type("tenner sim set room.temperature 26")
    reader.phone(next(parts).text)
    # A talk.
    reader.follow(next(parts))
    assert not list(parts)
    # The settings name the stand-ins of this start; the next one is at the same addresses.
    reader.type("tenner sim stop")
    again = reader.type("tenner sim start")
    assert answers["url"] in again and answers["token"] in again
    reader.type("tenner sim phone 'say: good evening'")
    reader.phone("good evening")


def test_the_readme_on_that_board(reader):
    parts = blocks(README)
    rules = next(one for one in parts if one.language == "markdown")
    (reader.installed.work / "workspace" / "HEARTBEAT.md").write_text(rules.text)
    reader.type("tenner sync")
    reader.type("tenner sim set room.temperature 31.5")
    reader.phone("The TMP102 at 0x48 on i2c0 reads 31.5 °C.")
    reader.type("tenner sim set room.temperature 29.25")
    talk = next(one for one in parts if "tenner chat" in one.text)
    assert [command for command, _ in talk.commands][1:] == ["tenner alarms"]
    reader.follow(talk)


def test_the_readme_in_the_clone():
    demo = next(one for one in blocks(README) if "make run" in one.text)
    assert [command for command, _ in demo.commands] == ["make run"]
    assert "What next?" in run(["make", "run"], cwd=ROOT)


def test_all_other_commands_of_both_are_there(reader):
    """Those for real boards are only looked up: other tests run them on emulated ones."""
    text = README.read_text(encoding="utf-8") + TUTORIAL.read_text(encoding="utf-8")
    inline = set(re.findall(r"`(tenner [a-z][^`]*)`", text))
    fenced = {line for line in text.splitlines() if line.startswith("tenner ")}
    for command in sorted(inline | fenced):
        words = command.split()[1:]
        names = [word for word in words[:2] if re.fullmatch(r"[a-z-]+", word)]
        options = [word for word in words if word.startswith("-")]
        if words[0] not in ("sim", "fleet", "mcp", "skills"):
            names = names[:1]
        help_text = reader.type(" ".join(("tenner", *names, "--help")))
        assert all(option in help_text for option in options), command


def test_it_is_installed_as_the_readme_says(tmp_path):
    install = next(one for one in blocks(README) if "pipx install" in one.text)
    assert [command for command, _ in install.commands] == ["pipx install .", "tenner --help"]
    clone = tmp_path / "clone"
    run(["git", "clone", "-q", ROOT, clone])
    # As pipx does, without its environment.
    pip = [sys.executable, "-m", "pip", "install", "--no-deps", "--target", tmp_path / "lib", "."]
    done = subprocess.run(pip, cwd=clone, capture_output=True, text=True, check=False)
    if done.returncode and "No matching distribution found" in done.stdout + done.stderr:
        pytest.skip("pip has no network for the build's own requirements")
    assert done.returncode == 0, done.stdout + done.stderr
    shutil.rmtree(clone)
    code = "from tenner_host.cli import main; main(prog_name='tenner')"
    said = run([sys.executable, "-c", code, "skills", "list"], cwd=tmp_path / "lib")
    assert "freezer-guard" in said
