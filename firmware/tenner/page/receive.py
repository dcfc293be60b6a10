# tenner page.receive: reads a request to a chip's page, and checks it.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio

from tenner import overlay
from tenner.page import access, guard, request
from tenner.page.request import Refused
from tenner.port.compat import const

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.page.connection import Connection
    from tenner.page.types import Guarded

#: A head and a body take at most so long: others wait for the memory.
_READ_S = const(3)
#: Bytes of a head and of a body that memory has room for.
_HEAD = const(3072)
_BODY = const(8192)
#: The headers that are read later.
_LATER = ("content-type", "if-none-match", "accept-encoding", "last-event-id")


async def receive(page: "Guarded", connection: "Connection") -> None:
    """Read a request into `connection.request`, which stays None without any."""
    try:
        await _receive(page, connection)
    except MemoryError:
        # Not once more: a part of it is read.
        raise Refused(503, "too little memory: try again", "Retry-After: 3")


async def _receive(page, connection):
    found = await _limited(request.read_head(connection, _HEAD), "head")
    if found is None:
        return
    is_sealed = found.path == request.SEALED
    if is_sealed:
        size = request.body_size(found, request.MAX_SEALED)
    else:
        guard.check(found, False, [name.lower() for name in page.app.config.get("web.hosts")])
        sessions = access.of(page)
        found.find_session(sessions)
        access.keep(page, sessions)
        size = request.body_size(found, _BODY if found.is_paired else request.MAX_CODE)
    await _limited(request.read_body(connection, found, size), "body")
    if is_sealed:
        found.headers = {}
        connection.request = found
        return
    found.headers = {name: found.headers[name] for name in _LATER if name in found.headers}
    connection.request = found


async def _limited(reading, what):
    try:
        return await asyncio.wait_for(overlay.start(reading), _READ_S)
    except asyncio.TimeoutError:
        raise Refused(408, "the %s did not come in time" % what)
