# tenner tools.list_dir: lists a folder.
# MIT license; Copyright (c) 2026 the tenner authors

import os

from tenner.port.compat import const
from tenner.store import files
from tenner.tools import paths
from tenner.tools.errors import ToolError
from tenner.tools.untrusted import mark_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.tools.types import ToolContext

_ROOM = const(880)  # characters of names in one answer


def check(args: dict, ctx: "ToolContext") -> None:
    args["path"] = paths.relative(ctx.workspace, paths.readable(ctx, args.get("path") or "."))


async def run(args: dict, ctx: "ToolContext") -> str:
    folder = paths.readable(ctx, args["path"])
    if not files.is_folder(folder):
        raise ToolError(
            "%s is a file of %d bytes: use read_file" % (args["path"], files.size(folder))
        )
    after = args.get("after", "")
    names = sorted([name for name in os.listdir(folder) if name > after])
    if not names:
        return "nothing after %s" % after if after else "%s is empty" % args["path"]
    lines = []
    room = _ROOM
    for name in names:
        path = folder + "/" + name
        line = name + "/" if files.is_folder(path) else "%s %d" % (name, files.size(path))
        room -= len(line) + 1
        if room < 0 and lines:
            lines.append(
                '%d more: list_dir after "%s"' % (len(names) - len(lines), names[len(lines) - 1])
            )
            break
        lines.append(line)
    text = "\n".join(lines)
    if args["path"][0] == "/" or args["path"].split("/")[0] == "exec":
        names = ("",)  # none of these is the agent's own
    return mark_names(args["path"], names, text)
