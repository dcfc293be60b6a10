# tenner port.types: the parts from above that the platform uses; for type checking only.
# MIT license; Copyright (c) 2026 the tenner authors

from socket import socket
from ssl import SSLSocket
from typing import Protocol

class Sections(Protocol):
    """The owner's settings, as a store.config.Config."""

    def section(self, name: str) -> dict: ...

class TlsContext(Protocol):
    """Makes TLS sessions: an SSLContext, or net.tls_reserve.Reserve in its place."""

    def wrap_socket(
        self,
        sock: socket,
        *,
        server_hostname: str | None = None,
        do_handshake_on_connect: bool = True,
    ) -> SSLSocket: ...

class Confined(Protocol):
    """The command's user and folders in a sandbox of Linux."""

    workspace: str
    folder: str
    rooted: bool
    uid: int
    gid: int
