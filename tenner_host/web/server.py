"""The server: the API, the page's files, and their socket on 127.0.0.1."""

from __future__ import annotations

import asyncio
import contextlib
import mimetypes
import socket
from collections.abc import AsyncIterator, Callable

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from tenner_host import page_files as files
from tenner_host.board.ports import Port
from tenner_host.errors import CommandError
from tenner_host.web import guard
from tenner_host.web.access import Access
from tenner_host.web.api import Api
from tenner_host.web.chat import Chat
from tenner_host.web.events import Events
from tenner_host.web.link import BoardLink
from tenner_host.web.state import State

HOST = "127.0.0.1"
#: Open connections, streams of events among them.
_CONNECTIONS = 100


def listen(port: int) -> socket.socket:
    """The socket, so that its number is known before the first request; 0: any free port."""
    try:
        return socket.create_server((HOST, port))
    except OSError as exc:
        raise CommandError(
            f"{HOST}:{port} cannot be used ({exc.strerror or exc}); name another with --listen"
        ) from exc


def page_files() -> dict[str, bytes]:
    """Every file of the page by its address."""
    found = {f"/{name}": data for name, data in files.page().items()}
    found["/"] = found["/index.html"]
    return found


class Server:
    """One page for one board; `run` serves until it is stopped."""

    def __init__(self, sock: socket.socket, port: Port, announce: Callable[[str], None]) -> None:
        self.port: int = sock.getsockname()[1]
        self.address = f"http://{HOST}:{self.port}/"
        self._socket = sock
        self.access = Access(lambda code: announce(f"{self.address}#code={code}"))
        events = Events()
        chat = Chat(events)
        # The link's thread starts after `self.state` is there.
        self.link = BoardLink(
            port, lambda said: self.state.heard(said), lambda *state: self.state.changed(*state)
        )
        self.state = State(self.link, self.access, events, chat)
        self.routes = Api(self.state).routes()
        self._events = events
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
        self._uvicorn = _Uvicorn(config, events)

    def _app(self) -> Starlette:
        @contextlib.asynccontextmanager
        async def lifespan(app: Starlette) -> AsyncIterator[None]:
            self._events.attach(asyncio.get_running_loop())
            self.link.start()
            try:
                yield
            finally:
                await asyncio.to_thread(self.link.stop)

        pages = [
            Route(path, _sends(path, data), methods=["GET"]) for path, data in page_files().items()
        ]
        app = Starlette(routes=[*self.routes, *pages], lifespan=lifespan)
        app.router.redirect_slashes = False
        return app

    def run(self) -> None:
        self._uvicorn.run(sockets=[self._socket])

    def stop(self) -> None:
        """Ask `run` to end; from any thread."""
        self._uvicorn.should_exit = True


class _Uvicorn(uvicorn.Server):
    """Ends the streams of events before it waits for the open connections."""

    def __init__(self, config: uvicorn.Config, events: Events) -> None:
        super().__init__(config)
        self._events = events

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._events.end()
        await super().shutdown(sockets)


def _sends(path: str, data: bytes) -> Callable[[Request], Response]:
    kind = mimetypes.guess_type("index.html" if path == "/" else path)[0] or "text/plain"
    if path.endswith(".js"):
        # Some systems know another name for it, which a browser then refuses.
        kind = "text/javascript"

    def send(request: Request) -> Response:
        return Response(data, media_type=kind, headers={"cache-control": "no-cache"})

    return send
