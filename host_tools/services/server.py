"""A small HTTPS server whose every byte can be planned: the base of the offline services.

`h11` parses what clients send, strictly; replies are framed here by hand, because a fault plan must be
able to break framing, which any complete HTTP server exists to prevent.
"""

from __future__ import annotations

import asyncio
import http
import json
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar
from urllib.parse import parse_qsl, urlsplit

import h11

from .faults import Plan, Step
from .loop import LoopThread
from .wire import HandshakeFailed, Wire

_MAX_HEADER_BYTES = 64 * 1024
_PIECE = 32 * 1024
_READ_FIRST_S = 0.02
_SECRET_HEADERS = ("authorization", "x-api-key", "proxy-authorization", "cookie")

_S = TypeVar("_S", bound="Service")
Log = Callable[[str], None]


@dataclass
class Request:
    """One request as it arrived. `headers` (lower-case names) and `path` are free of keys."""

    number: int
    connection: int
    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes
    #: The parsed JSON body; None when there is none or it does not parse.
    json: Any
    #: Seconds on the monotonic clock when the last byte of the body was there.
    at: float
    #: Status of the answer; None while there is none (a stall or a reset leaves it so).
    status: int | None = None
    #: The plan's step that was applied, if any.
    step: Step | None = None


@dataclass
class Call:
    """What a service's `respond` gets: the record and the secrets that are not in it."""

    request: Request
    target: str
    headers: dict[str, str]
    step: Step


@dataclass
class Event:
    """One server-sent event."""

    data: str
    name: str = ""


@dataclass
class Response:
    """An answer: a body, or a stream of server-sent events."""

    status: int = 200
    body: bytes = b""
    headers: list[tuple[str, str]] = field(default_factory=list)
    events: list[Event] | None = None

    @classmethod
    def of_json(cls, value: Any, status: int = 200) -> Response:
        body = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
        return cls(status, body, [("Content-Type", "application/json")])


class Service:
    """Base of the services: sockets, framing, records and fault plans.

    Everything public may be called from any thread.
    """

    #: A request whose body stops short of its Content-Length is refused after this long.
    body_timeout_s = 2.0

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
        self._open: set[_Connection] = set()
        #: Guards all records, and is notified whenever one changes.
        self.changed = threading.Condition()
        self.requests: list[Request] = []
        #: Number of connections accepted, and of those open now.
        self.connections = 0
        #: One line per TLS handshake that did not succeed, in the words of OpenSSL.
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
        """Listen on loopback."""
        if self._loop is None:
            self._loop = LoopThread()
            self._loop.start()
        self._loop.run(self._listen())

    def stop(self) -> None:
        """Close everything; whatever is still being answered is reset."""
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

    def wait_requests(self, count: int, timeout_s: float = 10.0, path: str = "") -> list[Request]:
        """Wait until `count` requests to paths containing `path` have arrived; return them."""
        return self._wait(
            lambda: [request for request in self.requests if path in request.path],
            count,
            timeout_s,
            "requests",
        )

    def drop_connections(self) -> None:
        """Close every open connection, idle or not, without a word, as a restarted server does."""
        assert self._loop is not None, "the service is not started"
        self._loop.run(self._drop())

    # --- what a service supplies ---------------------------------------------------------------

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
        """Take secrets out of a request target before it is recorded."""
        return text

    # --- inside ------------------------------------------------------------------------------

    def tell(self, line: str) -> None:
        """Tell the log callback one line."""
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
        server = await asyncio.start_server(self._accept, "127.0.0.1", self._port)
        self._port = server.sockets[0].getsockname()[1]
        self._servers.append(server)
        try:
            # A resolver may give ::1 for localhost first, and a board takes the first it gets.
            self._servers.append(await asyncio.start_server(self._accept, "::1", self._port))
        except OSError:
            pass  # No IPv6 here, or the port is taken there; 127.0.0.1 serves.

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
            connection = _Connection(self, Wire(reader, writer, self._tls), self.connections)
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


class _Connection:
    """The life of one connection: handshake, then requests until somebody closes."""

    def __init__(self, service: Service, wire: Wire, number: int) -> None:
        self._service = service
        self.wire = wire
        self._number = number
        self._pending: asyncio.Task[bytes] | None = None
        self._early = b""

    async def run(self, connect_step: Step | None) -> None:
        service = self._service
        try:
            if connect_step is not None:
                if connect_step.connect == "stall":
                    await self.wire.wait_gone()
                self.wire.reset()
                return
            await self.wire.handshake()
            version = self.wire.tls_version
            if version is not None:
                with service.changed:
                    service.tls_versions.append(version)
            while await self._one_exchange():
                pass
        except HandshakeFailed as exc:
            self._note(service.tls_failures, str(exc))
            await self.wire.cut()
        except OSError:
            self.wire.reset()  # The client has gone; there is nobody left to tell.
        except BaseException:
            self.wire.reset()
            raise
        finally:
            if self._pending is not None:
                self._pending.cancel()
                await asyncio.gather(self._pending, return_exceptions=True)
            with service.changed:
                service._open.discard(self)
                service.changed.notify_all()

    def _note(self, where: list[str], line: str) -> None:
        with self._service.changed:
            where.append(line)
            self._service.changed.notify_all()
        self._service.tell(line)

    # --- receiving ---------------------------------------------------------------------------

    def _reading(self) -> asyncio.Task[bytes]:
        if self._pending is None:
            self._pending = asyncio.ensure_future(self.wire.read())
        return self._pending

    async def _receive(self, timeout_s: float | None) -> bytes | None:
        """Return the next bytes, b"" at the end, None when nothing came in time."""
        if self._early:
            data, self._early = self._early, b""
            return data
        task = self._reading()
        done, _ = await asyncio.wait({task}, timeout=timeout_s)
        if not done:
            return None
        self._pending = None
        return task.result()

    async def _one_exchange(self) -> bool:
        """Read a request and answer it; say whether the connection stays open."""
        parser = h11.Connection(h11.SERVER, max_incomplete_event_size=_MAX_HEADER_BYTES)
        head: h11.Request | None = None
        body = bytearray()
        problem = ""
        while True:
            try:
                event = parser.next_event()
            except h11.RemoteProtocolError as exc:
                problem = str(exc)
                break
            if event is h11.NEED_DATA:
                if parser.they_are_waiting_for_100_continue:
                    await self.wire.write(b"HTTP/1.1 100 Continue\r\n\r\n")
                    parser.send(h11.InformationalResponse(status_code=100, headers=[]))
                data = await self._receive(self._service.body_timeout_s if head else None)
                if data is None:
                    problem = f"the body stopped after {len(body)} bytes, short of its length"
                    break
                parser.receive_data(data)
            elif isinstance(event, h11.Request):
                head = event
            elif isinstance(event, h11.Data):
                body += event.data
            elif isinstance(event, h11.EndOfMessage):
                break
            else:  # ConnectionClosed, or paused for good
                await self.wire.close()
                return False
        extra, _ = parser.trailing_data
        if extra and not problem:
            problem = f"{len(extra)} bytes follow the body of {len(body)}"
        if head is None:
            self._note(self._service.problems, problem)
            await self.wire.write(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n")
            await self.wire.close()
            return False
        call = self._record(head, bytes(body))
        if problem:
            self._note(self._service.problems, problem)
            response = self._service.error_response(call, 400, f"Bad request body: {problem}")
            return await self._send(call, response, keep=False)
        response_or_none = await self._answer(call)
        if response_or_none is None:
            self.wire.reset()
            return False
        keep = head.http_version == b"1.1" and "close" not in call.headers.get("connection", "")
        return await self._send(call, response_or_none, keep)

    def _record(self, head: h11.Request, body: bytes) -> Call:
        service = self._service
        target = head.target.decode("ascii", "replace")
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in head.headers}
        parsed: Any = None
        try:
            parsed = json.loads(body) if body else None
        except ValueError:
            pass  # The service says so in its answer.
        parts = urlsplit(service.redact(target))
        with service.changed:
            step = service._plan.take(parts.path)
            request = Request(
                number=len(service.requests) + 1,
                connection=self._number,
                method=head.method.decode("ascii"),
                path=parts.path,
                query=dict(parse_qsl(parts.query, keep_blank_values=True)),
                headers={k: v for k, v in headers.items() if k not in _SECRET_HEADERS},
                body=body,
                json=parsed,
                at=time.monotonic(),
                step=step,
            )
            service.requests.append(request)
            service.changed.notify_all()
        return Call(request, target, headers, step or Step())

    # --- answering ---------------------------------------------------------------------------

    async def _answer(self, call: Call) -> Response | None:
        """Let the service answer; None when the client went away meanwhile."""
        answering = asyncio.ensure_future(self._prepare(call))
        try:
            while not answering.done():
                reading = self._reading()
                await asyncio.wait({answering, reading}, return_when=asyncio.FIRST_COMPLETED)
                if reading.done() and not answering.done():
                    self._pending = None
                    data = reading.result()
                    if not data:
                        return None
                    self._early += data
            return answering.result()
        finally:
            if not answering.done():
                answering.cancel()
                await asyncio.gather(answering, return_exceptions=True)

    async def _prepare(self, call: Call) -> Response:
        step = call.step
        if step.delay_ms:
            await asyncio.sleep(step.delay_ms / 1000)
        if step.status and step.body is None:
            response = self._service.error_response(
                call, step.status, step.message, step.retry_after_s
            )
        elif step.body is not None:
            response = Response(
                step.status or 200, step.body, [("Content-Type", "application/json")]
            )
            if step.retry_after_s is not None:
                response.headers.append(("Retry-After", str(step.retry_after_s)))
        elif step.huge_body:
            response = Response(200, b"", [("Content-Type", "application/json")])
        else:
            response = await self._service.respond(call)
        response.headers.extend(step.headers)
        if step.huge_header:
            response.headers.append(("X-Huge", "x" * step.huge_header))
        return response

    async def _send(self, call: Call, response: Response, keep: bool) -> bool:
        """Put the reply on the wire as the step wants it; say whether the connection stays."""
        step = call.step
        keep = keep and not step.until_close and step.close != "said"
        head, body = self._frame(call, response, keep)
        limit, ending = _limit(step, head)
        sent = 0
        with self._service.changed:
            if limit != 0:
                call.request.status = response.status
            self._service.changed.notify_all()
        for piece in _cut_up(head, body, step):
            if piece is None:
                await asyncio.sleep(step.piece_delay_ms / 1000)
                continue
            if limit is not None:
                piece = piece[: limit - sent]
            if piece:
                await self.wire.write(piece)
                sent += len(piece)
            if limit is not None and sent >= limit:
                await self._end(ending)
                return False
        if limit is not None:
            await self._end(ending)
            return False
        if not keep or step.close:
            await self.wire.close()
            return False
        return True

    async def _end(self, ending: str) -> None:
        if ending == "reset":
            # Some systems discard what the client has not read yet when RST arrives.
            await asyncio.sleep(_READ_FIRST_S)
            self.wire.reset()
        elif ending == "cut":
            await self.wire.cut()
        else:
            while await self._receive(None):
                pass
            await self.wire.close()

    def _frame(self, call: Call, response: Response, keep: bool) -> tuple[bytes, Iterator[bytes]]:
        """Return the head and the body's pieces, framed."""
        step = call.step
        if step.raw is not None:
            return step.raw, iter(())
        headers = list(response.headers)
        pieces: Iterator[bytes]
        chunked = response.events is not None or step.chunk_bytes > 0
        if response.events is not None:
            pieces = self._events(call, response.events)
        elif step.huge_body:
            pieces = _filler(step.huge_body)
        else:
            pieces = iter((response.body,))
        if not keep:
            headers.append(("Connection", "close"))
        if step.until_close:
            framed = pieces
        elif chunked:
            headers.append(("Transfer-Encoding", "chunked"))
            framed = _chunks(pieces, step.chunk_bytes)
        else:
            length = step.huge_body or len(response.body)
            headers.append(("Content-Length", str(length)))
            framed = pieces
        reason = _reason(response.status)
        lines = [f"HTTP/1.1 {response.status} {reason}"]
        lines += [f"{name}: {value}" for name, value in headers]
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1"), framed

    def _events(self, call: Call, events: list[Event]) -> Iterator[bytes]:
        step = call.step
        newline = "\r\n" if step.crlf else "\n"
        if step.no_done:
            events = [event for event in events if event.data != "[DONE]"]
        if step.events is not None or step.error_event:
            events = events[: step.events if step.events is not None else len(events) // 2]
            if step.error_event:
                events = [*events, self._service.error_event(call, step.error_event)]
        for event in events:
            if step.comments:
                yield f": keep-alive{newline}{newline}".encode()
            name = f"event: {event.name}{newline}" if event.name else ""
            yield f"{name}data: {event.data}{newline}{newline}".encode()


def _limit(step: Step, head: bytes) -> tuple[int | None, str]:
    """Return after how many bytes the reply ends early, and how."""
    for ending in ("stall", "reset", "cut"):
        after: int | None = getattr(step, ending)
        if after is not None:
            if step.where == "headers":
                after += head.find(b"\r\n") + 2
            elif step.where == "body":
                after += len(head)
            return after, ending
    return None, ""


def _cut_up(head: bytes, body: Iterator[bytes], step: Step) -> Iterator[bytes | None]:
    """Yield what each write shall hold; None stands for the pause between pieces."""
    size = step.write_bytes or _PIECE
    first = True
    for piece in _chain(head, body):
        if not first and step.piece_delay_ms:
            yield None
        first = False
        for start in range(0, len(piece), size):
            yield piece[start : start + size]


def _chain(head: bytes, body: Iterator[bytes]) -> Iterator[bytes]:
    yield head
    yield from body


def _chunks(pieces: Iterator[bytes], size: int) -> Iterator[bytes]:
    for piece in pieces:
        step = size or len(piece) or 1
        for start in range(0, len(piece), step):
            part = piece[start : start + step]
            yield b"%x\r\n%s\r\n" % (len(part), part)
    yield b"0\r\n\r\n"


def _filler(size: int) -> Iterator[bytes]:
    """Yield a JSON object of exactly `size` bytes (at least 11), most of it one string."""
    opening, closing = b'{"huge":"', b'"}'
    yield opening
    left = size - len(opening) - len(closing)
    while left > 0:
        part = min(left, _PIECE)
        yield b"x" * part
        left -= part
    yield closing


def _reason(status: int) -> str:
    try:
        return http.HTTPStatus(status).phrase
    except ValueError:
        return "Unknown"
