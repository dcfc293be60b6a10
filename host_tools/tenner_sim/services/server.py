"""A small HTTPS server whose every byte can be planned: the base of the offline services.

`h11` parses requests strictly. The server frames replies by hand, because a fault plan must be
able to break framing, which any complete HTTP server exists to prevent.
"""

from __future__ import annotations

import asyncio
import ipaddress
import json
import socket
import ssl
import threading
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from tenner_sim import LIMIT_S

from .connection import Connection
from .faults import Plan, Step
from .loop import LoopThread
from .records import Call, Event, Request, Response
from .wire import Wire

_S = TypeVar("_S", bound="Service")
Log = Callable[[str], None]


class Service:
    """Base of the services: sockets, framing, records and fault plans.

    Everything public may be called from any thread.
    """

    #: After this long a request is refused whose body is shorter than its Content-Length.
    body_timeout_s = LIMIT_S

    def __init__(
        self,
        *,
        tls: ssl.SSLContext | None = None,
        loop: LoopThread | None = None,
        host: str = "localhost",
        port: int = 0,
        log: Log | None = None,
    ) -> None:
        self._tls = tls
        self._own_loop = loop is None
        self._loop = loop
        self._host = host
        self._port = port
        self._log = log
        self._plan = Plan()
        self._servers: list[asyncio.base_events.Server] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._open: set[Connection] = set()
        #: Guards all records, and is notified whenever one changes.
        self.changed = threading.Condition()
        self.requests: list[Request] = []
        #: Number of connections accepted, and of those open now.
        self.connections = 0
        #: One line per failed TLS handshake, in OpenSSL's words.
        self.tls_failures: list[str] = []
        #: Server name (SNI) each client asked for; None for none.
        self.server_names: list[str | None] = []
        #: TLS version of each finished handshake.
        self.tls_versions: list[str] = []
        #: Breaches of HTTP itself: unparsable requests, bodies of the wrong length.
        self.problems: list[str] = []
        if tls is not None:
            tls.sni_callback = self._note_server_name

    # --- life --------------------------------------------------------------------------------

    @property
    def url(self) -> str:
        """Base URL without a slash at its end."""
        return f"{'https' if self._tls else 'http'}://{self._host}:{self._port}"

    @property
    def port(self) -> int:
        return self._port

    @property
    def open_connections(self) -> int:
        with self.changed:
            return len(self._open)

    def start(self) -> None:
        """Listen at `host` if that is an address of this machine, else on loopback."""
        if self._loop is None:
            self._loop = LoopThread()
            self._loop.start()
        self._loop.run(self._listen())

    def stop(self) -> None:
        """Close everything; reset unfinished answers."""
        if self._loop is None or not self._loop.running:
            return
        self._loop.run(self._shut())
        if self._own_loop:
            self._loop.stop()
            self._loop = None

    def __enter__(self: _S) -> _S:
        self.start()
        return self

    def __exit__(self, *_exc: object) -> None:
        self.stop()

    # --- for tests ---------------------------------------------------------------------------

    def plan(self, steps: Sequence[Step]) -> None:
        """Replace the fault plan; each matching request takes the next step."""
        with self.changed:
            self._plan.set(steps)

    @property
    def plan_left(self) -> list[Step]:
        """The steps not yet taken."""
        with self.changed:
            return list(self._plan.steps)

    def wait_requests(
        self, count: int, timeout_s: float = LIMIT_S, path: str = ""
    ) -> list[Request]:
        """Wait until `count` requests to paths containing `path` have arrived; return them."""
        return self._wait(
            lambda: [request for request in self.requests if path in request.path],
            count,
            timeout_s,
            "requests",
        )

    def drop_connections(self) -> None:
        """Close every open connection silently, idle or not, as a restarted server does."""
        assert self._loop is not None, "the service is not started"
        self._loop.run(self._drop())

    # --- methods of each service ---------------------------------------------------------------

    async def respond(self, call: Call) -> Response:
        """Answer one request."""
        raise NotImplementedError

    def error_response(
        self, call: Call, status: int, message: str = "", retry_after_s: int | None = None
    ) -> Response:
        """Make an error in the shape of the API."""
        raise NotImplementedError

    def error_event(self, call: Call, message: str) -> Event:
        """Make the event that reports an error in the middle of a stream."""
        return Event(json.dumps({"error": {"message": message, "type": "server_error"}}))

    def redact(self, text: str) -> str:
        """Remove secrets from a request target before it is recorded."""
        return text

    # --- inside ------------------------------------------------------------------------------

    def take_step(self, path: str) -> Step | None:
        """Take the plan's step for a request; call it with `changed` held."""
        return self._plan.take(path)

    def forget(self, connection: Connection) -> None:
        """Remove an ended connection from the list."""
        with self.changed:
            self._open.discard(connection)
            self.changed.notify_all()

    def tell(self, line: str) -> None:
        """Pass one line to the log callback."""
        if self._log is not None:
            self._log(line)

    def _wait(
        self, pick: Callable[[], list[Any]], count: int, timeout_s: float, what: str
    ) -> list[Any]:
        with self.changed:
            if not self.changed.wait_for(lambda: len(pick()) >= count, timeout_s):
                raise TimeoutError(f"{len(pick())} of {count} {what} after {timeout_s} s")
            return pick()

    async def _listen(self) -> None:
        server = await asyncio.start_server(self._accept, self._address(), self._port)
        self._port = server.sockets[0].getsockname()[1]
        self._servers.append(server)
        try:
            # A resolver may give ::1 for localhost first, and a board takes the first address.
            self._servers.append(await asyncio.start_server(self._accept, "::1", self._port))
        except OSError:
            pass  # No IPv6 here, or the port is taken there; 127.0.0.1 serves.

    def _address(self) -> str:
        """The address to listen on: an emulator has a separate name for this machine's
        loopback."""
        try:
            address = str(ipaddress.ip_address(self._host))
            with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET) as probe:
                probe.bind((address, 0))
        except (OSError, ValueError):
            return "127.0.0.1"
        return address

    async def _shut(self) -> None:
        for server in self._servers:
            server.close()
        self._servers.clear()
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _drop(self) -> None:
        for connection in list(self._open):
            await connection.wire.cut()

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with self.changed:
            self.connections += 1
            connection = Connection(self, Wire(reader, writer, self._tls), self.connections)
            self._open.add(connection)
            step = self._plan.take_connect()
            self.changed.notify_all()
        task = asyncio.get_running_loop().create_task(connection.run(step))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _note_server_name(
        self, _tls: ssl.SSLSocket | ssl.SSLObject, name: str | None, _context: ssl.SSLContext
    ) -> None:
        with self.changed:
            self.server_names.append(name)
