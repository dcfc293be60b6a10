# tenner remote.look: the files that the owner's computer may reach, their hashes and contents.
# MIT license; Copyright (c) 2026 the tenner authors

import json
from binascii import b2a_base64
from hashlib import sha256

from tenner.log import visible
from tenner.port.compat import const
from tenner.port.package import entries
from tenner.store import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from tenner.agent.parts import Base


_PART = const(1024)
#: Lines of the list that are sent together.
_FULL = const(800)

CONFIG = "/config.json"
_MAX_PATH = const(200)


async def list_files(app: "Base", reply: "Any", roots: "list[str]") -> "dict[str, Any]":
    """Send a line `size hash path` for each file below the roots."""
    lines = bytearray()
    waiting = list(roots)
    while waiting:
        path = waiting.pop()
        place = place_of(app, path)
        if files.is_folder(place):
            for name, kind in entries(place):
                if kind:
                    waiting.append("%s/%s" % (path, name))
        elif files.is_file(place):
            line = "%d %s %s\n" % (files.size(place), short_hash(place), json.dumps(path))
            lines += line.encode()
            if len(lines) > _FULL:
                await reply.send(lines)
                lines = bytearray()
    if lines:
        await reply.send(lines)
    return {}


async def read_file(app: "Base", reply: "Any", path: str, at: int) -> "dict[str, Any]":
    """Send a file from the offset `at`."""
    place = place_of(app, path)
    if not files.is_file(place):
        return {"absent": True}
    part = bytearray()
    for block in files.blocks(place, at):
        part += block
        if len(part) >= _PART:
            await reply.send(part)
            part = bytearray()
    if part:
        await reply.send(part)
    return {}


def short_hash(place: str) -> str:
    """Return the start of a file's SHA-256, as the computer keeps it."""
    return b2a_base64(digest(place)[:12]).decode().strip()


def digest(place: str) -> bytes:
    """Return the SHA-256 of a file."""
    found = sha256()
    for block in files.blocks(place):
        found.update(block)
    return found.digest()


def place_of(app: "Base", path: str) -> str:
    """Return the real path of a file that may be read; ValueError for another one."""
    parts = path.split("/")
    odd = parts[0] or "" in parts[1:] or "." in parts or ".." in parts
    if odd or len(parts) < 2 or visible(path) != path:
        raise ValueError("%s is no path of a file" % visible(path)[:80])
    if len(path) > _MAX_PATH:
        raise ValueError("the path %s... is too long" % path[:40])
    if parts[1] == "workspace":
        return app.workspace + path[len("/workspace") :]
    if parts[1] == "state":
        return app.state + path[len("/state") :]
    if path == CONFIG:
        return getattr(app.port, "settings", "") or app.port.path(path[1:])
    if parts[1] == "certs":
        return app.port.path(path[1:])
    raise ValueError("%s is out of reach over the air: it needs the cable" % path)
