# tenner channels.commands: finds the command that a person types, in every channel; /help.
# MIT license; Copyright (c) 2026 the tenner authors
"""
A command is a row in the `commands.tsv` of its feature's folder; no other file names it. The row's
module has

    command(app, name, args, channel, chat)

which returns the answer, or a coroutine that returns it.
"""

from tenner.overlay_loader import module
from tenner.port.compat import const
from tenner.port.package import folders, packed
from tenner.store import files, suggest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterator
    from typing import Any

    from tenner.agent.message_queue import Message
    from tenner.types import Reporting

#: `command module rank meaning`, separated by tabs; /help begins with the lowest rank. A build
#: joins these tables in the one of this folder.
_OWN = "commands.tsv"
_FIRST = const(20)  # lower ranks are in /help, the others in /help all
_WRITE = const("Write to me in your own words, or send:")
_HELLO = (
    "I am %s, the agent on your board. I watch its sensors, and write when something matters. "
    "Write to me in your own words, for example:\n"
    "What is the temperature?\n"
    "Tell me when the room is above 28 degrees.\n"
    "Or send /sensors, /alarms or /help."
)
_LONGEST = const(32)  # letters of a name that are repeated


async def run(app: "Reporting", message: "Message") -> "str | Coroutine[Any, Any, str]":
    """Return the answer to a message that is a command, or a coroutine that returns it."""
    name, _, args = message.text.strip().partition(" ")
    name = name[1:].split("@")[0].lower()
    if name == "start":
        return _HELLO % app.config.get("name")
    if name in ("help", "?", ""):
        return _help(args.strip() == "all")
    for row in rows():
        if row[0] == name:
            found = module("tenner." + row[1])
            return found.command(app, name, args.strip(), message.channel, message.chat)
    guess = suggest.nearest(name, [row[0] for row in rows()])
    hint = "Did you mean /%s?" % guess if guess else "/help all lists all commands."
    return "There is no command /%s. %s" % (name[:_LONGEST], hint)


def _help(is_all):
    found = [row for row in sorted(rows(), key=_rank) if is_all or _rank(row) < _FIRST]
    lines = ["/%s - %s" % (row[0], row[3]) for row in found]
    return "\n".join(lines if is_all else [_WRITE] + lines + ["/help all - the others"])


def rows() -> "Iterator[list[str]]":
    """Yield [command, module, rank, meaning] of each command."""
    for place in _tables():
        for line in files.lines_of(files.blocks(*place)):
            row = line.decode().split("\t")
            if row[2] != "rank":
                yield row


def _tables():
    for _, place, _ in packed("channels/" + _OWN):
        yield place
    yield from folders(_OWN)


def _rank(row):
    return int(row[2])
