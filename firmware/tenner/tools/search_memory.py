# tenner tools.search_memory: finds the lines of notes in memory/ that have all words of a query.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.port.compat import const
from tenner.port.package import entries
from tenner.tools.errors import ToolError
from tenner.tools.untrusted import mark_untrusted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.tools.types import ToolContext

NEEDS = "file:memory"
LIMITS = {"query": (None, 100)}

_ROOM = const(900)  # characters of one answer
_LINE = const(256)  # bytes of a line to search, and to show, at a time


async def run(args: dict, ctx: "ToolContext") -> str:
    words = args["query"].lower().encode().split()
    if not words:
        raise ToolError("search_memory: query is empty: give a word or two")
    folder = ctx.workspace + "/memory"
    # No link: it could lead out of the workspace.
    names = [name for name, kind in entries(folder) if kind == "f" and name.endswith(".md")]
    if ("memory", "d") not in list(entries(ctx.workspace)):
        raise ToolError("search_memory: memory is a link: use a folder")
    found = []
    room = _ROOM
    # The names of notes are dates: newest first.
    for name in sorted(names, reverse=True):
        for number, line in _matches(folder + "/" + name, words):
            line = "memory/%s:%d: %s" % (name, number, line)
            room -= len(line) + 1
            if room < 0:
                found.append("[there is more: use rarer words, or read_file]")
                return mark_untrusted("notes", "\n".join(found))
            found.append(line)
    return mark_untrusted("notes", "\n".join(found)) if found else "no note has: " + args["query"]


def _matches(path, words):
    """Yield (line number, text) of the lines that have all the words."""
    number = 1
    with open(path, "rb") as file:
        while True:
            line = file.readline(_LINE)
            if not line:
                return
            lower = line.lower()
            if all(word in lower for word in words):
                yield number, _text(line.strip())
            if line[-1:] == b"\n":
                number += 1


def _text(line):
    try:
        return line.decode()
    except UnicodeError:  # a long line was cut inside a character
        return "".join([chr(byte) if byte < 128 else "?" for byte in line])
