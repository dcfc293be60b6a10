"""One connection of a service: handshake, then exchanges until one side closes."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Iterator
from typing import Any, Protocol
from urllib.parse import parse_qsl, urlsplit

import h11

from . import framing
from .faults import Step
from .records import Call, Event, Request, Response
from .wire import HandshakeFailed, Wire

_MAX_HEADER_BYTES = 64 * 1024
_READ_FIRST_S = 0.02
_SECRET_HEADERS = ("authorization", "x-api-key", "proxy-authorization", "cookie")


class Server(Protocol):
    """The part of a service that its connections use; server.py explains each name."""

    changed: threading.Condition
    requests: list[Request]
    problems: list[str]
    tls_failures: list[str]
    tls_versions: list[str]

    @property
    def body_timeout_s(self) -> float: ...
    async def respond(self, call: Call) -> Response: ...
    def error_response(
        self, call: Call, status: int, message: str = "", retry_after_s: int | None = None
    ) -> Response: ...
    def error_event(self, call: Call, message: str) -> Event: ...
    def redact(self, text: str) -> str: ...
    def take_step(self, path: str) -> Step | None: ...
    def forget(self, connection: Connection) -> None: ...
    def tell(self, line: str) -> None: ...


class Connection:
    """The life of one connection: handshake, then requests until one side closes."""

    def __init__(self, service: Server, wire: Wire, number: int) -> None:
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
            self.wire.reset()  # The client has gone; no one could read an answer.
        except BaseException:
            self.wire.reset()
            raise
        finally:
            if self._pending is not None:
                self._pending.cancel()
                await asyncio.gather(self._pending, return_exceptions=True)
            service.forget(self)

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
        """Return the next bytes, b"" at the end, None if none came in time."""
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
        """Read a request and answer it; return whether the connection stays open."""
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
            pass  # The service reports it in its answer.
        parts = urlsplit(service.redact(target))
        with service.changed:
            step = service.take_step(parts.path)
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
        """Let the service answer; None if the client went away meanwhile."""
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
        """Send the reply as the step requires; return whether the connection stays open."""
        step = call.step
        keep = keep and not step.until_close and step.close != "said"
        head, body = self._frame(call, response, keep)
        limit, ending = framing.limit(step, head)
        sent = 0
        with self._service.changed:
            if limit != 0:
                call.request.status = response.status
            self._service.changed.notify_all()
        for piece in framing.cut_up(head, body, step):
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
            # Some systems discard bytes that the client has not read yet when RST arrives.
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
            pieces = framing.filler(step.huge_body)
        else:
            pieces = iter((response.body,))
        if not keep:
            headers.append(("Connection", "close"))
        if step.until_close:
            framed = pieces
        elif chunked:
            headers.append(("Transfer-Encoding", "chunked"))
            framed = framing.chunks(pieces, step.chunk_bytes)
        else:
            length = step.huge_body or len(response.body)
            headers.append(("Content-Length", str(length)))
            framed = pieces
        phrase = framing.reason(response.status)
        lines = [f"HTTP/1.1 {response.status} {phrase}"]
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
