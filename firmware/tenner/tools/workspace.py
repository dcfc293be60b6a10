# tenner tools.workspace: what all file tools share: the way in, room on the disk, protected files.
# MIT license; Copyright (c) 2026 the tenner authors

import os

from tenner.port.compat import const
from tenner.store import files
from tenner.tools import ToolError
from tenner.tools.paths import HOME, matches, relative, resolve

_RESERVE = const(16384)  # what stays free for sessions, logs and the outbox
_MAX_FILE = const(262144)

#: Folders whose files the board would run.
CODE = ("tools", "drivers")


def readable(ctx, path):
    """Return the real path of an existing file or folder that may be read."""
    real = resolve(ctx.workspace, path, False, ctx.config.get("read_paths"), ctx.port.root)
    if not files.exists(real):
        raise ToolError('there is no "%s": list_dir shows what there is' % path)
    return real


def readable_file(ctx, path):
    real = readable(ctx, path)
    if files.is_folder(real):
        raise ToolError('"%s" is a folder: use list_dir' % path)
    return real


def writable_file(ctx, path):
    """Return the real path of a file that may be written, now and in this kind of turn."""
    real = resolve(ctx.workspace, path, True, ctx.config.get("write_paths"), ctx.port.root)
    if files.is_folder(real):
        raise ToolError('"%s" is a folder: name a file in it' % path)
    kind = getattr(ctx.turn, "kind", "person")
    name = relative(ctx.workspace, real).lower()
    if (name == "heartbeat.md" and kind in ("heartbeat", "spawn")) or (
        name == "cron.json" and kind in ("heartbeat", "cron", "spawn")
    ):
        raise ToolError(
            "a %s turn cannot change the schedule in %s: tell the owner what you would change"
            % (kind, path)
        )
    return real


def check_room(path, size):
    """Refuse a file of `size` bytes that is too big, or would fill the disk."""
    if size > _MAX_FILE:
        raise ToolError("a file may have %d bytes, not %d: use several" % (_MAX_FILE, size))
    if not hasattr(os, "statvfs"):
        return
    stat = os.statvfs(path.rsplit("/", 1)[0] or "/")
    free = stat[1] * stat[4]
    if size + _RESERVE > free:
        raise ToolError(
            "no room: %d bytes are free and %d must stay so; delete or shorten files first"
            % (free, _RESERVE)
        )


def code_approval(args, ctx, verb):
    """Ask before a file is changed that the board would run, unless write_paths lists it."""
    name = relative(ctx.workspace, writable_file(ctx, args["path"]))
    if name.split("/")[0].lower() not in CODE:
        return None
    for pattern in ctx.config.get("write_paths"):
        if matches(pattern, name) or matches(pattern, HOME + "/" + name):
            return None
    return "%s %s, which the board would run as code" % (verb, name)
