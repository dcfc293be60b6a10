"""The serial line: its endpoints, the log of its output, and the waits for a text in it."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from tenner_sim.vboard.endpoints import Endpoint, PtyEndpoint, TcpEndpoint
from tenner_sim.vboard.loop import READ, WRITE, Loop, Part
from tenner_sim.vboard.modem import ModemLines, Rfc2217Endpoint

#: Interval of checks whether a client has opened the terminal; the kernel does not report it.
_ATTACH_POLL_S = 0.02
_LOG_MAX = 1 << 20


class Receiver(Protocol):
    """The chip's interface for its serial line."""

    def host_bytes(self, data: bytes, *, has_modem_lines: bool) -> None: ...

    def hang_up(self) -> None:
        """The last client without modem lines has gone."""

    def unplugged(self) -> None:
        """The cable was pulled, as requested with `unplug_after`."""

    def hold(self) -> None: ...

    def release(self, strap: bool) -> None: ...


class Asker(Protocol):
    """A connection of the control socket."""

    def answer(self, result: Any) -> None: ...

    def refuse(self, error: str) -> None: ...


class _Waiter:
    def __init__(self, asker: Asker, text: bytes, start: int, deadline: float) -> None:
        self.asker = asker
        self.text = text
        self.start = start
        self.deadline = deadline


class SerialLine(Part):
    """One serial line, with a plug that can be pulled."""

    def __init__(self, loop: Loop, folder: Path, tcp: int | None, rfc2217: int | None) -> None:
        """`tcp` and `rfc2217` are ports of 127.0.0.1 to serve it on; 0 lets the system choose."""
        self._loop = loop
        self._link = folder / "tty"
        self._log = bytearray()
        self._log_start = 0
        self._log_file = (folder / "serial.log").open("wb", buffering=0)
        self._waiters: list[_Waiter] = []
        self._detached = True
        self._cut_after: int | None = None
        #: Number of bytes received from the host.
        self.received = 0
        self._endpoints: list[Endpoint] = []
        self._pty: PtyEndpoint | None = None
        self._listeners: dict[str, socket.socket] = {}
        self._ports = {
            name: port for name, port in (("tcp", tcp), ("rfc2217", rfc2217)) if port is not None
        }
        self.receiver: Receiver
        #: Called when ports appear or disappear.
        self.on_change: Callable[[], None] = _nobody
        self.plug()

    # The plug.

    def plug(self) -> None:
        """Offer the line on all its endpoints; the terminal may have a new name."""
        if self._pty:
            return
        self._pty = PtyEndpoint()
        self._endpoints.append(self._pty)
        self._link.unlink(missing_ok=True)
        self._link.symlink_to(self._pty.path)
        for name, port in self._ports.items():
            self._listeners[name] = socket.create_server(("127.0.0.1", port))
            self._ports[name] = self._listeners[name].getsockname()[1]
            self._loop.watch(self._listeners[name], READ, self._on_connection)
        self.on_change()

    def unplug(self) -> None:
        """Pull the cable: every client loses its port at once."""
        self._cut_after = None
        for endpoint in list(self._endpoints):
            self._drop(endpoint)
        self._pty = None
        for listener in self._listeners.values():
            self._loop.forget(listener)
            listener.close()
        self._listeners.clear()
        self._link.unlink(missing_ok=True)
        self.on_change()

    def unplug_after(self, count: int) -> None:
        """Pull the cable after `count` more bytes from the host."""
        self._cut_after = count

    def describe(self) -> dict[str, Any]:
        return {
            "pty": self._pty.path if self._pty else None,
            "tcp": self._ports.get("tcp"),
            "rfc2217": self._ports.get("rfc2217"),
        }

    def close(self) -> None:
        self.unplug()
        self._log_file.close()

    # The loop.

    def prepare(self) -> None:
        # Checked once a round: the board must not wait for a client that comes between two checks.
        was_detached = self._detached
        self._detached = self._pty is None or not self._pty.attached()
        for endpoint in list(self._endpoints):
            events = 0
            if not self._detached if endpoint is self._pty else endpoint.attached():
                events = READ | (WRITE if endpoint.waiting else 0)
            else:
                # The last bytes of a client that has closed the terminal already.
                self._from_host(endpoint, endpoint.read())
            if endpoint in self._endpoints:
                self._loop.watch(endpoint, events, self._on_endpoint)
        if self._detached and not was_detached:
            self._hung_up()

    def deadline(self) -> float | None:
        deadlines = [waiter.deadline for waiter in self._waiters]
        if self._detached or any(endpoint.waiting for endpoint in self._endpoints):
            deadlines.append(self._loop.now() + _ATTACH_POLL_S)
        return min(deadlines, default=None)

    def run_timers(self, now: float) -> None:
        for waiter in [waiter for waiter in self._waiters if now >= waiter.deadline]:
            self._waiters.remove(waiter)
            waiter.asker.refuse(
                f"{waiter.text.decode()!r} did not appear on the serial line; "
                f"its end is: {bytes(self._log[-1000:]).decode(errors='replace')}"
            )
        for endpoint in self._endpoints:
            endpoint.pump()

    @property
    def full(self) -> bool:
        """Whether a reader is so far behind that the board must wait."""
        return any(endpoint.full for endpoint in self._endpoints)

    # In.

    def _on_connection(self, listener: socket.socket, events: int) -> None:
        with contextlib.suppress(BlockingIOError):
            connection, _ = listener.accept()
            if listener is not self._listeners.get("rfc2217"):
                self._endpoints.append(TcpEndpoint(connection))
            elif any(isinstance(endpoint, Rfc2217Endpoint) for endpoint in self._endpoints):
                # One pair of modem lines, so one client.
                connection.close()
            else:
                lines = ModemLines(self.receiver.hold, self.receiver.release)
                self._endpoints.append(Rfc2217Endpoint(connection, lines))

    def _on_endpoint(self, endpoint: Endpoint, events: int) -> None:
        if events & WRITE:
            endpoint.pump()
        if events & READ:
            data = endpoint.read()
            if data:
                self._from_host(endpoint, data)
            elif isinstance(endpoint, TcpEndpoint) and not endpoint.open:
                self._drop(endpoint)
                if not endpoint.has_modem_lines:
                    self._hung_up()

    def _hung_up(self) -> None:
        if not any(one.attached() for one in self._endpoints if not one.has_modem_lines):
            self.receiver.hang_up()

    def _drop(self, endpoint: Endpoint) -> None:
        self._loop.forget(endpoint)
        self._endpoints.remove(endpoint)
        endpoint.close()

    def _from_host(self, endpoint: Endpoint, data: bytes) -> None:
        if not data:
            return
        if self._cut_after is not None:
            data = data[: self._cut_after]
            self._cut_after -= len(data)
        self.received += len(data)
        self.receiver.host_bytes(data, has_modem_lines=endpoint.has_modem_lines)
        if self._cut_after == 0:
            self.receiver.unplugged()

    # Out.

    def send(self, data: bytes) -> None:
        """Send to every client, and nowhere else: the loader's output is not for the log."""
        for endpoint in self._endpoints:
            endpoint.write(data)

    def emit(self, data: bytes) -> None:
        """Send to every client, add to the log, and check the waits for a text."""
        if not data:
            return
        self.send(data)
        self._log_file.write(data)
        self._log += data
        if len(self._log) > _LOG_MAX:
            cut = len(self._log) // 2
            self._log_start += cut
            del self._log[:cut]
            self._log_file.seek(0)
            self._log_file.truncate()
            self._log_file.write(self._log)
        for waiter in list(self._waiters):
            self._check(waiter)

    # Waiting for a text.

    @property
    def logged(self) -> int:
        """Number of bytes printed so far."""
        return self._log_start + len(self._log)

    def expect(self, asker: Asker, text: bytes, start: int, timeout_s: float) -> None:
        """Answer with the place after `text` once it is in the log, from `start` on."""
        waiter = _Waiter(asker, text, start, self._loop.now() + timeout_s)
        if not self._check(waiter):
            self._waiters.append(waiter)

    def forget(self, asker: Asker) -> None:
        """Drop the waits of an asker that has gone."""
        self._waiters = [one for one in self._waiters if one.asker is not asker]

    def _check(self, waiter: _Waiter) -> bool:
        start = max(0, waiter.start - self._log_start)
        at = self._log.find(waiter.text, start)
        if at < 0:
            return False
        if waiter in self._waiters:
            self._waiters.remove(waiter)
        waiter.asker.answer(self._log_start + at + len(waiter.text))
        return True


def _nobody() -> None:
    """Ignore the event."""
