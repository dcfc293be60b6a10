# tenner tools.append_file: appends lines to a file, for notes.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.store import files
from tenner.tools import paths

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.tools.types import ToolContext

ASK_ANYWAY = True
check = paths.check_write
approval = paths.code_approval


async def run(args: dict, ctx: "ToolContext") -> str:
    path = paths.writable_file(ctx, args["path"])
    data = args["text"].encode()
    if data[-1:] != b"\n":
        data += b"\n"
    size = max(files.size(path), 0)
    if size and not _ends_a_line(path, size):
        data = b"\n" + data
    paths.check_room(ctx.workspace + "/", size + len(data))
    files.make_dirs(path.rsplit("/", 1)[0])
    with files.open_own(path, "ab") as file:
        files.put(file, data)
        files.sync(file)
    return "added %d bytes to %s, now %d" % (len(data), args["path"], size + len(data))


def _ends_a_line(path, size):
    for block in files.blocks(path, size - 1, size):
        return block == b"\n"
