"""The command `tenner`: a table of sub-commands, each imported only when it is called."""

from __future__ import annotations

import importlib
import sys

import rich_click as click

from host_tools import tenner_version
from host_tools.errors import CommandError

# name -> (module of host_tools, its click command, one line of help). The module stays unread until its
# command is called, so that `tenner --help` is quick and a missing optional package hurts only its user.
COMMANDS: dict[str, tuple[str, str, str]] = {
    "boards": ("boards", "boards", "What is connected, and which boards are known."),
    "flash": ("flash.command", "flash", "MicroPython onto a board; its files are kept."),
    "setup": ("setup.command", "setup", "Wi-Fi, model, Telegram and time, tried on the board."),
    "sync": ("sync.command", "sync", "Code to the board, workspace both ways."),
    "pull": ("sync.copies", "pull", "What the agent wrote, into workspace/."),
    "backup": ("sync.copies", "backup", "The board's own files into a zip file."),
    "restore": ("sync.copies", "restore", "The files of a backup onto the board."),
    "repl": ("talk.run", "repl", "The board's console, live."),
    "logs": ("talk.commands", "logs", "What the agent did; -f: what it says now."),
    "chat": ("talk.commands", "chat", "Talk to the agent."),
    "heartbeat": ("talk.commands", "heartbeat", "The heartbeat's gates; --now runs it."),
    "why": ("talk.commands", "why", "Its latest decisions, and what is next."),
    "status": ("talk.commands", "status", "Uptime, heap, network, clock."),
    "run": ("talk.run", "run", "Run a Python file on the board."),
    "mount": ("talk.run", "mount", "Show the board a folder of this computer."),
    "fleet": ("fleet", "fleet", "Many boards on one MQTT broker."),
    "doctor": (
        "doctor.command",
        "doctor",
        "From the cable to the model: what is wrong, what to do.",
    ),
    "sim": ("sim", "sim", "Virtual boards: start one, change its world, break its devices."),
}


class LazyGroup(click.RichGroup):
    """A group whose sub-commands come from COMMANDS."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted({*super().list_commands(ctx), *COMMANDS})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return super().get_command(ctx, cmd_name)
        module, attribute, _ = COMMANDS[cmd_name]
        command: click.Command = getattr(
            importlib.import_module(f"host_tools.{module}"), attribute
        )
        return command

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except CommandError as exc:
            # One line that a script can read; click would draw a box round it.
            print(f"tenner: {exc.message}", file=sys.stderr)
            ctx.exit(exc.exit_code)
        except (KeyboardInterrupt, click.Abort):
            print("\ntenner: stopped", file=sys.stderr)
            ctx.exit(130)


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(tenner_version(), prog_name="tenner")
def main() -> None:
    """An AI agent that lives on a ten-dollar board: flash it, sync it, talk to it."""


if __name__ == "__main__":
    main()
