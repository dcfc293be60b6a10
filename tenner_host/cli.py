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
    "boards": (".boards", "boards", "Connected boards, and all known ones."),
    "flash": (".flash.command", "flash", "Flash MicroPython; keeps the board's files."),
    "setup": (".setup.command", "setup", "Wi-Fi, model, Telegram and time, tried on the board."),
    "sync": (".sync.command", "sync", "Code to the board, workspace both ways."),
    "release": (
        ".release.command",
        "release",
        "A signed file that boards update themselves from.",
    ),
    "update": (".update.command", "update", "A release onto boards without a cable, one first."),
    "deploy": (".linux.command", "deploy", "The agent onto a Linux board, over ssh."),
    "sd-card": (".linux.sdcard", "sd_card", "Wi-Fi and your ssh key onto a Linux board's card."),
    "pull": (".sync.copies", "pull", "The agent's changes, into workspace/."),
    "backup": (".sync.copies", "backup", "The board's own files into a zip file."),
    "restore": (".sync.copies", "restore", "The files of a backup onto the board."),
    "repl": (".console.run", "repl", "The board's console, live."),
    "sensors": (
        ".sensors.command",
        "sensors",
        "Its sensors' readings over time, as a table or a picture.",
    ),
    "logs": (".console.commands", "logs", "The agent's log; -f: follow it live."),
    "chat": (".console.commands", "chat", "Talk to the agent."),
    "heartbeat": (
        ".console.commands",
        "heartbeat",
        "Its tasks; --now runs it, --check and --replay try a file.",
    ),
    "alarms": (".console.commands", "alarms", "Open alarms: acknowledge, mute, explain."),
    "why": (".console.commands", "why", "Its latest decisions, and its next steps."),
    "status": (".console.commands", "status", "Uptime, heap, network, clock."),
    "run": (".console.run", "run", "Run a Python file on the board."),
    "mount": (".console.run", "mount", "Show the board a folder of this computer."),
    "web": (".web.command", "web", "A page for your browser: state, chat, files, plots."),
    "fleet": (".fleet", "fleet", "Many boards on one MQTT broker."),
    "doctor": (
        ".doctor.command",
        "doctor",
        "From the cable to the model: faults and remedies.",
    ),
    "skills": (".skills", "skills", "Skills that ship: list, show, into the workspace."),
    "mcp": (".mcp", "mcp", "MCP servers: does one answer, and with which tools?"),
    "sim": (
        "tenner_sim.command",
        "sim",
        "Virtual boards: start one, change its signals, break its devices.",
    ),
    "completion": (
        ".completion",
        "completion",
        "Completion of commands and options in your shell.",
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
    "Simulator and fleet": ["sim", "fleet"],
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
        words = list(ctx.args)
        try:
            return super().invoke(ctx)
        except CommandError as exc:
            _end(ctx, exc)
        except OSError as exc:
            if exc.errno == errno.EPIPE and _is_left():
                # `head` has all that it wanted.
                ctx.exit(1)
            _end(ctx, of_this_computer(exc))
        except click.UsageError as exc:
            from tenner_host.output import print_json_error

            # An option before it may be the wrong one.
            wanted = "--json" in words
            print_json_error(ctx, exc.format_message(), exc.exit_code, wanted)
            raise
        except (KeyboardInterrupt, click.Abort):
            from tenner_host.output import print_json_error

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
    """An AI agent that lives on a ten-dollar board: flash it, sync it, talk to it.

    Begin with `tenner flash --fast` and `tenner setup`; for a Linux board with
    `tenner deploy USER@HOST`; without a board with `tenner sim start`. `tenner doctor` finds
    faults.
    """


if __name__ == "__main__":
    main(prog_name="tenner")
