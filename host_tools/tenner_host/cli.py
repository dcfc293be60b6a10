"""The command `tenner`: a table of sub-commands, each imported only when it runs."""

from __future__ import annotations

import contextlib
import difflib
import errno
import importlib
import os
import select
import sys
from collections.abc import Iterator
from typing import Any, NoReturn

import rich_click as click
from click.shell_completion import CompletionItem

from tenner_host import tenner_version
from tenner_host.errors import CommandError, of_this_computer

# name -> (module, its click command, one line of help); a dot begins a module of this package.
# Only the command's own run imports the module, so that `tenner --help` is quick and a missing
# optional package affects only its user.
COMMANDS: dict[str, tuple[str, str, str]] = {
    "boards": (".boards", "boards", "Which boards are connected, and which tenner knows."),
    "flash": (".flash.command", "flash", "Put MicroPython on a board; its files stay."),
    "setup": (".setup.command", "setup", "Set up Wi-Fi, model, Telegram and time, each tested."),
    "sync": (".sync.command", "sync", "Update the board's code, and the workspace both ways."),
    "release": (
        ".release.command",
        "release",
        "Make a signed update file for your boards.",
    ),
    "update": (".update.command", "update", "Update boards without a cable, one of them first."),
    "deploy": (".linux.command", "deploy", "Put the agent on a Linux board, over ssh."),
    "sd-card": (".linux.sdcard", "sd_card", "Put Wi-Fi and your ssh key on a Linux board's card."),
    "pull": (".sync.copies", "pull", "Fetch the agent's changes into workspace/."),
    "backup": (".sync.copies", "backup", "Save the board's own files as a zip file."),
    "restore": (".sync.copies", "restore", "Put a backup back on the board."),
    "repl": (".console.run", "repl", "The board's console, live."),
    "sensors": (
        ".sensors.command",
        "sensors",
        "Show the readings over time, as a table or a picture.",
    ),
    "logs": (
        ".console.commands",
        "logs",
        "Show the agent's latest runs; -f follows its log live.",
    ),
    "chat": (".console.commands", "chat", "Talk to the agent."),
    "heartbeat": (
        ".console.commands",
        "heartbeat",
        "Show its tasks; run them, or try out a file.",
    ),
    "alarms": (".console.commands", "alarms", "Show, acknowledge, mute or explain alarms."),
    "why": (".console.commands", "why", "Show its latest decisions and the next steps."),
    "status": (".console.commands", "status", "How it's doing: uptime, heap, network, clock."),
    "run": (".console.run", "run", "Run a Python file on the board."),
    "mount": (".console.run", "mount", "Let the board use a folder of this computer."),
    "web": (".web.command", "web", "Open a page in your browser: state, chat, files, plots."),
    "fleet": (".fleet", "fleet", "See all boards on one MQTT broker."),
    "doctor": (
        ".doctor.command",
        "doctor",
        "Find the fault, from the cable to the model.",
    ),
    "skills": (".skills", "skills", "List, show and install the skills that ship."),
    "mcp": (".mcp", "mcp", "Test an MCP server, and list its tools."),
    "try": ("tenner_sim.tour", "try_", "A virtual board and a tour of five steps; no account."),
    "sim": (
        "tenner_sim.command",
        "sim",
        "Run virtual boards: change their signals, break their parts.",
    ),
    "completion": (
        ".completion",
        "completion",
        "Complete commands and options in your shell.",
    ),
}

#: How `tenner --help` groups them.
GROUPS = {
    "A board": ["boards", "flash", "deploy", "sd-card", "setup", "sync", "doctor"],
    "The agent on it": [
        *("chat", "status", "why", "heartbeat", "alarms", "sensors", "logs", "web"),
    ],
    "Its files": ["pull", "backup", "restore"],
    "Its Python": ["repl", "run", "mount"],
    "Its extensions": ["skills", "mcp"],
    "Simulator and fleet": ["try", "sim", "fleet"],
    "Updates": ["release", "update"],
    "This command": ["completion"],
}
click.rich_click.COMMAND_GROUPS = {
    "tenner": [{"name": title, "commands": names} for title, names in GROUPS.items()]
}

_EXIT_CODES = """\b
Exit status: 0 done; 1 refused or failed; 2 wrong usage; 3 no port; 4 the board is silent or
went away; 5 a file changed on both sides; 6 an image is not right; 7 a check of doctor failed;
130 stopped by Ctrl-C."""


_STOPPED = 130


class LazyGroup(click.RichGroup):
    """A group whose sub-commands come from COMMANDS."""

    _listing = False

    def main(self, *args: Any, **kwargs: Any) -> Any:
        if "_TENNER_COMPLETE" in os.environ:
            # It adds a shell to those that click completes.
            importlib.import_module("tenner_host.completion")
        try:
            return super().main(*args, **kwargs)
        except SystemExit as end:
            if not _flushed():
                raise SystemExit(end.code or 1) from None
            raise

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted({*super().list_commands(ctx), *COMMANDS})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return super().get_command(ctx, cmd_name)
        module, attribute, about = COMMANDS[cmd_name]
        if self._listing:
            return click.Command(cmd_name, help=about, short_help=about)
        command: click.Command = getattr(importlib.import_module(module, "tenner_host"), attribute)
        return command

    @contextlib.contextmanager
    def _for_a_list(self) -> Iterator[None]:
        """The names and their help lines suffice, so import no module."""
        self._listing = True
        try:
            yield
        finally:
            self._listing = False

    def format_help(self, ctx: Any, formatter: Any) -> None:
        with self._for_a_list():
            super().format_help(ctx, formatter)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        with self._for_a_list():
            return super().shell_complete(ctx, incomplete)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError:
            near = difflib.get_close_matches(args[0], self.list_commands(ctx), 1)
            if not near or args[0].startswith("-"):
                raise
            raise click.UsageError(
                f"There is no command {args[0]!r}. Did you mean {near[0]!r}?", ctx
            ) from None

    def invoke(self, ctx: click.Context) -> object:
        from tenner_host.output import hold_json, print_json_error, show_json

        words = list(ctx.args)
        hold_json(ctx)
        try:
            try:
                result = super().invoke(ctx)
            except SystemExit:
                show_json(ctx)
                raise
            show_json(ctx)
            return result
        except CommandError as exc:
            _end(ctx, exc)
        except OSError as exc:
            if exc.errno == errno.EPIPE and _is_left():
                # `head` has all that it wanted.
                ctx.exit(1)
            _end(ctx, of_this_computer(exc))
        except click.UsageError as exc:
            # An option before it may be the wrong one.
            wanted = "--json" in words
            print_json_error(ctx, exc.format_message(), exc.exit_code, wanted)
            raise
        except (KeyboardInterrupt, click.Abort):
            print("\ntenner: stopped", file=sys.stderr)
            print_json_error(ctx, "stopped", _STOPPED)
            ctx.exit(_STOPPED)


def _is_left() -> bool:
    """Has the reader of the output gone away?"""
    try:
        poll = select.poll()
        poll.register(sys.stdout.fileno(), 0)
    except (AttributeError, OSError, ValueError):
        return True  # Windows cannot tell
    return bool(poll.poll(0))


def _flushed() -> bool:
    """Write the rest of the output; False if nobody takes it, and then nothing follows."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        # Or Python would complain of it at its end.
        sys.stdout = open(os.devnull, "w")
        return False
    return True


def _end(ctx: click.Context, exc: CommandError) -> NoReturn:
    from tenner_host.output import print_json_error, visible

    # One line that a script can read; click would draw a box around it.
    print(f"tenner: {visible(exc.message)}", file=sys.stderr)
    print_json_error(ctx, exc.message, exc.exit_code)
    ctx.exit(exc.exit_code)


@click.group(
    cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]}, epilog=_EXIT_CODES
)
@click.version_option(tenner_version(), prog_name="tenner")
def main() -> None:
    """An AI agent that lives on a ten-dollar board: flash it, set it up, talk to it.

    Start with `tenner flash --fast` and `tenner setup`. For a Linux board, it's `tenner deploy
    USER@HOST`. No board yet? `tenner try` shows it on a virtual one. If something doesn't work,
    `tenner doctor` finds out why.
    """


if __name__ == "__main__":
    main(prog_name="tenner")
