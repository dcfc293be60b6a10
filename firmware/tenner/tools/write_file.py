# tenner tools.write_file: writes a complete file; after a power cut it is the old or the new one.
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
    size = len(args["content"].encode())
    paths.check_room(ctx.workspace + "/", size)
    files.make_dirs(path.rsplit("/", 1)[0])
    files.write_atomic(path, args["content"], files.WORKSPACE_TEMP)
    return "wrote %s, %d bytes" % (args["path"], size)
