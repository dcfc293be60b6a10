# tenner port.linux.pins: single pins of a Linux board by name; the Linux side of `port.gpio`.
# MIT license; Copyright (c) 2026 the tenner authors
"""
Rows of `pins.csv` besides those of buses:

    A14,3020000.gpio:14            line 14 of the GPIO chip with this label;
    PWM6,pwm:/pwm@3061000:2        channel 2 of the PWM at this node of the device tree;
    VBAT,iio:ads1015:0             voltage input 0 of the IIO device of this name

Notes that start with `reserved:` and `input only:` mean the same on every board. Without such rows
pins have the kernel's names: lines that have a name, `pwmchip4.2`, `ads1015.0`.
"""

from tenner.log import log
from tenner.port.linux import gpio
from tenner.port.linux.analog import Adc, Pwm, channels, outputs
from tenner.port.linux.buses import Buses, node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Gpio(Buses):
    """See `port.gpio.Gpio`, whose methods these are."""

    def names(self, kind: str) -> list[str]:
        """Return the names of the pins the tool gpio, adc or pwm may use; without any the tool is
        not offered."""
        use = "out" if kind == "pwm" else "up"
        table = self._table(kind)
        return [name for name, place, note in table if not self._why_not(place, note, use)]

    def check(self, name: str, use: str) -> tuple[str, str]:
        """Return (name, place) of a pin that may be used so."""
        name = str(name)
        kind = use if use in ("adc", "pwm") else "gpio"
        table = self._table(kind)
        for row in table:
            if row[0].upper() == name.upper() or row[1] == name:
                # A pin is as reserved as the strictest of its rows.
                for _, place, note in table:
                    why = place == row[1] and self._why_not(place, note, use)
                    if why:
                        raise OSError("pin %s (%s) %s" % (row[0], place, why))
                return row[:2]
        shown = ", ".join(self.names(kind)) or "none"
        raise OSError("there is no %s pin %s; pins: %s" % (kind, name, shown))

    def pin(self, name: str, use: str, value: int | None = None) -> "Any":
        """
        Return an object whose value() is the level. With "out" value(level) drives the pin, from
        `value` on. "in" changes nothing: it reads back the level of an output.
        """
        name, place = self.check(name, use)
        held = self._kept.get(place)
        if use == "in" and held is not None:
            return held
        if held is not None:
            held.close()
            del self._kept[place]
        path, offset = self._line(place)
        if use != "out":
            return _Input(path, offset, use, name)
        self._kept[place] = _taken(path, offset, use, name, value)
        return self._kept[place]

    def adc(self, name: str) -> Adc:
        """Return an object with read_u16(), 65535 being full scale, and read_uv(), in
        microvolts."""
        name, place = self.check(name, "adc")
        for device, folder, channel in channels(self._top):
            if "iio:%s:%s" % (device, channel) == place:
                return Adc(folder, channel)
        raise OSError("pin %s: this kernel has no %s" % (name, place))

    def pwm(self, name: str, freq: int, duty_u16: int) -> Pwm:
        """Start or change pulses of `freq` Hz; return an object with freq(), duty_u16() and
        deinit()."""
        name, place = self.check(name, "pwm")
        for chip, folder, channel, where in outputs(self._top):
            if place in ("pwm:%s:%s" % (where, channel), "pwm:%s:%s" % (chip, channel)):
                made = Pwm(folder, channel)
                made.set(freq, duty_u16)
                return made
        raise OSError("pin %s: this kernel has no %s" % (name, place))

    # --- tables of pins

    def _table(self, kind):
        """Return the rows (name, place, note) for a tool, of pins.csv or else of the kernel."""
        key = "pins " + kind
        if key not in self._kept:
            rows = [row for row in self.rows() if ":" in row[1]]
            if kind == "gpio":
                rows = [row for row in rows if row[1][:4] not in ("pwm:", "iio:")]
            else:
                prefix = "iio:" if kind == "adc" else "pwm:"
                rows = [row for row in rows if row[1].startswith(prefix)]
            self._kept[key] = rows or self._kernels(kind)
        return self._kept[key]

    def _kernels(self, kind):
        """Return (name, place, "") of the pins that the kernel names; a PC's own wiring is no part
        of them."""
        if kind == "adc":
            return [
                ("%s.%s" % (d, n), "iio:%s:%s" % (d, n), "") for d, _, n in channels(self._top)
            ]
        if kind == "pwm":
            found = [(c, n) for c, _, n, where in outputs(self._top) if where]
            return [("%s.%s" % pair, "pwm:%s:%s" % pair, "") for pair in found]
        rows = []
        for path in self._chips():
            try:
                label, lines = gpio.label(path)
                for name, offset in gpio.line_names(path, lines):
                    rows.append((name, "%s:%d" % (label, offset), ""))
            except OSError as error:
                # The list only decides which tools there are: a chip that fails to open is logged
                # and skipped.
                log("pins", str(error))
        return rows

    def _chips(self):
        """Yield the GPIO chips that are part of a board."""
        for path in gpio.chips(self._top + "/dev"):
            if node(self._top + "/sys/bus/gpio/devices/" + path.split("/")[-1]):
                yield path

    def _line(self, place):
        """Return (path of the chip, line) of a place such as 3020000.gpio:14."""
        label, _, offset = place.rpartition(":")
        for path in self._chips():
            if gpio.label(path)[0] == label:
                return path, int(offset)
        raise OSError("this kernel has no GPIO chip %s" % label)

    def _why_not(self, place, note, use):
        if note.startswith("reserved:") or (
            use in ("out", "pwm") and note.startswith("input only:")
        ):
            return "is " + note
        if use != "in":
            for name, other, _ in self.rows():
                if other == place and name[:3] in ("I2C", "SPI"):
                    return "carries %s: that bus would stop working" % name
        return None


class _Input:
    """An input that is taken from the chip for each reading, and is free for others in between."""

    def __init__(self, *where):
        self._where = where

    def value(self):
        line = _taken(*self._where)
        try:
            return line.value()
        finally:
            line.close()


def _taken(path, offset, use, name, level=None):
    """Return the line; OSError says who has it."""
    try:
        return gpio.Line(path, offset, use, level)
    except OSError as error:
        code = error.args[0]
    if code == 16:
        who = gpio.line_info(path, offset)[1]
        raise OSError("pin %s is in use by %s (EBUSY)" % (name, who))
    if code == 25:
        raise OSError(
            "pin %s: this kernel, older than 5.10, has no GPIO lines of version 2" % name
        )
    if code in (22, 95) and use in ("up", "down"):
        raise OSError("pin %s: its chip has no pull-%s resistor to switch on" % (name, use))
    raise OSError(code, "pin %s" % name)
