# tenner tools.write_file: a whole file, old or new after a power cut, never half.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.store import files
from tenner.tools.paths import check_room, check_write, code_approval, writable_file

ASK_ANYWAY = True
check = check_write
approval = code_approval


async def run(args, ctx):
    path = writable_file(ctx, args["path"])
    size = len(args["content"].encode())
    check_room(ctx.workspace + "/", size)
    files.make_dirs(path.rsplit("/", 1)[0])
    files.write_atomic(path, args["content"])
    return "wrote %s, %d bytes" % (args["path"], size)
