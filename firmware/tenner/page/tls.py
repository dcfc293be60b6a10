# tenner page.tls: the TLS context of the page's server, and its connections on CPython.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio
import socket
from binascii import a2b_base64

from tenner.log import log
from tenner.port.compat import const
from tenner.store import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from ssl import SSLContext
    from typing import Any

    from tenner.page.types import Accepting

try:
    import ssl
except ImportError:
    # Some builds of MicroPython have the built-in module without its wrapper.
    import tls as ssl

_MAX_BYTES = const(16384)


_AGAIN_S = 1
#: CPython has more in them than MicroPython, whose types are checked.
_asyncio: "Any" = asyncio
_socket: "Any" = socket


def context(path: "Callable[[str], str]", cert: str, key: str) -> "SSLContext | Sockets | None":
    """
    Return a context with the certificate and the key of these files, None without any; OSError or
    ValueError with a sentence for a mistake. `path(name)` is a file below the agent's folder.
    """
    if not cert and not key:
        return None
    if not cert or not key:
        raise ValueError("web.cert and web.key go together")
    places = [name if name[:1] == "/" else path(name) for name in (cert, key)]
    for place in places:
        if not files.is_file(place):
            raise ValueError("%s of web.cert or web.key is no file" % place)
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        if hasattr(made, "minimum_version"):
            made.load_cert_chain(*places)
        else:
            # MicroPython's reader knows DER only, and takes one certificate.
            made.load_cert_chain(_der(places[0], b"CERTIFICATE"), _der(places[1], b"PRIVATE KEY"))
            made = Sockets(made)
    except (OSError, ValueError) as error:
        raise ValueError("web.cert and web.key are no certificate and its key: %s" % error)
    return made


class Sockets:
    """
    Wraps the context of MicroPython, whose TLS session does not close its socket once the
    handshake has failed.
    """

    def __init__(self, context: "SSLContext") -> None:
        self._context = context
        # The socket below each open session.
        self._below = {}

    def wrap_socket(self, sock: "Any", **options: "Any") -> "Any":
        made = self._context.wrap_socket(sock, **options)
        self._below[id(made)] = sock
        return made

    def close(self, session: "Any") -> None:
        """Close the socket of a session that is closed."""
        sock = self._below.pop(id(session), None)
        if sock is not None:
            sock.close()


def _der(place, kind):
    """Return the bytes of a file in DER, or of the first block of this kind in one in PEM."""
    with open(place, "rb") as file:
        data = file.read(_MAX_BYTES)
    for block in data.split(b"-----BEGIN ")[1:]:
        name, _, text = block.partition(b"-----")
        if name.endswith(kind):
            lines = text.split(b"-----END ")[0].split(b"\n")
            return a2b_base64(b"".join([line.strip() for line in lines]))
    return data


# `asyncio.start_server` of CPython makes the handshake before it passes a connection on: strangers
# who begin none would fill the table of open files, and the agent could not open its own. Here a
# connection counts from its first packet.
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
