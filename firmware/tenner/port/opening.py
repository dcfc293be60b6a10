# tenner port.opening: connections of asyncio that leave nothing behind when they fail.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.port.cpython import Stream
    from tenner.port.types import TlsContext


class _Context:
    """Wraps an SSLContext and remembers the session that it makes."""

    session = None

    def __init__(self, context):
        self._context = context

    def wrap_socket(self, sock, **options):
        self.session = self._context.wrap_socket(sock, **options)
        return self.session


async def open_connection(
    host: str, port: int, ssl: "TlsContext | None" = None, server_hostname: str | None = None
) -> "tuple[Stream, Stream]":
    """
    Do the same as asyncio.open_connection, which closes nothing when it is cancelled or fails: its
    task stays in asyncio's queue for long, and with it the memory of the TLS session, which the
    next connection needs.
    """
    context = _Context(ssl) if ssl else None
    try:
        return await asyncio.open_connection(  # type: ignore[return-value]
            host, port, ssl=context, server_hostname=server_hostname
        )
    except BaseException:
        if context and context.session:
            context.session.close()
        raise
