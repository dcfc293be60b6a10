# tenner update.pinned: reads a release from the owner's computer, by its one certificate.
# MIT license; Copyright (c) 2026 the tenner authors
"""
`computer` is (address, port, path, certificate), from a sealed request. The computer has made the
certificate for this update (tenner_host/update/server.py). It has a name in place of the address,
and is so old that a board without a clock accepts it. No other certificate counts here, and this
one counts nowhere else.
"""

from tenner.net import tls
from tenner.net.tls import explain
from tenner.update.download import Download

TYPE_CHECKING = False
if TYPE_CHECKING:
    from socket import socket
    from ssl import SSLContext, SSLSocket
    from typing import Any

    from tenner.agent.parts import Parts
    from tenner.net.http import Http
    from tenner.net.tls_reserve import Reserve

_NAME = "tenner-update"


class Pinned:
    """Takes the place of the SSLContext where the memory of a session is reserved."""

    def __init__(self, reserve: "Reserve", context: "SSLContext") -> None:
        self._reserve = reserve
        self._context = context

    def wrap_socket(
        self,
        sock: "socket",
        server_hostname: "str | None" = None,
        do_handshake_on_connect: bool = True,
    ) -> "SSLSocket":
        return self._reserve.wrap_socket(
            sock, server_hostname, do_handshake_on_connect, self._context
        )


def client(app: "Parts", computer: "tuple[str, int, str, bytes]") -> "Http":
    """Return an HTTP client that trusts this computer alone; ValueError or OSError without a
    certificate."""
    made = tls.only(computer[3])
    semaphore = app.get("semaphore")
    context: Any = Pinned(semaphore.reserve, made) if semaphore.reserve else made
    http = app.http()
    http.tls = lambda: context

    async def resolve(host, port):
        return computer[0]

    http.resolve = resolve
    return http


def source(http: "Http", computer: "tuple[str, int, str, bytes]") -> Download:
    """Return the computer's release."""
    url = "https://%s:%d/%s" % (_NAME, computer[1], computer[2])
    return Download(http, url, "your computer at %s:%d" % computer[:2], _why)


def _why(error):
    if isinstance(error, ValueError) and "ertificate" in str(error):
        return "it shows another certificate than your computer named, so it is another one"
    return explain(error)
