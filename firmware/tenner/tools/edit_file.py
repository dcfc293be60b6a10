# tenner tools.edit_file: replaces one piece of a file of any size, in constant memory.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.store import files
from tenner.tools import paths
from tenner.tools.errors import ToolError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.tools.types import ToolContext

ASK_ANYWAY = True
approval = paths.code_approval


def check(args: dict, ctx: "ToolContext") -> None:
    if not args["old"]:
        raise ToolError("edit_file: old is empty: give the text to replace, or use append_file")
    paths.readable_file(ctx, args["path"])
    paths.check_write(args, ctx)


async def run(args: dict, ctx: "ToolContext") -> str:
    path = paths.writable_file(ctx, args["path"])
    old = args["old"].encode()
    new = args["new"].encode()
    size = files.size(path)
    count, place = _find(path, size, old)
    if not count:
        raise ToolError("the text is not in %s: read it and copy the piece exactly" % args["path"])
    if count > 1:
        raise ToolError(
            "the text is in %s %d times: give more of the text around it" % (args["path"], count)
        )
    paths.check_room(path, size + len(new) - len(old))
    files.write_atomic(path, _edited(path, size, place, len(old), new), files.WORKSPACE_TEMP)
    return "changed %s, now %d bytes" % (args["path"], size + len(new) - len(old))


def _find(path, size, piece):
    """Return (number of places, overlapping ones too, and the offset of the first)."""
    count = 0
    place = -1
    kept = b""
    start = 0
    for block in files.blocks(path, 0, size):
        # Keep the last bytes of the previous block: a match may straddle the border.
        window = kept + block
        found = window.find(piece)
        while found >= 0:
            count += 1
            if place < 0:
                place = start + found
            found = window.find(piece, found + 1)
        keep = min(len(piece) - 1, len(window))
        kept = window[len(window) - keep :]
        start += len(window) - keep
    return count, place


def _edited(path, size, place, length, new):
    yield from files.blocks(path, 0, place)
    yield new
    yield from files.blocks(path, place + length, size)
