"""The board's side of the control socket: requests of control.ControlClient become calls."""

from __future__ import annotations

import contextlib
import json
import os
import socket
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tenner_sim.vboard.chip import Chip
from tenner_sim.vboard.control import BoardError
from tenner_sim.vboard.devices.base import FaultError
from tenner_sim.vboard.hardware import HardwareError
from tenner_sim.vboard.loop import READ, Loop
from tenner_sim.vboard.serial_line import SerialLine
from tenner_sim.vboard.shared import SharedPage
from tenner_sim.vboard.signals import SignalError

if TYPE_CHECKING:
    from tenner_sim.vboard.phone import Phone


class _Client:
    """One connection to the control socket."""

    def __init__(self, connection: socket.socket) -> None:
        self.socket = connection
        self.buffer = b""

    def answer(self, result: Any) -> None:
        self._send({"ok": True, "result": result})

    def refuse(self, error: str) -> None:
        self._send({"ok": False, "error": error})

    def _send(self, message: dict[str, Any]) -> None:
        # A client that has left does not need the answer.
        with contextlib.suppress(OSError):
            self.socket.sendall(json.dumps(message).encode() + b"\n")


class ControlServer:
    """Each request is one of the `_do_*` methods."""

    def __init__(
        self,
        loop: Loop,
        listener: socket.socket,
        chip: Chip,
        line: SerialLine,
        page: SharedPage,
        describe: Callable[[], dict[str, Any]],
        phone: Phone | None,
    ) -> None:
        """`describe` returns the content of board.json."""
        self._loop = loop
        self._chip = chip
        self._line = line
        self._page = page
        self._describe = describe
        self._phone = phone
        loop.watch(listener, READ, self._on_connection)

    def _on_connection(self, listener: socket.socket, events: int) -> None:
        connection, _ = listener.accept()
        client = _Client(connection)

        def readable(end: socket.socket, events: int) -> None:
            self._on_data(client)

        self._loop.watch(connection, READ, readable)

    def _on_data(self, client: _Client) -> None:
        try:
            data = client.socket.recv(65536)
        except OSError:
            data = b""
        if not data:
            self._loop.forget(client.socket)
            self._line.forget(client)
            client.socket.close()
            return
        *lines, client.buffer = (client.buffer + data).split(b"\n")
        for line in lines:
            self._request(client, line)

    def _request(self, client: _Client, line: bytes) -> None:
        try:
            request = json.loads(line)
            do = request.pop("do")
            if do == "expect":
                self._expect(client, **request)
                return
            handler = getattr(self, f"_do_{do}", None)
            if handler is None:
                raise BoardError(f"a virtual board cannot {do!r}")
            client.answer(handler(**request))
        except (BoardError, FaultError, HardwareError, SignalError) as exc:
            client.refuse(str(exc))
        except (AttributeError, KeyError, TypeError, ValueError) as exc:
            client.refuse(f"not a request: {exc}")

    def _expect(self, client: _Client, text: str, start: int, timeout_s: float) -> None:
        self._line.expect(client, text.encode(), start, timeout_s)

    # Looking.

    def _do_status(self) -> dict[str, Any]:
        chip = self._chip
        return {
            "state": chip.state,
            "boots": chip.boots,
            "heap_free": chip.heap_free,
            "watchdog_s": chip.watchdog_s,
            "runtime": chip.runtime.kind,
            "child": chip.program.pid if chip.program else None,
            "wifi_up": chip.wifi.up,
            "wifi_connected": chip.wifi.connected,
            "time": chip.clocks.true_time(),
            "board_time": chip.clocks.board_time(),
            "serial_bytes": self._line.logged,
            "host_bytes": self._line.received,
            **self._describe(),
        }

    def _do_list(self) -> dict[str, Any]:
        hardware = self._chip.hardware
        devices = {
            name: {
                "chip": type(device).__name__,
                "where": hardware.where[name],
                "fault": device.fault,
                "faults": device.faults,
            }
            for name, device in hardware.devices.items()
        }
        return {"signals": hardware.signals.all(), "devices": devices}

    def _do_get(self, name: str) -> float:
        return self._chip.hardware.signals.get(name)

    def _do_bus_log(self, bus: str) -> list[str]:
        return self._chip.hardware.bus_log(bus)

    def _do_flash_counters(self) -> list[int]:
        counters = self._page.counters()
        return [counters.erases, counters.programs, counters.bytes, counters.operations]

    def _do_phone(self, text: str, look: bool) -> dict[str, Any]:
        if self._phone is None:
            raise BoardError("no stand-ins run beside this board; `tenner sim start` starts some")
        return self._phone.use(text, look)

    # Changing signals.

    def _do_set(self, name: str, value: float) -> None:
        self._chip.hardware.signals.set(name, value)
        self._chip.look_at_pins()

    def _do_wifi(self, up: bool) -> None:
        self._chip.wifi.switch(up)
        if not up:
            self._chip.relays.cut()

    def _do_fault(self, device: str, kind: str | None) -> None:
        self._chip.hardware.device(device).set_fault(kind)

    def _do_attach(self, name: str, chip: str, bus: str, address: str | None = None) -> None:
        self._chip.hardware.attach(name, chip, bus, address)

    def _do_detach(self, device: str) -> None:
        self._chip.hardware.detach(device)

    def _do_clock(
        self,
        advance_s: int = 0,
        time_s: int | None = None,
        drift_s: int = 0,
        fault: str | None = None,
    ) -> dict[str, int]:
        """`advance_s`: let time pass for both clocks. `time_s`: set the time server's clock.
        `drift_s`: shift the board's own clock by so much. `fault`: one of the time server's, ""
        ends it.
        """
        clocks = self._chip.clocks
        if fault is not None:
            self._chip.time_server.fault = fault or None
        if time_s is not None:
            clocks.set_true(time_s)
        clocks.pass_time(advance_s, drift_s)
        self._chip.time_passed(advance_s)
        return {"time": clocks.true_time(), "board_time": clocks.board_time()}

    # Power, reset, and the plug.

    def _do_power_on(self) -> None:
        self._chip.power_on()

    def _do_power_off(self) -> None:
        self._chip.power_off()

    def _do_power_cut(self, after_writes: int, torn: bool) -> None:
        if self._chip.runtime.kind != "micropython":
            raise BoardError("only the MicroPython runtime writes a flash image; use power_off")
        self._page.set_cut(self._page.counters().operations + after_writes, torn)

    def _do_reset(self) -> None:
        self._chip.press_reset()

    def _do_soft_reset(self) -> None:
        # The byte with which a tool leaves the raw REPL may still be on its way.
        self._chip.soft_reset(at_prompt=True)

    def _do_unplug(self, after_bytes: int | None) -> None:
        """Pull the cable, which powers the board too: now, or after so many bytes from the
        host."""
        if after_bytes is None:
            self._chip.unplugged()
        else:
            self._line.unplug_after(after_bytes)

    def _do_plug(self) -> dict[str, Any]:
        self._line.plug()
        self._chip.power_on()
        return self._describe()

    def _do_type(self, text: str) -> None:
        """Type a text at the serial line."""
        self._chip.host_bytes(text.encode(), has_modem_lines=True)

    def _do_stop(self) -> None:
        self._loop.stopping = True


def listen(path: os.PathLike[str]) -> socket.socket:
    """A control socket at `path`."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(os.fspath(path))
    listener.listen(8)
    return listener
