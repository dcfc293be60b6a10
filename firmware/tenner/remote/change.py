# tenner remote.change: writes and removes files of the owner, each completely or not at all.
# MIT license; Copyright (c) 2026 the tenner authors
"""
`write` appends to a file beside the real one, and `commit` verifies it and renames it into place.
`old` is the hash of the file that the computer has seen, "-" for none, "*" for any: the agent runs
on, and its own changes are not overwritten.
"""

import os

from tenner.log import log
from tenner.port import open_port
from tenner.port.compat import const
from tenner.remote.look import CONFIG, digest, place_of, short_hash
from tenner.store import configload, files
from tenner.update.manifest import from_hex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from tenner.agent.parts import Base


_TEMP = files.WORKSPACE_TEMP
_SPARE = const(16384)
_FORBIDDEN = (13, 30)  # EACCES and EROFS, for which MicroPython has no name
_READ_ONLY = "the agent's service may only read it. Use ssh in place of --via"
#: Settings without which the board could not be reached any more, besides those of the channel.
_LIFELINES = ("wifi", "power")


def write(app: "Base", path: str, at: int, size: int, body: bytes) -> "dict[str, Any]":
    """Append the body at offset `at` of a file that will have `size` bytes."""
    place = _writable(app, path)
    temp = place + _TEMP
    if at == 0:
        space = os.statvfs(app.port.root + "/")
        if space[0] * space[3] < size + _SPARE:
            raise ValueError("the flash is too full for %s" % path)
        files.make_dirs(place.rpartition("/")[0])
    elif files.size(temp) != at:
        raise ValueError("a part of %s is missing" % path)
    if at + len(body) > size:
        raise ValueError("%s is longer than announced" % path)
    try:
        with open(temp, "ab" if at else "wb") as file:
            files.put(file, body)
    except OSError as error:
        why = _READ_ONLY if error.errno in _FORBIDDEN else str(error)
        raise OSError("%s cannot be written: %s" % (path, why))
    return {}


def commit(app: "Base", path: str, sha256: str, old: str, channel: str) -> "dict[str, Any]":
    """Let a complete file replace the old one; the settings of this channel stay."""
    place = _writable(app, path)
    temp = place + _TEMP
    try:
        if not files.is_file(temp) or digest(temp) != from_hex(sha256):
            raise ValueError("%s did not arrive complete" % path)
        if not _is_seen(place, old):
            return {"changed": True}
        if path == CONFIG:
            _check_settings(app, temp, place, channel)
    except ValueError:
        files.remove(temp)
        raise
    if files.exists(place) and hasattr(os, "chmod"):
        os.chmod(temp, os.stat(place)[0] & 0x1FF)
    files.rename(temp, place)
    log("remote", "wrote %s" % path)
    return {}


def remove(app: "Base", path: str, old: str) -> "dict[str, Any]":
    """Remove a file."""
    place = _writable(app, path)
    if path == CONFIG:
        raise ValueError("without its settings the board could not be reached any more")
    if not files.is_file(place):
        return {}
    if not _is_seen(place, old):
        return {"changed": True}
    os.remove(place)
    log("remote", "removed %s" % path)
    return {}


def _writable(app: "Base", path):
    place = place_of(app, path)
    if path.startswith("/state"):
        raise ValueError("%s is the agent's own: only the cable writes it" % path)
    if files.is_folder(place):
        raise ValueError("%s is a folder" % path)
    return place


def _is_seen(place, old):
    return old == "*" or old == (short_hash(place) if files.is_file(place) else "-")


def _check_settings(app: "Base", temp, place, channel):
    """Raise ValueError unless the agent uses all of the new settings, and stays in reach."""
    try:
        new = configload.check(temp)
    except ValueError as error:
        raise ValueError(str(error).replace(temp, CONFIG))
    # A wrong setting that is there now may be put right from afar.
    now = configload.load(place, {}, [])
    for name in _LIFELINES + (channel,):
        if new.section(name) != now.section(name):
            raise ValueError(
                (
                    "%s.* cannot be changed over the air, since a mistake there would cut the "
                    "board off: use the cable"
                )
                % name
            )
    try:
        open_port(app.port.root).configure(new)
    except ValueError as error:
        raise ValueError("%s: %s" % (CONFIG, error))
