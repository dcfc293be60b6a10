# tenner tools.list_dir: what is in a folder.
# MIT license; Copyright (c) 2026 the tenner authors

import os

from tenner.store import files
from tenner.tools import ToolError
from tenner.tools.paths import relative
from tenner.tools.workspace import readable


def check(args, ctx):
    args["path"] = relative(ctx.workspace, readable(ctx, args.get("path") or "."))


async def run(args, ctx):
    folder = readable(ctx, args["path"])
    if not files.is_folder(folder):
        raise ToolError(
            "%s is a file of %d bytes: use read_file" % (args["path"], files.size(folder))
        )
    lines = []
    for name in sorted(os.listdir(folder)):
        path = folder + "/" + name
        if files.is_folder(path):
            lines.append(name + "/")
        else:
            lines.append("%s %d" % (name, files.size(path)))
    return "\n".join(lines) or "%s is empty" % args["path"]
