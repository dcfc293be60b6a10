"""The cable, the port, its driver, and the chip's own loader."""

from __future__ import annotations

import sys
from pathlib import Path

from tenner_host.board import ports
from tenner_host.board.port_errors import holders
from tenner_host.board.ports import Port
from tenner_host.catalog import chip_of
from tenner_host.doctor.findings import Part, fail, ok, skip, warn
from tenner_host.errors import CommandError

_USB = Path("/sys/bus/usb/devices")
_TTY = Path("/sys/class/tty")
#: Bridges that need a separate driver, by vendor id.
_BRIDGES = {0x10C4: "cp210x", 0x1A86: "ch341", 0x0403: "ftdi_sio"}


def check_port(port: Port) -> Part:
    """Other programs that have the port open, and its driver."""
    others = holders(port.device) if "://" not in port.device else []
    if others:
        yield warn(
            "port",
            (
                f"{port.label} is also open in {', '.join(others)}, which takes some of the "
                "board's output"
            ),
            "close that program",
        )
    else:
        yield ok("port", f"{port.label} is there, and no other program has it open")
    if port.vid is not None and sys.platform == "linux":
        yield ok(
            "driver",
            f"the kernel drives it with {driver(port.device) or 'a driver without a name'}",
        )


def driver(device: str) -> str | None:
    """The kernel's driver of a port."""
    link = _TTY / Path(device).name / "device" / "driver"
    try:
        return link.resolve(strict=True).name
    except OSError:
        return None


def without_port(usb: Path = _USB, tty: Path = _TTY) -> Part:
    """Without a port: report a bridge that is plugged in and has no driver."""
    try:
        makers = [int(path.read_text(), 16) for path in usb.glob("*/idVendor")]
    except (OSError, ValueError):
        makers = []
    for maker in makers:
        name = _BRIDGES.get(maker)
        if name and not list(tty.glob("ttyUSB*")):
            yield fail(
                "driver",
                f"a board with a {name} bridge is plugged in, but the kernel gives it no port",
                f"run `sudo modprobe {name}`; on Ubuntu `brltty` takes such bridges for itself: "
                "`sudo apt remove "
                "brltty`, then plug the board in again",
            )
            return
    yield skip("driver", "no USB serial port to look at")


def check_loader(port: Port, machine: str | None, flash_total: int | None) -> Part:
    """The chip's loader, which `tenner flash` needs; the check resets the chip. `machine` is the
    name that its MicroPython reports, None without an answer.
    """
    from tenner_host.flash.loader import Loader

    try:
        with Loader(port.device) as loader:
            chip, size = loader.chip, loader.flash_size
    except CommandError as exc:
        what, _, advice = exc.message.partition(". ")
        make = warn if machine else fail
        yield make("loader", f"{what}; it can only be flashed by hand", advice)
        yield skip("image", "the chip is unknown, so its image cannot be checked")
        return
    yield ok("loader", f"the loader answers: an {chip} with {size // 1024 // 1024} MB of flash")
    if machine is None:
        yield fail(
            "image", f"the {chip} is alive, but no MicroPython answers on it", "run `tenner flash`"
        )
    elif (made_for := chip_of(machine)) not in (None, chip):
        yield fail(
            "image",
            f"the MicroPython on this {chip} was made for {made_for}",
            "run `tenner flash`, which picks the right one",
        )
    elif flash_total is not None and flash_total < size // 4:
        yield warn(
            "image",
            f"the file system has {flash_total // 1024} KB of {size // 1024} KB of flash: the "
            "image was made for "
            "a smaller chip",
            "`tenner flash` with the image for this flash size gives you the rest",
        )
    else:
        yield ok("image", f"the MicroPython on it was made for this chip ({chip})")


def find_port(port: str | None, sim: str | None) -> Port:
    """The port of the board to check, found as every command finds it."""
    from tenner_host.project import Project

    return ports.choose(Project.find(), port, sim)
