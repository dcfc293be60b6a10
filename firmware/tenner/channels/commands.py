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
_LONGEST = const(32)  # letters of a name that are repeated


async def run(app: "Reporting", message: "Message") -> "str | Coroutine[Any, Any, str]":
    """Return the answer to a message that is a command, or a coroutine that returns it."""
    name, _, args = message.text.strip().partition(" ")
    name = name[1:].split("@")[0].lower()
    if name in ("help", "start", "?", ""):
        return "\n".join(["/%s - %s" % (row[0], row[3]) for row in sorted(rows(), key=_rank)])
    for row in rows():
        if row[0] == name:
            found = module("tenner." + row[1])
            return found.command(app, name, args.strip(), message.channel, message.chat)
    guess = suggest.nearest(name, [row[0] for row in rows()])
    hint = "Did you mean /%s?" % guess if guess else "/help lists all commands."
    return "There is no command /%s. %s" % (name[:_LONGEST], hint)


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
    for above in ("", "channels"):
        yield from folders(above, _OWN)


def _rank(row):
    return int(row[2])
