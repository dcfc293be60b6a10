# tenner page.accept: the page's connections over TLS on CPython.
# MIT license; Copyright (c) 2026 the tenner authors
"""
`asyncio.start_server` of CPython makes the handshake before it passes a connection on: strangers
who begin none would fill the table of open files, and the agent could not open its own. Here a
connection counts from its first packet.
"""

import asyncio
import socket

from tenner.log import log

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ssl import SSLContext
    from typing import Any

    from tenner.page.types import Accepting


_AGAIN_S = 1
#: CPython has more in them than MicroPython, whose types are checked.
_asyncio: "Any" = asyncio
_socket: "Any" = socket


def listen(server: "Accepting", host: str, port: int, context: "SSLContext") -> asyncio.Task:
    """Open the port; return the task that takes its connections. OSError if it cannot be used."""
    listening = _socket.create_server((host, port), backlog=server.connections)
    listening.setblocking(False)
    return asyncio.create_task(_accept(server, listening, context))


async def _accept(server, listening, context):
    loop = _asyncio.get_running_loop()
    tasks = set()
    try:
        while True:
            try:
                sock, address = await loop.sock_accept(listening)
            except OSError as error:
                log("page", "a browser's connection could not be taken: %s" % error)
                await asyncio.sleep(_AGAIN_S)
                continue
            task = _asyncio.create_task(
                server.count(address[0], _handshake, server, sock, context)
            )
            # A task that nobody holds may be collected.
            tasks.add(task)
            task.add_done_callback(tasks.discard)
    finally:
        listening.close()


async def _handshake(stranger, server, sock, context):
    loop = _asyncio.get_running_loop()
    reader = _asyncio.StreamReader()
    protocol = _asyncio.StreamReaderProtocol(reader)
    try:
        transport, _ = await loop.connect_accepted_socket(
            lambda: protocol, sock, ssl=context, ssl_handshake_timeout=server.read_s
        )
    except (OSError, asyncio.CancelledError):
        sock.close()
        raise
    writer = _asyncio.StreamWriter(transport, protocol, reader, loop)
    await server.converse(stranger, reader, writer)
