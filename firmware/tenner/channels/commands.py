# tenner channels.commands: finds the command that a person types, in every channel; /help.
# MIT license; Copyright (c) 2026 the tenner authors
"""
A command is a row in the `commands.tsv` of its feature's folder; no other file names it. The row's
module has

    command(app, name, args, channel, chat)

which returns the answer, or a coroutine that returns it.
"""

from tenner.channels.command_table import rank, rows
from tenner.overlay_loader import module
from tenner.port.compat import const
from tenner.store import attachments, suggest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Coroutine
    from typing import Any

    from tenner.agent.message_queue import Message
    from tenner.types import Reporting

_FIRST = const(20)  # lower ranks are in /help, the others in /help all
_WRITE = const("Write to me in your own words, or send:")
_HELLO = const(
    "I am %s, the agent on your board. I watch its sensors, and write when something matters. "
)
_TAP = const("Write to me in your own words, or tap an example. /help lists the commands.")
_EXAMPLES = const(
    "Write to me in your own words, for example:\n"
    "What is the temperature?\n"
    "Tell me when the room is above 28 degrees.\n"
    "Or send /sensors, /alarms or /help."
)
# Labels and data of channels.telegram.menu.
_BUTTONS = (
    ("What is the temperature?", "s:temperature"),
    ("Open alarms", "s:alarms"),
    ("Chart of today", "s:chart"),
)
_LONGEST = const(32)  # letters of a name that are repeated


async def run(app: "Reporting", message: "Message") -> "str | Coroutine[Any, Any, str]":
    """Return the answer to a message that is a command, or a coroutine that returns it."""
    name, _, args = message.text.strip().partition(" ")
    name = name[1:].split("@")[0].lower()
    if name == "start":
        return _start(app, message)
    if name in ("help", "?", ""):
        return _help(args.strip() == "all")
    for row in rows():
        if row[0] == name:
            found = module("tenner." + row[1])
            return found.command(app, name, args.strip(), message.channel, message.chat)
    guess = suggest.nearest(name, [row[0] for row in rows()])
    hint = "Did you mean /%s?" % guess if guess else "/help all lists all commands."
    return "There is no command /%s. %s" % (name[:_LONGEST], hint)


def _start(app: "Reporting", message):
    hello = _HELLO % app.config.get("name")
    if message.channel != "telegram":
        return hello + _EXAMPLES
    text = attachments.menu(hello + _TAP, _BUTTONS)
    app.deliver(message.channel + attachments.SUFFIX, message.chat, text)
    return ""


def _help(is_all):
    found = [row for row in rows() if is_all or rank(row) < _FIRST]
    lines = ["/%s - %s" % (row[0], row[3]) for row in found]
    return "\n".join(lines if is_all else [_WRITE] + lines + ["/help all - the others"])
