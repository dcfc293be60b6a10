# tenner tools.read_file: reads a part of a text file of any size.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.port.compat import const
from tenner.store import files
from tenner.tools import paths
from tenner.tools.errors import ToolError
from tenner.tools.untrusted import mark_untrusted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.tools.types import ToolContext

_DEFAULT_LIMIT = const(1000)

RESULT_CAP = 4200
LIMITS = {"limit": (1, 4000)}


def check(args: dict, ctx: "ToolContext") -> None:
    # Not at the import: paths are loaded after the check of the schema.
    paths.check_read(args, ctx)


async def run(args: dict, ctx: "ToolContext") -> str:
    path = paths.readable_file(ctx, args["path"])
    size = files.size(path)
    start = args.get("offset", 0)
    start = max(size + start, 0) if start < 0 else start
    if start > size or (start == size and size):
        raise ToolError("%s has %d bytes: offset %d is past its end" % (args["path"], size, start))
    with open(path, "rb") as file:
        file.seek(start)
        data = file.read(args.get("limit", _DEFAULT_LIMIT))
    head, tail, text = _decoded(data, 4 if start else 1)
    if text is None:
        raise ToolError("%s is not text (%d bytes)" % (args["path"], size))
    end = start + len(data) - tail
    start += head
    part = args["path"]
    if start or end < size:
        part += ", bytes %d to %d of %d" % (start, end, size)
        if end < size:
            part += "; read on with offset %d" % end
    # Files that guide turns are instructions, and changing them needs approval; all others are
    # only information.
    if paths.is_guide(args["path"]):
        return "[%s]\n%s" % (part, text)
    return mark_untrusted(part, text)


def _decoded(data, heads):
    """Return (head, tail, text): bytes of a cut character at either end, and the text between."""
    for head in range(heads):
        for tail in range(4):
            try:
                return head, tail, data[head : len(data) - tail].decode()
            except UnicodeError:
                continue
    return 0, 0, None
