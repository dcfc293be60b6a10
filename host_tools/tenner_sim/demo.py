"""`make run`: a virtual board boots, its heartbeat finds a warm room, an alert reaches the phone.

Without an account everything runs on this machine: a stand-in for the model and one for Telegram,
behind HTTPS with a temporary authority. With LLM_BASE_URL, LLM_API_KEY, LLM_MODEL or
TELEGRAM_TOKEN in the environment the real services are used instead.
"""

from __future__ import annotations

import json
import os
import re
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

from rich.console import Console
from rich.panel import Panel
from rich.text import Text

from tenner_host import BOARDS
from tenner_host.build import BuildError, firmware_tree, read_tree
from tenner_host.ca_roots import RootError, root_of
from tenner_host.interpreters import InterpreterMissing
from tenner_sim.services import API_KEY, MODEL, OWNER, TOKEN, Services
from tenner_sim.vboard import BoardError, VirtualBoard

NAME = "demo"
HEAP = "512K"
COOL, WARM = 21.5, 31.5
QUESTION = "What does the TMP102 at 0x48 on i2c0 say?"

_STYLES = {
    "heartbeat": "magenta",
    "llm": "yellow",
    "tool": "green",
    "telegram": "cyan",
    "clock": "blue",
    "wifi": "blue",
    "agent": "yellow",
    "app": "red",
    "config": "red",
}
_OUTCOME = re.compile(r"heartbeat (ran|alarm \d+|failed)(?: \(\d+ in a row\))?: (.*)\n")
#: Marks around the agent's words, and the order for them, which `tenner` types.
_MARKS = re.compile("[\x1c-\x1f]")
_SILENT = ("", "/=frames")
_LINE = re.compile(r"^ *(\S+) (\w+) +(.*)$")


class DemoError(Exception):
    """The demo cannot continue; the text gives the reason and the remedy."""


class Screen:
    """The terminal: output of the board, the stand-ins and the demo itself."""

    def __init__(self, console: Console | None = None) -> None:
        self.console = console or Console(highlight=False, soft_wrap=True)
        self._lock = threading.Lock()
        #: Shows the lines that the board has printed by now.
        self.catch_up: Callable[[], None] = lambda: None

    def _print(self, *what: Any) -> None:
        with self._lock:
            self.console.print(*what)

    def say(self, text: str) -> None:
        """Print a step of the demo itself."""
        self.catch_up()
        self._print(Text(f"\n>> {text}", style="bold"))

    def board(self, line: str) -> None:
        """One line of the serial console."""
        found = _LINE.match(line)
        style = _STYLES.get(found[2], "") if found else "dim"
        text = Text.assemble(("   board | ", "dim"), (line, style))
        self._print(text)

    def service(self, line: str) -> None:
        """Print a line of a stand-in."""
        self._print(Text(f"  server | {line}", style="dim italic"))

    def message(self, who: str, text: str) -> None:
        """A bubble on the owner's phone."""
        self.catch_up()
        with self._lock:
            self.console.print(
                Panel(Text(text), title=who, title_align="left", width=74, style="cyan")
            )


class SerialView(threading.Thread):
    """Shows the board's output live."""

    def __init__(self, board: VirtualBoard, screen: Screen) -> None:
        super().__init__(daemon=True)
        self._board = board
        self._show = screen.board
        self._shown = 0
        self._lock = threading.Lock()
        self._done = threading.Event()
        screen.catch_up = self.catch_up

    def run(self) -> None:
        while not self._done.wait(0.05):
            self.catch_up()
        self.catch_up()

    def catch_up(self) -> None:
        """Show the complete lines that have arrived since the last call."""
        with self._lock:
            # Not splitlines(): programs at the console are told of answers by its control
            # characters.
            for line in self._board.serial_log.split("\n")[self._shown : -1]:
                plain = _MARKS.sub("", line).rstrip()
                if plain not in _SILENT:
                    self._show(plain)
                self._shown += 1

    def stop(self) -> None:
        self._done.set()
        self.join(2)


def room_settings(services: dict[str, Any]) -> dict[str, Any]:
    """Settings with the Wi-Fi of the virtual room and these services."""
    wifi = json.loads((BOARDS / "VIRTUAL" / "devices.json").read_text())["wifi"]
    return {"wifi": {"ssid": wifi["ssid"], "password": wifi["password"]}, **services}


def room_tree(config: dict[str, Any], runtime: str = "micropython") -> dict[str, bytes]:
    """The files of a board in that room: firmware, workspace and these settings."""
    tree = firmware_tree("VIRTUAL", mpy=runtime == "micropython")
    for name, data in read_tree(BOARDS / "VIRTUAL" / "workspace").items():
        tree[f"/workspace{name}"] = data
    tree["/config.json"] = json.dumps(config, indent=1).encode()
    return tree


class Settings:
    """The chosen services, and the board's files for them."""

    def __init__(self, environment: dict[str, str], services: Services) -> None:
        self.services = services
        base_url = environment.get("LLM_BASE_URL")
        key = environment.get("LLM_API_KEY")
        self.real_model = bool(base_url or key)
        self.real_telegram = bool(environment.get("TELEGRAM_TOKEN"))
        model = environment.get("LLM_MODEL")
        if self.real_model and not model:
            raise DemoError(
                "LLM_MODEL is missing: name the model, for example LLM_MODEL=gpt-4o-mini"
            )
        owner = environment.get("TELEGRAM_OWNER")
        if self.real_telegram and not owner:
            raise DemoError(
                "TELEGRAM_OWNER is missing: write to the bot @userinfobot, it answers with your id"
            )
        llm = {"base_url": services.model.base_url, "api_key": API_KEY, "model": MODEL}
        if self.real_model:
            llm = {
                "base_url": base_url or "https://api.openai.com/v1",
                "api_key": key or "",
                "model": model or "",
            }
        telegram = {"base_url": services.telegram.url, "token": TOKEN, "owner": str(OWNER)}
        if self.real_telegram:
            telegram = {
                "base_url": "https://api.telegram.org",
                "token": environment["TELEGRAM_TOKEN"],
                "owner": owner or "",
            }
        self.config = room_settings({"llm": llm, "telegram": {**telegram, "poll_s": 2}})

    def tree(self, runtime: str) -> dict[str, bytes]:
        """The board's files: those of the room, and trusted roots."""
        tree = room_tree(self.config, runtime)
        if not (self.real_model and self.real_telegram):
            tree["/certs/stand-in.der"] = self.services.ca_der
        if self.real_model and self.config["llm"]["base_url"].startswith("https://"):
            tree["/certs/model.der"] = root_of(self.config["llm"]["base_url"])
        if self.real_telegram:
            tree["/certs/telegram.der"] = root_of(self.config["telegram"]["base_url"])
        return tree


def show(screen: Screen, environment: dict[str, str]) -> None:
    """Run the whole demo; DemoError when an expected event does not occur."""
    runtime = environment.get("RUNTIME") or "micropython"
    if runtime not in ("micropython", "cpython"):
        raise DemoError(f"RUNTIME is micropython or cpython, not {runtime!r}")
    with Services(log=screen.service) as services:
        settings = Settings(environment, services)
        screen.say(f"A virtual $10 board, running tenner under {runtime}.")
        if settings.real_model:
            screen.say(f"Model: {settings.config['llm']['model']}, the real one.")
        else:
            screen.say("Model: an offline stand-in on this machine; it follows fixed rules.")
        if not settings.real_telegram:
            screen.say("Telegram: a stand-in on this machine; no account is needed.")
        screen.say("Its firmware is built for it now; the first time that takes some seconds.")
        with VirtualBoard(settings.tree(runtime), name=NAME, runtime=runtime, heap=HEAP) as board:
            view = SerialView(board, screen)
            view.start()
            try:
                _story(screen, board, services, settings)
                if environment.get("FOLLOW") not in (None, "", "0"):
                    _follow(screen, board, services, settings)
            finally:
                view.stop()


def _story(screen: Screen, board: VirtualBoard, services: Services, settings: Settings) -> None:
    patience_s = 60.0 if settings.real_model or settings.real_telegram else 25.0
    board.set("room.temperature", COOL)
    board.wait_for("no condition met", 30)
    # The screen shows complete lines only.
    board.wait_for("\n", 30)
    if services.model.requests:
        raise DemoError("the model was asked although no condition was met")
    screen.say(
        f"The room is at {COOL} °C: the condition is not met, the model is not asked, nothing is "
        "spent."
    )
    screen.say(f"Now somebody turns on the heating: room.temperature {COOL} -> {WARM}")
    board.set("room.temperature", WARM)
    _beat(board, patience_s)
    if settings.real_telegram:
        screen.say("The alert is on its way to your phone.")
        return
    sent = services.telegram.wait_sent(1, patience_s)
    screen.message("Telegram, to the owner", sent[0].text)
    if settings.real_model:
        return
    if f"{WARM:g}" not in sent[0].text:
        raise DemoError(f"the alert does not name {WARM:g} °C, which the sensor shows")
    board.set("room.temperature", 29.25)
    screen.say("The owner opens a window (29.25 °C) and asks:")
    screen.message("Telegram, from the owner", QUESTION)
    services.telegram.say(OWNER, QUESTION)
    answer = services.telegram.wait_sent(2, patience_s)[1].text
    screen.message("Telegram, to the owner", answer)
    if "29.25" not in answer:
        raise DemoError("the answer does not name 29.25 °C, which the sensor shows now")


def _beat(board: VirtualBoard, patience_s: float) -> None:
    """Wait for the end of the beat that the warm room starts; DemoError if it sends no alert."""
    deadline = time.monotonic() + patience_s
    while (found := _OUTCOME.search(board.serial_log)) is None:
        if time.monotonic() > deadline:
            raise DemoError("the heartbeat did not end; the board's last lines are above")
        time.sleep(0.05)
    if found[1] == "failed":
        raise DemoError(f"the heartbeat failed: {found[2].strip()}")
    if not found[2].startswith("message queued"):
        raise DemoError(f"the model was asked, and the heartbeat had {found[2].strip()}")


def _follow(screen: Screen, board: VirtualBoard, services: Services, settings: Settings) -> None:
    """Keep the board on, and show each message that its owner gets."""
    board.set("room.temperature", COOL)
    board.wait_for(" over", 30)
    screen.say(f"The room is at {COOL} °C again, so the alarm is over and the next one can begin.")
    commands = (
        (
            f".venv/bin/tenner sim set room.temperature 35 --sim {NAME}",
            "a warm room: an alert in 5 s",
        ),
        (f".venv/bin/tenner why --sim {NAME}", "its latest decisions"),
        (f".venv/bin/mpremote connect {board.pty}", "its REPL (Ctrl-C stops the agent)"),
        (f".venv/bin/tenner chat --sim {NAME} {QUESTION!r}", ""),
    )
    width = max(len(command) for command, about in commands if about)
    screen.say(
        "\n".join(
            (
                "The board stays on until you press Ctrl-C here. In another terminal:",
                *(f"   {command:{width}}   {about}".rstrip() for command, about in commands),
            )
        )
    )
    if settings.real_telegram:
        while True:
            time.sleep(1)
    shown = {sent.message_id: sent.text for sent in services.telegram.sent}
    before = dict(shown)
    while True:
        time.sleep(0.3)
        now = {sent.message_id: sent.text for sent in services.telegram.sent if not sent.deleted}
        for number, text in now.items():
            # A text that is still being written changes until then.
            if text == before.get(number) and text != shown.get(number):
                shown[number] = text
                screen.message("Telegram, to the owner", text)
        before = now


def _closing(screen: Screen) -> None:
    screen.say("What next?")
    screen.console.print(
        "   .venv/bin/tenner try              a tour: warm the room yourself, ask it\n"
        "   make run FOLLOW=1                 keep the board on: change its signals, talk to it\n"
        "   make run RUNTIME=cpython          the same firmware source under CPython\n"
        "   LLM_BASE_URL=... LLM_API_KEY=... LLM_MODEL=... make run      your own model\n"
        "   TELEGRAM_TOKEN=... TELEGRAM_OWNER=... make run               your own phone\n"
        "   README.md                         a board of your own\n"
    )


def main() -> int:
    screen = Screen()
    try:
        show(screen, dict(os.environ))
        _closing(screen)
        return 0
    except KeyboardInterrupt:
        print()
        return 0 if os.environ.get("FOLLOW") else 130
    except TimeoutError as exc:
        reason = f"an expected event did not occur: {exc}; the board's last lines are above"
    except (DemoError, BoardError, BuildError, InterpreterMissing, RootError, OSError) as exc:
        reason = str(exc)
    print(f"tenner: {reason}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
