# tenner tools.paths: which file a path means, and whether a tool may touch it.
# MIT license; Copyright (c) 2026 the tenner authors
"""
Tools live in /workspace, wherever that is on the disk. A path is first put straight as text, then links
are followed, and only what the path really leads to counts. Settings, state, certificates, keys and code are
out of reach wherever they lie, whatever the owner's patterns say. Nothing but regular files is opened.
"""

import os

from tenner.log import visible
from tenner.port.compat import const
from tenner.store import files
from tenner.tools.errors import ToolError
from tenner.tools.patterns import matches

_MAX_PATH = const(128)
_RESERVE = const(16384)  # what stays free for sessions, logs and the outbox
_MAX_FILE = const(262144)

#: The name of the workspace for the model and the owner.
HOME = "/workspace"

#: Folders of the workspace whose files the board would run.
CODE = ("tools", "drivers")

# Files of the workspace that later turns go by, and folders that are in the workspace for something.
_GUIDES = const(
    " heartbeat.md cron.json sensors.json agents.md soul.md identity.md user.md tools.md memory/memory.md "
)
_FOLDERS = const(" tools drivers skills memory exec ")

# Keys of others, wherever they are.
_KEYS = const(" .ssh .gnupg shadow shadow- gshadow gshadow- ")
# And by its first line, as of OpenSSH, OpenSSL and GnuPG: so many bytes are looked at.
_HEAD = const(128)
_KEY_ENDINGS = (".key", ".pem", "_key", ".p12", ".pfx")


def readable(ctx, path):
    """Return the real path of an existing file or folder that may be read."""
    real = _resolved(ctx, path, False, "read_paths")
    if not files.exists(real):
        raise ToolError('there is no "%s": list_dir shows what there is' % path)
    return real


def readable_file(ctx, path):
    real = readable(ctx, path)
    if files.is_folder(real):
        raise ToolError('"%s" is a folder: use list_dir' % path)
    _check_regular(real, path)
    for block in files.blocks(real, 0, min(files.size(real), _HEAD)):
        if b"-----BEGIN" in block and b"PRIVATE KEY" in block:
            raise ToolError('"%s" is a private key: it stays out of reach' % path)
    return real


def writable_file(ctx, path):
    """Return the real path of a file that may be written, now and in this kind of turn."""
    real = _resolved(ctx, path, True, "write_paths")
    if files.is_folder(real):
        raise ToolError('"%s" is a folder: name a file in it' % path)
    if files.exists(real):
        _check_regular(real, path)
    kind = ctx.turn.kind
    name = relative(ctx.workspace, real).lower()
    if " %s " % name in _FOLDERS:
        raise ToolError('"%s" is to be a folder: name a file in it' % path)
    above = name.rpartition("/")[0]
    while above:
        # A folder by that name would be in the way of the file.
        if " %s " % above in _GUIDES:
            raise ToolError('"%s" is a file, not a folder: use another name' % above)
        above = above.rpartition("/")[0]
    if (name == "heartbeat.md" and kind in ("heartbeat", "spawn")) or (
        name == "cron.json" and kind != "person"
    ):
        raise ToolError(
            "a %s turn cannot change the schedule in %s: tell the owner" % (kind, path)
        )
    return real


def _resolved(ctx, path, write, patterns):
    port = ctx.port
    return resolve(ctx.workspace, path, write, ctx.config.get(patterns), port.root, port.private())


def _check_regular(real, path):
    if not files.is_file(real):
        raise ToolError('"%s" is no regular file' % path)


def is_guide(name):
    """Is it, as `relative` returns it, a file that turns go by?"""
    name = name.lower()
    return name.startswith("skills/") or " %s " % name in _GUIDES


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


# --- what tools have as their own `subjects`, `check` and `approval`


def subjects(args):
    return (args["path"],)


def check_read(args, ctx):
    args["path"] = relative(ctx.workspace, readable_file(ctx, args["path"]))


def check_write(args, ctx):
    args["path"] = relative(ctx.workspace, writable_file(ctx, args["path"]))


def code_approval(args, ctx):
    """
    Ask before a file is changed that the board would run; in a turn that has read what strangers wrote, also
    before one that later turns go by. Those that write_paths lists are not asked about.
    """
    real = writable_file(ctx, args["path"])
    name = relative(ctx.workspace, real)
    first = name.split("/")[0].lower()
    why = "the board would run as code"
    if first not in CODE:
        if not ctx.turn.untrusted_input or not is_guide(name):
            return None
        why = "later turns go by, now that text from outside was read"
    for pattern in ctx.config.get("write_paths"):
        if matches(pattern, name) or matches(pattern, HOME + "/" + name):
            return None
    return _change(args, files.size(real), "change %s, which %s" % (name, why))


def _change(args, size, what):
    """Return the question, and below it what would come into a file of `size` bytes, and go."""
    if "old" in args:
        content = "- %s\n+ %s" % (
            args["old"].replace("\n", "\n- "),
            args["new"].replace("\n", "\n+ "),
        )
    elif "text" in args:
        content = args["text"]
        what += ", %d bytes at its end" % len(content.encode())
    else:
        content = args["content"]
        what += ", %d bytes" % len(content.encode())
    return what + (" (a new file)" if size < 0 else " (it has %d now)" % size), content


# --- paths


def resolve(workspace, path, write=False, extra_patterns=(), root=None, private=()):
    """
    Return the real path of `path` or raise ToolError. `workspace` is the folder that /workspace stands
    for; `extra_patterns` are absolute paths outside of it that are allowed too: `*` is any
    part of a name, `**` anything. `root` is the agent's folder when it is not beside the workspace; `private` are
    files and folders elsewhere that are the agent's.
    """
    _check_text(path, write)
    named = full = _straight(path if path.startswith("/") else HOME + "/" + path)
    if _below(HOME, full):
        full = workspace + full[len(HOME) :]
    real = _real(full)
    home = _real(workspace)
    inside = _below(home, real)
    roots = [home.rpartition("/")[0]]
    if root is not None:
        roots.append(_real(root))
    # In a workspace that has the settings in it, or the whole home folder, they are as private.
    if (
        # Beside /workspace there are the settings, as the model knows it, whatever the machine has there.
        named.lower().startswith("/config.json")
        or any(_is_own(one, real) and not _is_own(one, home) for one in roots)
        or any(_is_at(_real(place), real, home) for place in private)
        or _is_key(real, inside)
    ):
        raise ToolError('"%s" is private: settings, state and code are out of reach' % path)
    if inside:
        return real
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


def _check_text(path, write):
    """Refuse what some file system reads in another way than it looks."""
    if not path or len(path.encode()) > _MAX_PATH:
        raise ToolError("a path has 1 to %d bytes, as notes/today.md" % _MAX_PATH)
    if "\\" in path or visible(path) != path:
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


def _is_own(root, real):
    """Is it one of the agent's own files in `root`, in any case of letters?"""
    root = root.lower().rstrip("/")
    real = real.lower()
    if not _below(root, real):
        return False
    first, more, _ = real[len(root) + 1 :].partition("/")
    # A module beside the settings goes before one in /lib, and pins.csv says which pins are nobody's.
    code = not more and (first.rpartition(".")[2] in ("py", "mpy") or first == "pins.csv")
    return first in ("state", "certs", "lib", "run") or first.startswith("config.json") or code


def _is_at(place, real, home):
    """Does a path lie at or below a private place, which is not one that the whole workspace is in?"""
    return _below(place.lower(), real.lower()) and not _below(place, home)


def _is_key(real, inside):
    """Is it a key of somebody's, by its name, or does it show the memory of a process? In the workspace, a key's folder."""
    parts = real.lower().split("/")
    for part in parts:
        if " %s " % part in _KEYS and (part[0] == "." or not inside):
            return True
    if inside:
        return False
    for ending in _KEY_ENDINGS:
        if parts[-1].endswith(ending):
            return True
    return parts[1] == "proc" and len(parts) > 3 and (parts[2].isdigit() or "self" in parts[2])


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
