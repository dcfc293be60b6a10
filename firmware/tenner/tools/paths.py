# tenner tools.paths: resolves a path to a file, and checks whether a tool may touch it.
# MIT license; Copyright (c) 2026 the tenner authors
"""
Tools live in /workspace, at any place of the disk. A path is first normalized as text, then links
are followed, and only the resulting target counts. Settings, state, certificates, keys and code
are out of reach at every place, and no pattern of the owner opens them. Tools open only regular
files.
"""

import os

from tenner.log import is_odd, visible
from tenner.net.json import strict
from tenner.port.compat import const
from tenner.sensors import reading
from tenner.store import files
from tenner.tools.errors import ToolError
from tenner.tools.patterns import matches
from tenner.tools.wording import named

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from tenner.tools.types import ToolContext


_MAX_PATH = const(128)
_RESERVE = const(16384)  # bytes kept free for sessions, logs and the outbox
_MAX_FILE = const(262144)
_MAX_SENSORS = const(4096)  # bytes of SENSORS.json

#: The name of the workspace for the model and the owner.
HOME = "/workspace"

#: Folders of the workspace whose files the board would run.
CODE = ("tools", "drivers")

# Files of the workspace that guide later turns, and folders with a purpose.
_GUIDES = const(
    " heartbeat.md cron.json sensors.json agents.md soul.md identity.md user.md tools.md "
    "memory/memory.md "
)
_FOLDERS = const(" tools drivers skills memory exec ")

# Private keys and password files, at any place.
_KEYS = const(" .ssh .gnupg shadow shadow- gshadow gshadow- ")
# Bytes to search for the first line of a key, as of OpenSSH, OpenSSL and GnuPG.
_HEAD = const(128)
_KEY_ENDINGS = (".key", ".pem", "_key", ".p12", ".pfx")


def readable(ctx: "ToolContext", path: str) -> str:
    """Return the real path of an existing file or folder that may be read."""
    real = _resolved(ctx, path, False, "read_paths")
    if not files.exists(real):
        raise ToolError('there is no "%s": list_dir shows the names there' % path)
    return real


def readable_file(ctx: "ToolContext", path: str) -> str:
    real = readable(ctx, path)
    if files.is_folder(real):
        raise ToolError('"%s" is a folder: use list_dir' % path)
    _check_regular(real, path)
    for block in files.blocks(real, 0, min(files.size(real), _HEAD)):
        if b"-----BEGIN" in block and b"PRIVATE KEY" in block:
            raise ToolError('"%s" is a private key: it stays out of reach' % path)
    return real


def writable_file(ctx: "ToolContext", path: str) -> str:
    """Return the real path of a file that this kind of turn may write now."""
    real = _resolved(ctx, path, True, "write_paths")
    if files.is_folder(real):
        raise ToolError('"%s" is a folder: name a file in it' % path)
    if files.exists(real):
        _check_regular(real, path)
    elif is_odd(relative(ctx.workspace, real)):
        raise ToolError("%s: a new name may not have quotes or braces" % path)
    kind = ctx.turn.kind
    name = relative(ctx.workspace, real).lower()
    if " %s " % name in _FOLDERS:
        raise ToolError('"%s" is to be a folder: name a file in it' % path)
    above = name.rpartition("/")[0]
    while above:
        # A folder by that name would block the file.
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


def is_guide(name: str) -> bool:
    """Return whether `name`, a result of `relative`, is a file that guides turns."""
    name = name.lower()
    return name.startswith("skills/") or " %s " % name in _GUIDES


def check_room(path: str, size: int) -> None:
    """Raise ToolError if a file of `size` bytes at the real path `path` is too big, or would fill
    the disk."""
    if size > _MAX_FILE:
        raise ToolError("a file may have %d bytes, not %d: use several" % (_MAX_FILE, size))
    check_free(path, size)


def check_free(path: str, size: int) -> None:
    """Raise ToolError if `size` bytes more at the real path `path` would fill the disk."""
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


# --- `subjects`, `check` and `approval` of the file tools


def subjects(args: dict) -> "Sequence[str]":
    return (args["path"],)


def check_read(args: dict, ctx: "ToolContext") -> None:
    args["path"] = relative(ctx.workspace, readable_file(ctx, args["path"]))


def check_write(args: dict, ctx: "ToolContext") -> None:
    real = writable_file(ctx, args["path"])
    args["path"] = relative(ctx.workspace, real)
    if args["path"].lower() == "sensors.json":
        _check_sensors(args, real)


def _check_sensors(args, real):
    """Raise ToolError if a call would give a sensor a name that looks like an order."""
    try:
        text = args.get("content", "")
        if "content" not in args and files.exists(real):
            text = files.read_text(real, _MAX_SENSORS)
        if "old" in args:
            text = text.replace(args["old"], args["new"])
        table = strict.loads((text + args.get("text", ""))[:_MAX_SENSORS])
    except (OSError, ValueError):
        return  # the tool, or the reader of the file, tells the mistake
    for name in table if isinstance(table, dict) else ():
        if is_odd(name):
            raise ToolError(reading.ODD % visible(name))


def code_approval(args: dict, ctx: "ToolContext") -> tuple[str, str, str] | None:
    """
    Return the exact action, its plain words and the content, for the question before a change.
    None without a question: for files in write_paths, and for those that are no code. A guide of
    later turns is like code in a turn that has read text of strangers.
    """
    real = writable_file(ctx, args["path"])
    name = relative(ctx.workspace, real)
    first = name.split("/")[0].lower()
    why = "which I would run as code"
    if first not in CODE:
        if not ctx.turn.untrusted_input or not is_guide(name):
            return None
        why = "which guides my later turns"
    for pattern in ctx.config.get("write_paths"):
        if matches(pattern, name) or matches(pattern, HOME + "/" + name):
            return None
    what, content = _change(args, files.size(real), "change %s" % name)
    return what, "change %s, %s" % (named("file", name), why), content


def _change(args, size, what):
    """Return the exact action, and the new and the removed text of a file of `size` bytes."""
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


def resolve(
    workspace: str,
    path: str,
    write: bool = False,
    extra_patterns: "Sequence[str]" = (),
    root: str | None = None,
    private: "Sequence[str]" = (),
) -> str:
    """
    Return the real path of `path` or raise ToolError. `workspace` is the real folder of
    /workspace; `extra_patterns` are allowed absolute paths outside of it: `*` is any part of a
    name, `**` anything. `root` is the agent's folder when it is not beside the workspace;
    `private` are files and folders of the agent elsewhere.
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
    # The settings stay private also in a workspace that contains them, or is the entire home
    # folder.
    if (
        # The model knows the settings beside /workspace, also where the machine has another
        # folder.
        named.lower().startswith("/config.json")
        or any(_is_own(one, real) and not _is_own(one, home) for one in roots)
        or any(_is_at(_real(place), real, home) for place in private)
        or _is_key(real, inside)
    ):
        raise ToolError('"%s" is private: settings, state and code are out of reach' % path)
    if inside:
        return real
    for pattern in extra_patterns:
        # A listed path may be a link, as in /sys/class; a link in the workspace may not.
        if matches(pattern, real):
            return real
        if not _below(workspace, full) and matches(pattern, full):
            return full
    raise ToolError('"%s" is outside %s: use a path in it, such as notes/today.md' % (path, HOME))


def relative(workspace: str, real: str) -> str:
    """Return the model's name of a resolved path: `notes/a.md`, or the full path outside."""
    home = _real(workspace)
    return real[len(home) + 1 :] or "." if _below(home, real) else real


def _check_text(path, write):
    """Raise ToolError for a path that some file system reads differently."""
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
    """Remove `.`, `..` and doubled slashes from an absolute path."""
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
    """Return whether `real` is one of the agent's own files in `root`, in upper or lower case."""
    root = root.lower().rstrip("/")
    real = real.lower()
    if not _below(root, real):
        return False
    first, more, _ = real[len(root) + 1 :].partition("/")
    # A module beside the settings overrides one in /lib, and pins.csv reserves pins.
    code = not more and (first.rpartition(".")[2] in ("py", "mpy") or first == "pins.csv")
    return first in ("state", "certs", "lib", "run") or first.startswith("config.json") or code


def _is_at(place, real, home):
    """Return whether a path is at or below a private place, unless that contains the workspace."""
    return _below(place.lower(), real.lower()) and not _below(place, home)


def _is_key(real, inside):
    """Return whether a path is a private key by its name, or a process in /proc; in the workspace,
    a key's folder."""
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
    """Follow the links in `path`; its last parts may be missing."""
    if hasattr(os, "path"):
        return os.path.realpath(path)
    # MicroPython cannot read a link, but chdir and getcwd follow it.
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
        # The rest is a file or missing; the target of a link would be unknown.
        for entry in os.ilistdir(real or "/"):
            if entry[0] == rest.split("/")[1] and entry[1] not in (0x4000, 0x8000):
                raise ToolError('"%s" is a link to a file: use the file itself' % path)
    return real + rest or "/"
