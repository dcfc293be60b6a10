# tenner tools.write_file: a whole file, old or new after a power cut, never half.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.store import files
from tenner.tools.paths import check_room, code_approval, relative, writable_file

ASK_ANYWAY = True


def check(args, ctx):
    args["path"] = relative(ctx.workspace, writable_file(ctx, args["path"]))


def approval(args, ctx):
    return code_approval(args, ctx, "write")


async def run(args, ctx):
    path = writable_file(ctx, args["path"])
    size = len(args["content"].encode())
    check_room(ctx.workspace + "/", size)
    files.make_dirs(path.rsplit("/", 1)[0])
    files.write_atomic(path, args["content"])
    return "wrote %s, %d bytes" % (args["path"], size)
