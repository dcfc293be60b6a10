"""`tenner try`: a virtual board with its stand-ins, and a tour of five commands to type along."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import rich_click as click

from tenner_host.board import ports
from tenner_host.board.sims import running_boards
from tenner_host.build import BuildError
from tenner_host.errors import CommandError
from tenner_host.interpreters import InterpreterMissing
from tenner_host.output import echo
from tenner_host.project import Project
from tenner_sim.command import kept_ports
from tenner_sim.demo import HEAP, room_settings, room_tree
from tenner_sim.services import free_ports, settings_for
from tenner_sim.vboard import BoardError, VirtualBoard

NAME = "try"
#: After a command, for the board to react.
PATIENCE_S = 30.0
SETTLE_S = 5.0
#: `tenner web` prints the second link once a browser has used the first.
LINK = re.compile(r"^open +(\S+)$")
OPENED = "for another browser"
_LEAVE = ("exit", "quit")
_COLD = "- (every 5s; when room.temperature < 15; notify) It is cold: {room.temperature} °C."


@dataclass(frozen=True)
class Step:
    """A thing to do; `check` says whether it has happened since the step began.
    SIM is ` --sim try` beside other boards, and nothing otherwise."""

    check: Callable[[Tour], bool]
    title: str
    about: str
    command: str
    result: str
    hint: str
    #: The board's reaction follows the command's end.
    settle_s: float = SETTLE_S


class Tour:
    """The five steps on a board whose files are those of `folder`."""

    def __init__(self, board: VirtualBoard, folder: Path, automatic: bool) -> None:
        self._board = board
        self._folder = folder
        self._automatic = automatic
        self._which = f" --sim {NAME}" if len(running_boards()) > 1 else ""
        self._begin()

    def _begin(self) -> None:
        """Remember the state before a step."""
        phone = self._board.phone(look=False)
        self._messages = len(phone["messages"])
        self._looks = phone["looks"]
        self._rules = self._heartbeat()
        self._lines = self._board.serial_log.count("\n")
        self._was_looked_at = False

    def is_told(self) -> bool:
        """An alarm has reached the phone."""
        told = len(self._board.phone(look=False)["messages"]) > self._messages
        return told and "message queued" in self._log()

    def is_read(self) -> bool:
        return bool(self._board.phone(look=False)["looks"] > self._looks)

    def is_asked(self) -> bool:
        return re.search(r"agent +\w+\b.*: \d+ model call", self._log()) is not None

    def is_edited(self) -> bool:
        return self._heartbeat() != self._rules

    def is_opened(self) -> bool:
        return self._was_looked_at

    def _log(self) -> str:
        """The board's lines since the step began."""
        return "\n".join(self._board.serial_log.split("\n")[self._lines :])

    def _heartbeat(self) -> bytes:
        return self._board.read_tree().get("/workspace/HEARTBEAT.md", b"")

    def run(self) -> None:
        """Lead through the steps; EOFError or KeyboardInterrupt when the person leaves."""
        for number, step in enumerate(STEPS, 1):
            echo(f"\n{number} of {len(STEPS)}: {step.title}\n{step.about}")
            self._begin()
            while not self._lead(step):
                echo(f"Not done yet: {step.hint}. Enter runs the command, `skip` goes on.")

    def _lead(self, step: Step) -> bool:
        """One command; true when the step is done, or skipped."""
        command = step.command.replace("SIM", self._which)
        if self._automatic:
            echo(f"$ {command}")
            line = ""
        else:
            echo(f"  {command}")
            line = _read_line()
        if line == "skip":
            return True
        if line in _LEAVE:
            raise EOFError
        line = line or command
        self.type(line)
        is_same = line.split()[:3] == command.split()[:3]
        settle_s = step.settle_s if is_same else min(step.settle_s, SETTLE_S)
        deadline = time.monotonic() + (PATIENCE_S if self._automatic else settle_s)
        while not step.check(self):
            if time.monotonic() > deadline:
                if self._automatic:
                    raise CommandError(f"step {step.title!r}: {step.hint}")
                return False
            time.sleep(0.1)
        echo(f"Done. {step.result}".replace("SIM", self._which))
        return True

    def type(self, line: str) -> None:
        """Run a line in a shell, as in another terminal."""
        # The scripts of an environment are beside its interpreter.
        path = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", "")))
        # The folder names the board.
        rest = {name: value for name, value in os.environ.items() if name != "TENNER_PORT"}
        with subprocess.Popen(
            line,
            shell=True,
            cwd=self._folder,
            env={**rest, "PATH": path},
            stdout=subprocess.PIPE if line.startswith("tenner web") else None,
            text=True,
            start_new_session=self._automatic,
        ) as process:
            if process.stdout is None:
                # Ctrl-C is for the command; the tour goes on.
                with contextlib.suppress(KeyboardInterrupt):
                    process.wait()
                return
            try:
                for printed in process.stdout:
                    echo(printed.rstrip("\n"))
                    self._watch_page(printed, process)
            except KeyboardInterrupt:
                process.wait()
            finally:
                process.terminate()

    def _watch_page(self, printed: str, process: subprocess.Popen[str]) -> None:
        """Notice a browser; without a person, fetch the page instead."""
        if printed.startswith(OPENED):
            self._was_looked_at = True
            echo("(A browser is in. Ctrl-C here ends the page.)")
        elif self._automatic and (link := LINK.match(printed)):
            urllib.request.urlopen(link[1], timeout=PATIENCE_S).close()
            self._was_looked_at = True
            os.killpg(process.pid, signal.SIGINT)


STEPS = (
    Step(
        Tour.is_told,
        "Warm the room",
        """\
The board reads its sensor every 5 s: 21.5 °C now. Its HEARTBEAT.md has one
condition, `when room.temperature > 30`. So far no model was asked. Turn up
the heating:""",
        "tenner sim set room.temperature 31.5SIM",
        """\
An alarm began: the model read the sensor and wrote a message. Your phone
buzzes.""",
        "no alarm yet: the room must be warmer than 30 °C",
        settle_s=PATIENCE_S,
    ),
    Step(
        Tour.is_read,
        "Read the alarm",
        "The stand-in for Telegram has a phone, too:",
        "tenner sim phoneSIM",
        "While the room stays warm, no second message follows, and no second call.",
        "nobody has looked at the phone yet",
    ),
    Step(
        Tour.is_asked,
        "Ask the board",
        """\
It answers here as well as on Telegram (`tenner sim phone TEXT`). The stand-in
for the model understands this question; a real one understands yours:""",
        'tenner chat "how warm is it?"',
        "The model listed the sensors, read one, and answered: three calls.",
        "the board has not been asked anything yet",
    ),
    Step(
        Tour.is_edited,
        "Edit HEARTBEAT.md",
        """\
It is workspace/HEARTBEAT.md of your folder: use any editor, or add a line as
below. With `notify`, the board writes the message itself, for nothing.
`tenner sync` sends the file:""",
        "echo '- (every 5s; when room.temperature < 15; notify) It is cold: "
        "{room.temperature} °C.' >> workspace/HEARTBEAT.md && tenner sync",
        "The board has it. Try it: tenner sim set room.temperature 12SIM",
        "the board's HEARTBEAT.md is still the old one: `tenner sync` sends yours",
    ),
    Step(
        Tour.is_opened,
        "Look at the page",
        """\
State, alarms, chat and plots in your browser. Open the link, look around,
come back and press Ctrl-C:""",
        "tenner web --listen 0",
        "That was all five.",
        "no browser has opened the page yet",
        settle_s=0.0,
    ),
)


@click.command(name="try")
@click.option("--yes", "-y", is_flag=True, help="Run the five commands without waiting for you.")
def try_(yes: bool) -> None:
    """Try it in five steps: a virtual board, with stand-ins for Wi-Fi, a model and Telegram.

    You need no board and no account, and nothing leaves this computer. Type along, or press Enter
    to run the command that is shown.
    """
    if NAME in running_boards():
        raise CommandError(
            f"the board {NAME!r} is already running, perhaps in another terminal; "
            f"`tenner sim stop --sim {NAME}` ends it"
        )
    with tempfile.TemporaryDirectory(prefix="tenner-try-", ignore_cleanup_errors=True) as name:
        try:
            with _board() as board:
                echo("A virtual ten-dollar board boots ...")
                board.wait_for("no condition met", PATIENCE_S)
                folder = Path(name)
                _bind(folder)
                tour = Tour(board, folder, yes)
                echo(
                    f"It runs. Your files are in {folder} until this ends (Ctrl-C at the prompt, "
                    "or `exit`).\nType each command, or press Enter to run it."
                )
                with _leaving():
                    tour.run()
                    if not yes:
                        _go_on(tour)
        except (BoardError, BuildError, InterpreterMissing, TimeoutError) as exc:
            raise CommandError(str(exc)) from exc


@contextlib.contextmanager
def _leaving() -> Iterator[None]:
    """Ctrl-C and Ctrl-D at the prompt end the tour, as `exit` does."""
    try:
        yield
    except (EOFError, KeyboardInterrupt):
        echo("\nThe board is off. `tenner try` begins again.")


def _board() -> VirtualBoard:
    """A board whose settings name the stand-ins beside it."""
    places = free_ports(kept_ports(NAME))
    model, telegram = (
        f"http://localhost:{places[one]}" for one in ("model_port", "telegram_port")
    )
    tree = room_tree(room_settings(settings_for(f"{model}/v1", telegram)))
    return VirtualBoard(tree, name=NAME, heap=HEAP, services=places)


def _bind(folder: Path) -> None:
    """Make `folder` the board's project, with a copy of its workspace."""
    project = Project(folder)
    port = ports.choose(project, sim=NAME)
    project.remember(port=port.as_json())
    done = subprocess.run(
        [sys.executable, "-m", "tenner_host.cli", "sync"],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise CommandError(f"the board's files cannot be copied: {done.stderr.strip()}")


def _go_on(tour: Tour) -> None:
    """Run the lines that the person types, until `exit`."""
    echo(
        "\nThe board stays on: go on typing, `exit` ends it. Some ideas:\n"
        "  tenner why              its latest decisions, and its next steps\n"
        "  tenner alarms           open alarms\n"
        "  tenner sim wifi down    what happens without a network?\n"
        "  tenner --help           all commands\n"
        "For a board of your own: `tenner flash --fast`, then `tenner setup`."
    )
    while (line := _read_line()) not in _LEAVE:
        if line:
            tour.type(line)


def _read_line() -> str:
    return input("$ ").strip()
