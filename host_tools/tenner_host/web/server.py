"""The server: a site, which is an API and a page, on a socket of 127.0.0.1."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Generic, Protocol, TypeVar

import uvicorn
from starlette.applications import Starlette
from starlette.routing import BaseRoute

from tenner_host.errors import CommandError
from tenner_host.web import guard
from tenner_host.web.access import Access

HOST = "127.0.0.1"
#: Open connections, streams of events among them.
_CONNECTIONS = 100

Announce = Callable[[str], None]


class Site(Protocol):
    """An API and a page, which a server serves."""

    @property
    def routes(self) -> Sequence[BaseRoute]:
        """The routes of the API and of the page."""

    def start(self, loop: asyncio.AbstractEventLoop) -> None:
        """Begin to work, in the loop."""

    def end(self) -> None:
        """End the streams of events, in the loop."""

    def stop(self) -> None:
        """End the work, which may take a moment."""


S = TypeVar("S", bound=Site)


def listen(port: int) -> socket.socket:
    """The socket, so that its number is known before the first request; 0: any free port."""
    try:
        return socket.create_server((HOST, port))
    except OSError as exc:
        raise CommandError(
            f"{HOST}:{port} cannot be used ({exc.strerror or exc}); name another with --listen"
        ) from exc


class Server(Generic[S]):
    """Serves the site that `make` returns; `run` ends when it is stopped. `announce` gets each
    link that pairs a browser, `announce_guest` each for a guest; None: there are no guests."""

    def __init__(
        self,
        sock: socket.socket,
        make: Callable[[Access], S],
        announce: Announce,
        announce_guest: Announce | None = None,
    ) -> None:
        self.port: int = sock.getsockname()[1]
        self.address = f"http://{HOST}:{self.port}/"
        self._socket = sock
        self.access = Access(
            self._linked(announce),
            announce_guest=self._linked(announce_guest) if announce_guest else None,
        )
        self.site = make(self.access)
        config = uvicorn.Config(
            guard.Guard(self._app(), self.port),
            http=guard.BoundedProtocol,
            ws="none",
            interface="asgi3",
            lifespan="on",
            loop="asyncio",
            log_level="critical",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            limit_concurrency=_CONNECTIONS,
            h11_max_incomplete_event_size=16 * 1024,
            timeout_graceful_shutdown=1,
        )
        self._uvicorn = _Uvicorn(config, self.site)

    def _linked(self, announce: Announce) -> Announce:
        return lambda code: announce(f"{self.address}#code={code}")

    def _app(self) -> Starlette:
        @contextlib.asynccontextmanager
        async def lifespan(app: Starlette) -> AsyncIterator[None]:
            self.site.start(asyncio.get_running_loop())
            try:
                yield
            finally:
                await asyncio.to_thread(self.site.stop)

        app = Starlette(routes=self.site.routes, lifespan=lifespan)
        app.router.redirect_slashes = False
        return app

    def run(self) -> None:
        self._uvicorn.run(sockets=[self._socket])

    def stop(self) -> None:
        """Ask `run` to end; from any thread."""
        self._uvicorn.should_exit = True


class _Uvicorn(uvicorn.Server):
    """Ends the streams of events before it waits for the open connections."""

    def __init__(self, config: uvicorn.Config, site: Site) -> None:
        super().__init__(config)
        self._site = site

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._site.end()
        await super().shutdown(sockets)
