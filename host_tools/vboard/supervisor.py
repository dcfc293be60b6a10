"""The virtual board's process: a select loop round one interpreter that plays the chip.

Started by board.VirtualBoard or `tenner sim start` as `python -m host_tools.vboard.supervisor CONFIG`.
It owns the flash image, resets and power, the serial line, the buses, Wi-Fi and the clock.

The serial ROM loader has its place in `on_host_bytes`: a state of its own beside "running", entered by
a SYNC frame or `machine.bootloader()`, working on the same flash file.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import selectors
import shutil
import signal
import socket
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from host_tools.build import board_folder
from host_tools.vboard.bus import BusError
from host_tools.vboard.console import (
    Outlet,
    OutputFilter,
    PtyOutlet,
    RawBanner,
    ReplMode,
    TcpOutlet,
)
from host_tools.vboard.control import BoardError, socket_path
from host_tools.vboard.devices.base import FaultError
from host_tools.vboard.hardware import Hardware, HardwareError
from host_tools.vboard.image import boot_fault, find_vfs
from host_tools.vboard.relay import Relays
from host_tools.vboard.runtime import (
    DEEP_SLEEP,
    HARD,
    POWER_ON,
    SOFT,
    WATCHDOG,
    Child,
    Runtime,
)
from host_tools.vboard.shared import SharedPage
from host_tools.vboard.wifi import Wifi, WifiError
from host_tools.vboard.world import WorldError

_EPOCH_2000 = 946684800
# machine.wake_reason() on an ESP32-C3.
_WAKE_TIMER, _WAKE_GPIO = 4, 7
_NAME_NOT_RESOLVED = -202
_UNIQUE_ID = bytes.fromhex("7c2c67000001")
_ROM_BANNER = b"ESP-ROM:esp32c3-api1-20210207\r\nBuild:Feb  7 2021\r\n"
_RESET_REASONS = {
    POWER_ON: b"rst:0x1 (POWERON)",
    HARD: b"rst:0x3 (RTC_SW_SYS_RST)",
    WATCHDOG: b"rst:0x7 (TG0WDT_SYS_RST)",
    DEEP_SLEEP: b"rst:0x5 (DSLEEP)",
}
_SOFT_REBOOT = b"MPY: soft reboot\r\n"

#: How often to look whether a client has opened the terminal; the kernel does not say by itself.
_ATTACH_POLL_S = 0.02
#: Output that may be the start of a mark is held back so long at most.
_HOLD_S = 0.02
_SERIAL_LOG_MAX = 1 << 20


class _Waiter:
    """A control request that is answered when a text has appeared, or its time is over."""

    def __init__(self, client: _Client, text: bytes, start: int, deadline: float) -> None:
        self.client = client
        self.text = text
        self.start = start
        self.deadline = deadline


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
        # Whoever asked and left does not want the answer.
        with contextlib.suppress(OSError):
            self.socket.sendall(json.dumps(message).encode() + b"\n")


class Supervisor:
    """One board."""

    def __init__(self, config: dict[str, Any]) -> None:
        self.folder = Path(config["folder"])
        self.flash: Path | None = Path(config["flash"]) if config["flash"] else None
        self.runtime = Runtime(
            kind=config["runtime"],
            argv=tuple(config["argv"]),
            bits=config["bits"],
            heap=config["heap"],
            overlay=Path(config["overlay"]),
            environment=config["environment"],
        )
        self.hardware = Hardware(board_folder(config["board"]))
        self.hardware.load(self.folder)
        self.page = SharedPage(self.folder / "page.bin")
        self.selector = selectors.DefaultSelector()
        self.relays = Relays(self.selector)
        described = self.hardware.wifi
        self.wifi = Wifi(
            str(described["ssid"]), str(described["password"]), int(described["rssi"]), self._now
        )
        self.wifi.up = config["wifi"]
        # Difference of true time, as the time server tells it, to the host's clock.
        self.world_offset = 0
        self.state = "off"
        self.child: Child | None = None
        self.boots = 0
        self.heap_free = 0
        self._rtc_memory = b""
        self._nvs: dict[str, str] = {}
        self._watchdog_at: float | None = None
        self._wake_at: float | None = None
        self._wake_pins: tuple[int, tuple[str, ...]] = (0, ())
        self._wake_reason = 0
        self._to_child = bytearray()
        self._events = b""
        self._filter = OutputFilter()
        self._held_since: float | None = None
        self._mode = ReplMode()
        self._raw_banner: RawBanner | None = None
        self._log = bytearray()
        self._log_start = 0
        self._waiters: list[_Waiter] = []
        self._stopping = False
        self._detached = True

        self.pty = PtyOutlet()
        self.outlets: list[Outlet] = [self.pty]
        self._log_file = (self.folder / "serial.log").open("wb", buffering=0)
        self.socket_path = socket_path(self.folder)
        self.socket_path.unlink(missing_ok=True)
        self._control = socket.socket(socket.AF_UNIX)
        self._control.bind(str(self.socket_path))
        self._control.listen(8)
        self._watch(self._control, selectors.EVENT_READ, self._on_control_connection)
        self._tcp: socket.socket | None = None
        if config["tcp"]:
            # The first connection is the serial line; port 0 lets the system choose.
            self._tcp = socket.create_server(("127.0.0.1", max(config["tcp_port"], 0)))
            self._watch(self._tcp, selectors.EVENT_READ, self._on_tcp_connection)
        if config["lifeline"]:
            # Standard input is a pipe from whoever started us: its end is our end.
            self._watch(0, selectors.EVENT_READ, self._on_lifeline)
        link = self.folder / "tty"
        link.unlink(missing_ok=True)
        link.symlink_to(self.pty.path)

    def describe(self) -> dict[str, Any]:
        """What board.json says, for whoever wants to find this board."""
        return {
            "pid": os.getpid(),
            "folder": str(self.folder),
            "pty": self.pty.path,
            "socket": str(self.socket_path),
            "tcp": self._tcp.getsockname()[1] if self._tcp else None,
        }

    def _note(self, text: str) -> None:
        """One line in notes.log, for whoever wonders what the board did."""
        with (self.folder / "notes.log").open("a") as file:
            file.write(f"{time.monotonic():.3f} {text}\n")

    # The loop.

    def _now(self) -> float:
        return time.monotonic()

    def _watch(self, end: Any, events: int, callback: Callable[[Any, int], None]) -> None:
        known = end in self.selector.get_map()
        if not events:
            if known:
                self.selector.unregister(end)
        elif not known:
            self.selector.register(end, events, callback)
        elif self.selector.get_key(end).events != events:
            self.selector.modify(end, events, callback)

    def run(self) -> None:
        """Until `stop`, or until the starter has gone."""
        while not self._stopping:
            self._update_watches()
            for key, events in self.selector.select(self._timeout()):
                # An earlier callback of this round may have closed it, and another file may
                # have its number by now.
                current = self.selector.get_map().get(key.fd)
                if current is not None and current.data == key.data:
                    key.data(key.fileobj, events)
            self._run_timers()

    def _update_watches(self) -> None:
        # Looked at once a round: a client that comes between two looks must not be waited for.
        self._detached = not self.pty.attached()
        for outlet in self.outlets:
            events = 0
            if not self._detached if outlet is self.pty else outlet.attached():
                events = selectors.EVENT_READ
                if outlet.waiting:
                    events |= selectors.EVENT_WRITE
            else:
                # The last words of a client that has closed the terminal already.
                self.on_host_bytes(outlet.read())
            self._watch(outlet, events, self._on_outlet)
        if self.child:
            events = 0 if any(outlet.full for outlet in self.outlets) else selectors.EVENT_READ
            if self._to_child and self.child.up:
                events |= selectors.EVENT_WRITE
            self._watch(self.child.master, events, self._on_child_terminal)

    def _timeout(self) -> float | None:
        now = self._now()
        deadlines = [waiter.deadline for waiter in self._waiters]
        if self._watchdog_at is not None:
            deadlines.append(self._watchdog_at)
        if self._wake_at is not None:
            deadlines.append(self._wake_at)
        if self._held_since is not None:
            deadlines.append(self._held_since + _HOLD_S)
        if self._detached or any(outlet.waiting for outlet in self.outlets):
            deadlines.append(now + _ATTACH_POLL_S)
        return max(0.0, min(deadlines) - now) if deadlines else None

    def _run_timers(self) -> None:
        now = self._now()
        if self._held_since is not None and now >= self._held_since + _HOLD_S:
            self._held_since = None
            self._emit(self._filter.flush())
        if self._watchdog_at is not None and now >= self._watchdog_at:
            self._chip_reset(WATCHDOG)
        if self._wake_at is not None and now >= self._wake_at:
            self._wake(_WAKE_TIMER)
        for waiter in [waiter for waiter in self._waiters if now >= waiter.deadline]:
            self._waiters.remove(waiter)
            waiter.client.refuse(
                f"{waiter.text.decode()!r} did not appear on the serial line; "
                f"its end is: {bytes(self._log[-1000:]).decode(errors='replace')}"
            )
        for outlet in self.outlets:
            outlet.pump()

    # Power and reset.

    def power_on(self) -> None:
        """Plug it in: every register, the clock and the RTC memory start from nothing."""
        if self.state != "off":
            return
        self.page.set_cut(None)
        self.hardware.power_on()
        self._rtc_memory = b""
        self.page.clock_offset = _EPOCH_2000 - int(time.time())
        self._chip_reset(POWER_ON)

    def power_off(self) -> None:
        """Pull the plug, whatever the board is doing."""
        self._end_child()
        self._lose_network()
        self._watchdog_at = self._wake_at = None
        self.state = "off"

    def _lose_network(self) -> None:
        self.wifi.chip_reset()
        self.relays.cut()
        self.hardware.release_pins()

    def _chip_reset(self, cause: int) -> None:
        """Everything but a soft reset comes through here: the ROM, the boot loader, then MicroPython."""
        self._end_child()
        self._lose_network()
        self._watchdog_at = self._wake_at = None
        self._wake_pins = (0, ())
        self._emit(_ROM_BANNER + _RESET_REASONS[cause] + b",boot:0xc (SPI_FAST_FLASH_BOOT)\r\n")
        if self.flash:
            fault = boot_fault(self.flash.read_bytes())
            if fault:
                self._emit(fault.encode() + b"\r\n")
                self.state = "dead"
                return
        names = {POWER_ON: "power", HARD: "hard", WATCHDOG: "watchdog", DEEP_SLEEP: "wake"}
        self._start_child(names[cause], cause)

    def _soft_reset(self) -> None:
        """A new interpreter on the same chip: Wi-Fi, clock and registers stay."""
        raw = self._mode.raw
        self._end_child()
        self._emit(_SOFT_REBOOT)
        self._start_child("raw" if raw else "soft", SOFT)

    def _start_child(self, mode: str, cause: int) -> None:
        region = (0, 0)
        if self.flash:
            row = find_vfs(self.flash.read_bytes())
            assert row is not None
            region = (row.offset, row.size)
        self._filter = OutputFilter()
        self._held_since = None
        self._raw_banner = RawBanner() if mode == "raw" else None
        self._mode = ReplMode(raw=False)
        self._to_child[:] = b"\x01" if mode == "raw" else b""
        self._events = b""
        self.child = Child(self.runtime, self.page, self.flash, region, mode, cause)
        self.state = "starting"
        self.boots += 1
        self._watch(self.child.requests, selectors.EVENT_READ, self._on_child_requests)

    def _end_child(self) -> None:
        """Switch the interpreter off and print what it had still to say."""
        child = self.child
        if child is None:
            return
        self.child = None
        child.kill()
        self._drain(child)
        self._emit(self._filter.flush())
        for number in (child.master, child.requests):
            self._watch(number, 0, self._on_lifeline)
        child.close()
        self._to_child.clear()

    def _drain(self, child: Child) -> None:
        while True:
            try:
                data = os.read(child.master, 65536)
            except OSError:
                return
            if not data:
                return
            self._from_child(data)

    def _child_exited(self) -> None:
        """The interpreter ended by itself: Ctrl-D at the prompt, sys.exit(), or a crash."""
        child = self.child
        assert child is not None
        status = child.process.wait()
        if not child.up:
            self._tell_failed()
        elif status < 0:
            self._note(f"the interpreter ended by signal {-status}")
            self._emit(b"\r\nGuru Meditation Error: interpreter ended by signal %d\r\n" % -status)
            self._chip_reset(WATCHDOG)
        else:
            self._soft_reset()

    # The serial line.

    def on_host_bytes(self, data: bytes) -> None:
        """What a client typed. Before the application is up it waits; a board without power is deaf."""
        if self.child:
            self._to_child += data

    def _on_outlet(self, outlet: Outlet, events: int) -> None:
        if events & selectors.EVENT_WRITE:
            outlet.pump()
        if events & selectors.EVENT_READ:
            data = outlet.read()
            if data:
                self.on_host_bytes(data)
            elif isinstance(outlet, TcpOutlet) and not outlet.open:
                self._watch(outlet, 0, self._on_outlet)
                self.outlets.remove(outlet)
                outlet.close()

    def _on_tcp_connection(self, listener: socket.socket, events: int) -> None:
        connection, _ = listener.accept()
        self.outlets.append(TcpOutlet(connection))

    def _on_child_terminal(self, master: int, events: int) -> None:
        if events & selectors.EVENT_WRITE:
            with contextlib.suppress(BlockingIOError, OSError):
                self._type_on(master)
        if events & selectors.EVENT_READ:
            try:
                data = os.read(master, 65536)
            except BlockingIOError:
                return
            except OSError:
                data = b""
            if data:
                self._from_child(data)
            elif self.child:
                self._finish_requests()

    def _type_on(self, master: int) -> None:
        """Pass host bytes on to the interpreter, Ctrl-C as a signal where it is one."""
        assert self.child is not None
        waiting = self._to_child
        if waiting[:1] == b"\x03" and not self._filter.binary and self.child.interrupt():
            # A second signal before the first is handled would end the interpreter.
            while waiting[:1] == b"\x03":
                del waiting[:1]
            return
        stop = waiting.find(b"\x03", 1)
        sent = os.write(master, waiting[: min(1024, stop if stop > 0 else 1024)])
        del waiting[:sent]

    def _finish_requests(self) -> None:
        """The terminal was hung up; act on what was said before, and on the end itself."""
        child = self.child
        while self.child is child and child is not None:
            if not self._read_requests():
                return

    def _from_child(self, data: bytes) -> None:
        text = self._filter.feed(data)
        self._mode.feed(text)
        if self._raw_banner:
            text = self._raw_banner.feed(text)
            if self._raw_banner.done:
                self._raw_banner = None
        self._emit(text)
        self._held_since = self._now() if self._filter.holding else None

    def _emit(self, data: bytes) -> None:
        if not data:
            return
        for outlet in self.outlets:
            outlet.write(data)
        self._log_file.write(data)
        self._log += data
        if len(self._log) > _SERIAL_LOG_MAX:
            cut = len(self._log) // 2
            self._log_start += cut
            del self._log[:cut]
            self._log_file.seek(0)
            self._log_file.truncate()
            self._log_file.write(self._log)
        for waiter in list(self._waiters):
            self._check_waiter(waiter)

    def _check_waiter(self, waiter: _Waiter) -> bool:
        start = max(0, waiter.start - self._log_start)
        at = self._log.find(waiter.text, start)
        if at < 0:
            return False
        if waiter in self._waiters:
            self._waiters.remove(waiter)
        waiter.client.answer(self._log_start + at + len(waiter.text))
        return True

    # What the running board asks and tells.

    def _on_child_requests(self, number: int, events: int) -> None:
        self._read_requests()

    def _read_requests(self) -> bool:
        """Handle what is in the pipe; False when there is nothing more to wait for."""
        child = self.child
        assert child is not None
        try:
            data = os.read(child.requests, 65536)
        except BlockingIOError:
            return True
        if not data:
            self._child_exited()
            return False
        *lines, self._events = (self._events + data).split(b"\n")
        for line in lines:
            if self.child is not child:
                return False  # switched off by an earlier line
            if line:
                self._handle(child, line.decode(errors="replace"))
        return self.child is child

    def _handle(self, child: Child, line: str) -> None:
        if not line.startswith("?"):
            verb, _, rest = line.partition(" ")
            handler = getattr(self, f"_tell_{verb}", None) or getattr(
                self.hardware, f"tell_{verb}", None
            )
            if handler is None:
                return
            try:
                handler(*rest.split())
            except (TypeError, ValueError) as exc:
                # An interrupt has cut the line short; there is nobody to tell but the log.
                self._note(f"event {line[:80]!r} not understood: {exc}")
            return
        number, _, question = line[1:].partition(" ")
        if not number.isdigit():
            return  # cut by an interrupt; whoever asked has gone
        status, data = self._answer(question)
        self.page.reply(status, data)
        child.answer(int(number))

    def _answer(self, question: str) -> tuple[int, bytes]:
        """Status (0, an errno, or -1 for an OSError with a text) and payload."""
        verb, _, rest = question.partition(" ")
        try:
            if verb == "wifi":
                method, _, arguments = rest.partition(" ")
                return 0, json.dumps(self.wifi.request(method, json.loads(arguments))).encode()
            handler = getattr(self, f"_ask_{verb}", None) or getattr(self.hardware, f"ask_{verb}")
            return 0, handler(*rest.split())
        except BusError as exc:
            return exc.number, b""
        except (WifiError, WorldError) as exc:
            return -1, str(exc).encode()
        except OSError as exc:
            return exc.errno or errno.EIO, b""
        except (AttributeError, TypeError, ValueError) as exc:
            # A line cut by an interrupt, or an overlay that does not match.
            return -1, f"virtual board: bad request {question[:60]!r}: {exc}".encode()

    def _tell_up(self, free: str, used: str) -> None:
        assert self.child is not None
        self.child.up = True
        self.state = "running"
        self.heap_free = int(free)

    def _tell_failed(self) -> None:
        """The interpreter could not become a board; starting it again would not help."""
        self._end_child()
        self._emit(b"virtual board: the interpreter did not start; is its heap too small?\r\n")
        self.state = "dead"

    def _tell_reset(self) -> None:
        self._chip_reset(HARD)

    def _tell_softreset(self) -> None:
        self._soft_reset()

    def _tell_bootloader(self) -> None:
        self._end_child()
        self._emit(b"waiting for download\r\n")
        self.state = "dead"

    def _tell_deepsleep(self, ms: str) -> None:
        self._end_child()
        self._lose_network()
        self._watchdog_at = None
        self.state = "asleep"
        self._wake_at = self._now() + int(ms) / 1000 if int(ms) >= 0 else None
        self._wake_by_pin()

    def _wake_by_pin(self) -> None:
        """Asleep, the chip looks at nothing but the pins it was told to; they are pulled the other way."""
        level, pins = self._wake_pins
        for pin in pins:
            if bool(self.hardware.world.get_or(f"gpio{pin}", 1.0 - level)) == bool(level):
                self._wake(_WAKE_GPIO)
                return

    def _wake(self, reason: int) -> None:
        self._wake_reason = reason
        self._chip_reset(DEEP_SLEEP)

    def _tell_powerlost(self) -> None:
        self.power_off()

    def _tell_wdt(self, ms: str) -> None:
        self._watchdog_at = self._now() + int(ms) / 1000

    def _tell_wake_on(self, level: str, *pins: str) -> None:
        self._wake_pins = (int(level), pins)

    def _ask_wake_reason(self) -> bytes:
        return b"%d" % self._wake_reason

    def _ask_unique_id(self) -> bytes:
        return _UNIQUE_ID

    def _ask_rtc(self, unix_seconds: str) -> bytes:
        self.page.clock_offset = int(unix_seconds) - int(time.time())
        return b""

    def _ask_rtc_memory(self, data: str = "") -> bytes:
        if data.startswith("="):
            self._rtc_memory = bytes.fromhex(data[1:])
        return self._rtc_memory

    def _ask_nvs(self, key: str, data: str = "") -> bytes:
        if data.startswith("="):
            self._nvs[key] = data[1:]
        elif data == "-":
            self._nvs.pop(key, None)
        elif key not in self._nvs:
            raise WifiError("ESP_ERR_NVS_NOT_FOUND")
        return bytes.fromhex(self._nvs.get(key, ""))

    def _ask_ntp(self, host: str) -> bytes:
        if not self.wifi.connected:
            raise OSError(_NAME_NOT_RESOLVED, "no network")
        return b"%d" % self._true_time()

    def _ask_resolve(self, host: str, port: str) -> bytes:
        if host in ("0.0.0.0", "::"):
            return b"0"
        if not self.wifi.connected:
            numeric = host.replace(".", "").isdigit()
            raise OSError(errno.EHOSTUNREACH if numeric else _NAME_NOT_RESOLVED, "no network")
        try:
            return b"%d" % self.relays.port(host, int(port))
        except socket.gaierror as exc:
            raise OSError(_NAME_NOT_RESOLVED, str(exc)) from exc

    def _true_time(self) -> int:
        return int(time.time()) + self.world_offset

    # The control socket.

    def _on_lifeline(self, number: int, events: int) -> None:
        if not os.read(number, 4096):
            self._stopping = True

    def _on_control_connection(self, listener: socket.socket, events: int) -> None:
        connection, _ = listener.accept()
        client = _Client(connection)

        def readable(end: socket.socket, events: int) -> None:
            self._on_control_data(client)

        self._watch(connection, selectors.EVENT_READ, readable)

    def _on_control_data(self, client: _Client) -> None:
        try:
            data = client.socket.recv(65536)
        except OSError:
            data = b""
        if not data:
            self._watch(client.socket, 0, self._on_lifeline)
            self._waiters = [one for one in self._waiters if one.client is not client]
            client.socket.close()
            return
        *lines, client.buffer = (client.buffer + data).split(b"\n")
        for line in lines:
            self._control_request(client, line)

    def _control_request(self, client: _Client, line: bytes) -> None:
        try:
            request = json.loads(line)
            do = request.pop("do")
            if do == "expect":
                self._expect(client, **request)
                return
            handler = getattr(self, f"do_{do}", None)
            if handler is None:
                raise BoardError(f"a virtual board cannot {do!r}")
            client.answer(handler(**request))
        except (BoardError, FaultError, HardwareError, WorldError) as exc:
            client.refuse(str(exc))
        except (AttributeError, KeyError, TypeError, ValueError) as exc:
            client.refuse(f"not a request: {exc}")

    def _expect(self, client: _Client, text: str, start: int, timeout_s: float) -> None:
        waiter = _Waiter(client, text.encode(), start, self._now() + timeout_s)
        if not self._check_waiter(waiter):
            self._waiters.append(waiter)

    def do_status(self) -> dict[str, Any]:
        return {
            "state": self.state,
            "boots": self.boots,
            "heap_free": self.heap_free,
            "runtime": self.runtime.kind,
            "child": self.child.process.pid if self.child else None,
            "wifi_up": self.wifi.up,
            "wifi_connected": self.wifi.connected,
            "time": self._true_time(),
            "board_time": int(time.time()) + self.page.clock_offset,
            "serial_bytes": self._log_start + len(self._log),
            **self.describe(),
        }

    def do_list(self) -> dict[str, Any]:
        devices = {
            name: {
                "chip": type(device).__name__,
                "where": self.hardware.where[name],
                "fault": device.fault,
                "faults": device.faults,
            }
            for name, device in self.hardware.devices.items()
        }
        return {"world": self.hardware.world.all(), "devices": devices}

    def do_set(self, name: str, value: float) -> None:
        self.hardware.world.set(name, value)
        if self.state == "asleep":
            self._wake_by_pin()

    def do_get(self, name: str) -> float:
        return self.hardware.world.get(name)

    def do_wifi(self, up: bool) -> None:
        self.wifi.switch(up)
        if not up:
            self.relays.cut()

    def do_fault(self, device: str, kind: str | None) -> None:
        self.hardware.device(device).set_fault(kind)

    def do_bus_log(self, bus: str) -> list[str]:
        return self.hardware.bus_log(bus)

    def do_power_on(self) -> None:
        self.power_on()

    def do_power_off(self) -> None:
        self.power_off()

    def do_power_cut(self, after_writes: int, torn: bool) -> None:
        if not self.flash:
            raise BoardError("only the MicroPython runtime writes a flash image; use power_off")
        self.page.set_cut(self.page.counters().operations + after_writes, torn)

    def do_reset(self) -> None:
        """The EN button: on an ESP32-C3 that is a power-on reset."""
        if self.state == "off":
            raise BoardError("the board has no power")
        self._rtc_memory = b""
        self.page.clock_offset = _EPOCH_2000 - int(time.time())
        self._chip_reset(POWER_ON)

    def do_soft_reset(self) -> None:
        if self.child is None:
            raise BoardError(f"the board is {self.state}")
        self._soft_reset()

    def do_flash_counters(self) -> list[int]:
        counters = self.page.counters()
        return [counters.erases, counters.programs, counters.bytes, counters.operations]

    def do_clock(
        self, advance_s: int = 0, time_s: int | None = None, drift_s: int = 0
    ) -> dict[str, int]:
        """`advance_s`: time passes, for everybody. `time_s`: what the time server says from now on.
        `drift_s`: the board's own clock goes wrong by so much."""
        if time_s is not None:
            self.world_offset = time_s - int(time.time())
        self.world_offset += advance_s
        self.page.clock_offset += advance_s + drift_s
        if self._wake_at is not None:
            self._wake_at -= advance_s
        return {
            "time": self._true_time(),
            "board_time": int(time.time()) + self.page.clock_offset,
        }

    def do_type(self, text: str) -> None:
        """As if somebody typed it at the serial line."""
        self.on_host_bytes(text.encode())

    def do_stop(self) -> None:
        self._stopping = True

    def close(self) -> None:
        """Leave nothing behind but the flash image and the log."""
        self.power_off()
        self.hardware.save(self.folder)
        for outlet in self.outlets:
            outlet.close()
        self._control.close()
        self.socket_path.unlink(missing_ok=True)
        if self.socket_path.parent != self.folder.resolve():
            self.socket_path.parent.rmdir()
        (self.folder / "tty").unlink(missing_ok=True)
        (self.folder / "board.json").unlink(missing_ok=True)
        self._log_file.close()
        self.page.close()


def main() -> None:
    config = json.loads(Path(sys.argv[1]).read_text())
    supervisor = Supervisor(config)

    def stop(number: int, frame: object) -> None:
        supervisor.do_stop()

    signal.signal(signal.SIGTERM, stop)
    # Ctrl-C in the terminal is meant for whoever started us, who then stops us.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        if config["power"]:
            supervisor.power_on()
        description = supervisor.folder / "board.json"
        temporary = description.with_suffix(".tmp")
        temporary.write_text(json.dumps(supervisor.describe()) + "\n")
        temporary.replace(description)
        print("ready", flush=True)
        supervisor.run()
    finally:
        supervisor.close()
    # Not after a crash: supervisor.log says what it was.
    if config["temporary"]:
        shutil.rmtree(config["folder"], ignore_errors=True)


if __name__ == "__main__":
    main()
