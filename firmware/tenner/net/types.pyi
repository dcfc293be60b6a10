# tenner net.types: the parts that modules of net share; for type checking only.
# MIT license; Copyright (c) 2026 the tenner authors

from typing import Protocol

class Holder(Protocol):
    """A client that holds a TLS session: net.http.Http, or the MQTT channel."""

    @property
    def yields(self) -> bool: ...
    async def give_way(self, to_poll: bool) -> None: ...

class Exchange(Protocol):
    """An HTTP client while it sends a request."""

    work: tuple | None
    body_bytes: int
    buffer: bytearray

    async def write(self, chunk: bytes | memoryview, last: bool) -> None: ...
