# tenner tools.paths: which file a path means, and whether a tool may touch it.
# MIT license; Copyright (c) 2026 the tenner authors
"""
Tools live in /workspace, wherever that is on the disk. A path is first put straight as text, then links
are followed, and only what the path really leads to counts. Settings, state, certificates and code are
out of reach whatever the owner's patterns say.
"""

import os

from tenner.port.compat import const
from tenner.store import files
from tenner.tools import ToolError

_MAX_PATH = const(128)
_RESERVE = const(16384)  # what stays free for sessions, logs and the outbox
_MAX_FILE = const(262144)

#: The name of the workspace for the model and the owner.
HOME = "/workspace"

#: Folders of the workspace whose files the board would run.
CODE = ("tools", "drivers")

# Files, and a folder, of the workspace that later turns go by.
_GUIDES = const(
    " heartbeat.md cron.json sensors.json agents.md soul.md identity.md user.md tools.md memory/memory.md "
)


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
    kind = ctx.turn.kind
    name = relative(ctx.workspace, real).lower()
    if (name == "heartbeat.md" and kind in ("heartbeat", "spawn")) or (
        name == "cron.json" and kind != "person"
    ):
        raise ToolError(
            "a %s turn cannot change the schedule in %s: tell the owner" % (kind, path)
        )
    return real


def check_room(path, size):
    """Refuse a file of `size` bytes at the real path `path` that is too big, or would fill the disk."""
    if size > _MAX_FILE:
        raise ToolError("a file may have %d bytes, not %d: use several" % (_MAX_FILE, size))
    if hasattr(os, "statvfs"):
        while not files.is_folder(path):
            path = path.rpartition("/")[0] or "/"
        stat = os.statvfs(path)
        free = stat[1] * stat[4]
        if size + _RESERVE > free:
            raise ToolError(
                "no room: %d bytes are free, %d must stay so: delete files first"
                % (free, _RESERVE)
            )


# --- what tools have as their own `check` and `approval`


def check_read(args, ctx):
    args["path"] = relative(ctx.workspace, readable_file(ctx, args["path"]))


def check_write(args, ctx):
    args["path"] = relative(ctx.workspace, writable_file(ctx, args["path"]))


def code_approval(args, ctx):
    """
    Ask before a file is changed that the board would run; in a turn that has read what strangers wrote, also
    before one that later turns go by. Those that write_paths lists are not asked about.
    """
    name = relative(ctx.workspace, writable_file(ctx, args["path"]))
    first = name.split("/")[0].lower()
    why = "the board would run as code"
    if first not in CODE:
        if not ctx.turn.outside or (first != "skills" and " %s " % name.lower() not in _GUIDES):
            return None
        why = "later turns go by, now that text from outside was read"
    for pattern in ctx.config.get("write_paths"):
        if matches(pattern, name) or matches(pattern, HOME + "/" + name):
            return None
    return "change %s, which %s" % (name, why)


# --- paths


def resolve(workspace, path, write=False, extra_patterns=(), root=None):
    """
    Return the real path of `path` or raise ToolError. `workspace` is the folder that /workspace stands
    for; `extra_patterns` are absolute paths outside of it that are allowed too: `*` is any
    part of a name, `**` anything. `root` is the agent's folder when it is not beside the workspace.
    """
    _check_text(path, write)
    full = _straight(path if path.startswith("/") else HOME + "/" + path)
    if _below(HOME, full):
        full = workspace + full[len(HOME) :]
    real = _real(full)
    home = _real(workspace)
    if _below(home, real):
        return real
    if _private(home.rpartition("/")[0], real) or (
        root is not None and _private(_real(root), real)
    ):
        raise ToolError('"%s" is private: settings, state and code are out of reach' % path)
    for pattern in extra_patterns:
        # A listed path may be a link, as all of /sys/class is; a link in the workspace may not.
        if matches(pattern, real):
            return real
        if not _below(workspace, full) and matches(pattern, full):
            return full
    raise ToolError('"%s" is outside %s: use a path in it, such as notes/today.md' % (path, HOME))


def relative(workspace, real):
    """Return how the model calls a resolved path: `notes/a.md`, or the whole path outside."""
    home = _real(workspace)
    return real[len(home) + 1 :] or "." if _below(home, real) else real


def matches(pattern, text):
    """Does a pattern with `*` (within a name) and `**` (anything) match the whole of `text`?"""
    head, star, rest = pattern.partition("*")
    if not star:
        return pattern == text
    if not text.startswith(head):
        return False
    deep = rest[:1] == "*"
    for end in range(len(head), len(text) + 1):
        if matches(rest[1:] if deep else rest, text[end:]):
            return True
        if not deep and text[end : end + 1] == "/":
            return False
    return False


def _check_text(path, write):
    """Refuse what some file system reads in another way than it looks."""
    if not path or len(path.encode()) > _MAX_PATH:
        raise ToolError("a path has 1 to %d bytes, as notes/today.md" % _MAX_PATH)
    if "\\" in path or any(ord(letter) < 0x20 or ord(letter) == 0x7F for letter in path):
        raise ToolError("backslash or control character in the path: use / and plain names")
    for part in path.split("/"):
        if part not in (".", "..") and part[-1:] in (".", " "):
            raise ToolError('"%s" ends in a dot or space: use a plain name' % part)
    if write and path.lower().endswith(files.TEMP):
        raise ToolError("names in .tmp are for unfinished files: use another ending")


def _straight(path):
    """Take `.`, `..` and doubled slashes out of an absolute path."""
    parts = []
    for part in path.split("/"):
        if part == "..":
            parts = parts[:-1]
        elif part and part != ".":
            parts.append(part)
    return "/" + "/".join(parts)


def _below(folder, path):
    return path == folder or path.startswith("/" if folder == "/" else folder + "/")


def _private(root, real):
    """Is it one of the agent's own files in `root`, in any case of letters?"""
    root = root.lower().rstrip("/")
    real = real.lower()
    if not _below(root, real):
        return False
    first = real[len(root) + 1 :].split("/")[0]
    return first in ("state", "certs", "lib") or first.startswith("config.json")


def _real(path):
    """Follow the links in `path`, whose end need not exist."""
    if hasattr(os, "path"):
        return os.path.realpath(path)
    # MicroPython cannot read a link, but going to a folder and asking where that is follows it.
    here = os.getcwd()
    folder, rest = path, ""
    try:
        while not files.is_folder(folder or "/"):
            folder, _, name = folder.rpartition("/")
            rest = "/" + name + rest
        os.chdir(folder or "/")
        real = os.getcwd().rstrip("/")
    finally:
        os.chdir(here)
    if rest:
        # What is left is a file or nothing yet; if it is a link, where it leads is unknown.
        for entry in os.ilistdir(real or "/"):
            if entry[0] == rest.split("/")[1] and entry[1] not in (0x4000, 0x8000):
                raise ToolError('"%s" is a link to a file: use the file itself' % path)
    return real + rest or "/"
