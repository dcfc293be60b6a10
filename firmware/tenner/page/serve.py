# tenner page.serve: serves one request of a chip's page.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio

from tenner import overlay
from tenner.page import receive, routes, sealed
from tenner.page.connection import Connection, Gone
from tenner.page.request import SEALED, Refused
from tenner.port.compat import const

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from tenner.page.types import Served


#: Others wait for the memory: a slow browser is cut off.
_SEND_S = const(4)
_ALL_S = const(30)


async def serve(page: "Served", stream: "Any", first: "list[bytes]") -> None:
    """Read a request that begins with `first[0]`, and answer it."""
    connection = Connection(stream, stream)
    connection.send_s = _SEND_S
    connection.first = first[0]
    first[0] = b""
    try:
        await _answer(page, connection, stream)
    except (Gone, asyncio.TimeoutError):
        pass
    except Exception as error:
        await connection.answer_fault(error)


async def _answer(page, connection, stream):
    try:
        await overlay.step("PAGE", receive.receive, page, connection)
        request = connection.request
        if request is None:
            return
        if request.path == SEALED:
            await overlay.step("REMOTE", sealed.answer, page, connection, stream)
        else:
            await asyncio.wait_for(overlay.start(_view(page, connection, request)), _ALL_S)
    except Refused as error:
        if connection.is_answered or not connection.has_spoken:
            return
        await connection.answer(error.status, {"error": error.sentence}, *error.headers)
        if connection.request is None:
            await connection.drop_rest()


async def _view(page, connection, request):
    await overlay.step("VIEW", routes.check, request)
    await overlay.step("VIEW", routes.answer, page, connection, request)
