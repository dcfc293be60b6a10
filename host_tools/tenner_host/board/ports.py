"""The choice of a board's port: by USB identity, by name, remembered for the project, or from a
question."""

from __future__ import annotations

import glob
import os
import sys
from dataclasses import asdict, dataclass
from typing import Any

from tenner_host import prompts
from tenner_host.board.sims import running_boards
from tenner_host.errors import PortError
from tenner_host.output import echo
from tenner_host.project import Project

#: USB vendors of ESP32 boards and of their bridges; these come first.
_LIKELY = {
    0x303A: "Espressif",
    0x10C4: "CP210x",
    0x1A86: "CH34x",
    0x0403: "FTDI",
    0x2341: "Arduino",
    0x239A: "Adafruit",
    0x2E8A: "Raspberry Pi",
    0xF055: "MicroPython",
}


@dataclass(frozen=True)
class Port:
    """A port and its identity; `sim` names a virtual board, `ssh://…` a Linux board."""

    device: str
    vid: int | None = None
    pid: int | None = None
    serial: str | None = None
    product: str = ""
    sim: str | None = None

    @property
    def label(self) -> str:
        if self.sim:
            return f"virtual board {self.sim!r}"
        name = self.product or _LIKELY.get(self.vid or 0, "")
        known = f" [{self.vid:04x}:{self.pid:04x}]" if self.vid is not None else ""
        number = f" {self.serial}" if self.serial else ""
        return f"{self.device} {name}{known}{number}".replace("  ", " ")

    def same_board(self, other: Port) -> bool:
        """Is it the same board, perhaps on another port?"""
        if self.sim or other.sim:
            return self.sim == other.sim
        if (self.vid, self.pid) != (other.vid, other.pid):
            return False
        if self.serial and other.serial:
            return self.serial == other.serial
        return self.device == other.device

    def as_json(self) -> dict[str, Any]:
        return {key: value for key, value in asdict(self).items() if value not in (None, "")}


def list_ports() -> list[Port]:
    """Every USB serial port, the likely ones first."""
    from serial.tools import list_ports as system

    found = [
        Port(one.device, one.vid, one.pid, one.serial_number, one.product or "")
        for one in system.comports()
        if one.vid is not None
    ]
    return sorted(found, key=lambda port: (port.vid not in _LIKELY, port.device))


def list_sims() -> list[Port]:
    """The virtual boards that are running and plugged in."""
    running = running_boards()
    return [Port(known["pty"], sim=name) for name, known in running.items() if known["pty"]]


def connected(named: str | None) -> list[Port]:
    """Every visible board, and the one that is `named`, which a list of USB ports may omit."""
    found = [*list_ports(), *list_sims()]
    if named:
        port = _given(named)
        if port not in found:
            found.insert(0, port)
    return found


def remembered(project: Project) -> Port | None:
    """The project's board, wherever it is now."""
    known = project.load().get("port")
    return Port(**known) if isinstance(known, dict) else None


def choose(
    project: Project, port: str | None = None, sim: str | None = None, *, ask: bool | None = None
) -> Port:
    """The port to use; PortError when nothing determines it. `ask` None: only at a terminal."""
    if sim is not None:
        return _named_sim(sim)
    if port:
        return _given(port)
    usb = list_ports()
    known = remembered(project)
    if known is not None:
        return _find(known, usb)
    candidates = usb or list_sims()
    if len(candidates) == 1:
        return candidates[0]
    if not candidates:
        raise PortError(_nothing())
    if sys.stdin.isatty() and sys.stderr.isatty() if ask is None else ask:
        return _prompt(candidates)
    labels = "; ".join(one.label for one in candidates)
    raise PortError(f"several boards are connected; choose one with --port: {labels}")


def refind(port: Port) -> str:
    """The device of a board that vanished; PortError while it is away."""
    if port.sim:
        return _named_sim(port.sim).device
    if port.vid is None:
        return port.device
    return _find(port, list_ports()).device


def _given(port: str) -> Port:
    if port.startswith(("ssh://", "mqtt://", "lan://")):
        return Port(port)
    for one in list_ports():
        # Windows takes com5 for COM5; a device elsewhere has lower-case letters.
        if port in (one.device, one.serial) or port.upper() == one.device:
            return one
    for one in list_sims():
        if os.path.realpath(port) == os.path.realpath(one.device):
            return one
    return Port(port)


def _named_sim(name: str) -> Port:
    running = list_sims()
    for one in running:
        if one.sim == name:
            return one
    known = ", ".join(one.sim or "" for one in running) or "none"
    raise PortError(
        f"no virtual board named {name!r} is running (running: {known}); start it with "
        f"`tenner sim start --sim {name}`, or plug it in again with `tenner sim plug`"
    )


def _find(known: Port, usb: list[Port]) -> Port:
    if known.sim:
        return _named_sim(known.sim)
    if known.vid is None:
        return known
    for one in usb:
        if one.same_board(known):
            return one
    others = "; ".join(one.label for one in usb) or "none"
    raise PortError(
        f"this project's board ({known.label}) is not connected; connected: {others}. "
        "Plug it in, or name another with --port"
    )


def _nothing() -> str:
    if sys.platform == "linux":
        without = sorted(glob.glob("/dev/ttyACM*") + glob.glob("/dev/ttyUSB*"))
        if without:
            return (
                f"no USB board is recognized, but there is {', '.join(without)}: name it with "
                "--port"
            )
    return (
        "no board is connected: use a USB cable with data lines, and another socket; "
        "`tenner sim start` gives you a virtual one"
    )


def _prompt(candidates: list[Port]) -> Port:
    for number, one in enumerate(candidates, 1):
        echo(f"  {number}  {one.label}", err=True)
    numbers = [str(number) for number in range(1, len(candidates) + 1)]
    return candidates[int(prompts.choose("Which board", numbers, "1")) - 1]
