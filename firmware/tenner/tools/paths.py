# tenner tools.paths: which file a path means, and whether a tool may touch it.
# MIT license; Copyright (c) 2026 the tenner authors
"""
Tools live in /workspace, wherever that is on the disk. A path is first put straight as text, then links
are followed, and only what the path really leads to counts. Settings, state, certificates and code are
out of reach whatever the owner's patterns say.
"""

import os

from tenner.port.compat import const
from tenner.tools import ToolError

_MAX_PATH = const(128)
_FOLDER = const(0x4000)
_FILE = const(0x8000)

#: The name of the workspace for the model and the owner.
HOME = "/workspace"

_NEVER = ("state", "certs", "lib")


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
    beside = home[: home.rfind("/")]
    private = _private(beside, real) or (root is not None and _private(_real(root), real))
    if private and not _below(home, real):
        raise ToolError('"%s" is private: settings, state and code are out of reach' % path)
    if _below(home, real):
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
    if _below(home, real):
        return real[len(home) + 1 :] or "."
    return real


def matches(pattern, text):
    """Does a pattern with `*` (within a name) and `**` (anything) match the whole of `text`?"""
    star = pattern.find("*")
    if star < 0:
        return pattern == text
    if pattern[:star] != text[:star]:
        return False
    deep = pattern[star : star + 2] == "**"
    rest = pattern[star + (2 if deep else 1) :]
    for end in range(star, len(text) + 1):
        if matches(rest, text[end:]):
            return True
        if not deep and text[end : end + 1] == "/":
            return False
    return False


def _check_text(path, write):
    """Refuse what some file system reads in another way than it looks."""
    if not path:
        raise ToolError("the path is empty: give one such as notes/today.md")
    if len(path.encode()) > _MAX_PATH:
        raise ToolError("the path is longer than %d bytes: use a shorter one" % _MAX_PATH)
    for letter in path:
        if letter == "\\" or ord(letter) < 0x20 or ord(letter) == 0x7F:
            raise ToolError("the path has a backslash or control character: use / and plain names")
    for part in path.split("/"):
        if part not in (".", "..") and part[-1:] in (".", " "):
            raise ToolError('"%s" ends in a dot or space: use a plain name' % part)
    if write and path.lower().endswith(".tmp"):
        raise ToolError("names ending in .tmp are for unfinished files: use another ending")


def _straight(path):
    """Take `.`, `..` and doubled slashes out of an absolute path."""
    parts = []
    for part in path.split("/"):
        if part == "..":
            if parts:
                parts.pop()
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
    return first in _NEVER or first.startswith("config.json")


def _real(path):
    """Follow the links in `path`, whose end need not exist."""
    if hasattr(os, "path"):
        return os.path.realpath(path)
    # MicroPython cannot read a link, but going to a folder and asking where that is follows it.
    here = os.getcwd()
    folder, rest = path, ""
    try:
        while True:
            try:
                os.chdir(folder or "/")
                break
            except OSError:
                cut = folder.rfind("/")
                if cut < 0:
                    raise ToolError('"%s" cannot be reached: check the path' % path)
                rest = folder[cut:] + rest
                folder = folder[:cut]
        real = os.getcwd().rstrip("/")
    finally:
        os.chdir(here)
    if rest:
        _refuse_link(real, rest.split("/")[1])
    return real + rest or "/"


def _refuse_link(folder, name):
    """What is left of a path is a file or nothing yet; if it is a link, where it leads is unknown."""
    for entry in os.ilistdir(folder or "/"):
        if entry[0] == name and entry[1] not in (_FOLDER, _FILE):
            raise ToolError('"%s" is a link to a file: use the file itself' % name)
