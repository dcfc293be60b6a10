# tenner port.linux.buses: a Linux board's buses by name, from pins.csv, settings and sysfs.
# MIT license; Copyright (c) 2026 the tenner authors
"""
The kernel numbers its buses as it finds them, so a board's `pins.csv` gives them stable names:

    I2C5,/i2c5@gpio               the controller's node in the device tree, or the adapter's own
                                  name
    I2C1,/i2c@04010000,shared: why
    A14,3020000.gpio:14           line 14 of the GPIO chip with this label

A bus whose note starts with `shared:` is refused until `i2c.<bus>.shared` is true, for the board's
network needs it. Where pins.csv names no bus, those of the device tree go by the kernel's names,
`i2c-1` and `spi0.0`; others, such as those of a PC with its memory and its screen on them, only
when the settings name them.
"""

import os

from tenner.port.linux.i2c import I2C
from tenner.port.linux.spi import SPI

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from tenner.port.linux.spi import ChipSelect
    from tenner.port.types import Sections


class Buses:
    """`config` is the owner's settings or None; `kept` holds open buses; `top` is where /sys and
    /dev are."""

    def __init__(
        self, path: str, config: "Sections | None" = None, kept: dict | None = None, top: str = ""
    ) -> None:
        self.path = path
        self._config = config
        self._kept = {} if kept is None else kept
        self._top = top

    def rows(self) -> "Iterator[tuple[str, str, str]]":
        """Yield (name, place, note) of every row of pins.csv; a machine without the file has no
        rows."""
        try:
            file = open(self.path)
        except OSError:
            return
        with file:
            for line in file:
                cells = line.strip().split(",", 2)
                if len(cells) > 1:
                    yield cells[0], cells[1], cells[2] if len(cells) > 2 else ""

    def buses(self, kind: str) -> list[str]:
        """Return the names of the buses of kind "i2c", or the devices of kind "spi", that may be
        used."""
        return sorted([name for name, _, why in self._found(kind) if not why])

    def why_not(self, kind: str, name: str) -> str | None:
        """Return why a bus that is there may not be used, or None."""
        for found, _, why in self._found(kind):
            if found == name:
                return why
        return None

    def i2c(self, name: str) -> I2C:
        """Open a bus: return it with the API of machine.I2C."""
        return I2C(self._device("i2c", name))

    def spi(self, name: str) -> "tuple[SPI, ChipSelect]":
        """Open a device: return it with the API of machine.SPI, and its chip select."""
        path = self._device("spi", name)
        freq = self._section("spi").get(name.split(".")[0], {}).get("freq", 1000000)
        device = SPI(path, freq)
        return device, device.cs

    def _device(self, kind, name):
        """Return the device file of a bus; OSError says why it has none."""
        for found, path, why in self._found(kind):
            if found == name:
                if why:
                    raise OSError(why)
                return path
        for row_name, place, _ in self.rows():
            if row_name.lower() == name.split(".")[0]:
                what = "i2c adapter" if kind == "i2c" else "device bound to spidev"
                raise OSError("%s: this kernel has no %s at %s" % (name, what, place))
        shown = ", ".join(self.buses(kind)) or "none"
        raise OSError("there is no %s bus %s; buses: %s" % (kind, name, shown))

    def _found(self, kind):
        """Return (name, device file, why it is refused or None) of every bus the kernel has."""
        wanted = {}
        for name, place, note in self.rows():
            name = name.lower()
            if name.startswith(kind) and name[3:].isdigit():
                wanted[place] = (name, note)
        section = self._section(kind)
        result = []
        for name, device, where, adapter in self._present(kind):
            bus, note = wanted.get(where) or wanted.get(adapter) or (None, "")
            if bus is not None:
                name = bus if kind == "i2c" else bus + name[name.index(".") :]
            else:
                bus = name.split(".")[0]
                if bus not in section and (wanted or not where):
                    continue
            why = None
            if note.startswith("shared:") and not section.get(bus, {}).get("shared"):
                why = "%s is %s. If you do without that, set %s.%s.shared to true" % (
                    bus,
                    note,
                    kind,
                    bus,
                )
            result.append((name, self._top + "/dev/" + device, why))
        return result

    def _present(self, kind):
        """Yield (the kernel's name, device file, node in the device tree or "", adapter's
        name)."""
        if kind == "i2c":
            folder = self._top + "/sys/bus/i2c/devices/"
            for name in listed(folder):
                if name.startswith("i2c-") and name[4:].isdigit():
                    yield name, name, node(folder + name), first_line(folder + name + "/name")
        else:
            masters = self._top + "/sys/class/spi_master/"
            for device in listed(self._top + "/sys/class/spidev"):
                name = "spi" + device[6:]
                yield name, device, node(masters + name.split(".")[0]), ""

    def _section(self, kind):
        return self._config.section(kind) if self._config is not None else {}


def node(folder: str) -> str:
    """Return the node of a device in the device tree, such as /soc/i2c@21a0000; "" when it has
    none."""
    try:
        with open(folder + "/uevent") as file:
            for line in file:
                if line.startswith("OF_FULLNAME="):
                    return line[12:].strip()
    except OSError:
        pass
    return ""


def first_line(path: str) -> str:
    """Return the first line of a file, "" when it is absent."""
    try:
        with open(path) as file:
            return file.readline().strip()
    except OSError:
        return ""


def listed(folder: str) -> list[str]:
    """Return the sorted names in a folder, [] when it is absent."""
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []
