# tenner port.gpio: single pins by name: levels, voltages, pulse widths, and the reasons to refuse.
# MIT license; Copyright (c) 2026 the tenner authors
"""
`port.pins()` returns a `Gpio` on an ESP32; the ports of other platforms return objects with the
same `names`, `check`, `pin`, `adc` and `pwm`. Every error is an OSError with a sentence. A tool
calls `check` first, which touches no hardware; the other methods check again.

`use` is "in" (read unchanged), "up" or "down" (an input with that resistor), "out", "adc" or
"pwm".
"""

from tenner.port.pins import Pins

TYPE_CHECKING = False
if TYPE_CHECKING:
    import machine

    from tenner.port.types import Sections

_LINES = ("scl", "sda", "sck", "mosi", "miso", "cs")


class Gpio(Pins):
    """The pins of `pins.csv` that are no bus."""

    def __init__(
        self, path: str, config: "Sections | None" = None, kept: dict | None = None
    ) -> None:
        super().__init__(path, config, kept)
        self._wired = {}

    def names(self, kind: str) -> list[str]:
        """Return the names of the pins the tool gpio, adc or pwm may use; without any the tool is
        not offered."""
        use = "out" if kind == "pwm" else "up"
        return [
            name
            for name, gpio, note in self.rows()
            if (kind != "adc" or (name[0] == "A" and name[1:].isdigit()))
            and not self._why_not(gpio, note, use)
        ]

    def check(self, name: int | str, use: str) -> tuple[str, str]:
        """Return (name, "GPIOn") of a pin that may be used so."""
        name, gpio = self._usable(name, use)
        return name, "GPIO%d" % gpio

    def pin(self, name: int | str, use: str, value: int | None = None) -> "machine.Pin":
        """
        Return an object whose value() is the level. With "out" value(level) drives the pin, from
        `value` on. "in" changes nothing: it reads back the level of an output.
        """
        from machine import Pin

        gpio = self._usable(name, use)[1]
        kept = self.kept.get(gpio)
        if use == "in":
            if kept is None and not self._line(gpio):
                return Pin(gpio, Pin.IN)
            return Pin(gpio)
        if hasattr(kept, "deinit"):
            kept.deinit()
        if use == "out":
            self.kept[gpio] = Pin(gpio, Pin.OUT, value=value)
            return self.kept[gpio]
        self.kept.pop(gpio, None)
        return Pin(gpio, Pin.IN, Pin.PULL_UP if use == "up" else Pin.PULL_DOWN)

    def adc(self, name: int | str) -> "machine.ADC":
        """Return an object with read_u16(), 65535 being full scale, and read_uv(), in
        microvolts."""
        from machine import ADC, Pin

        name, gpio = self._usable(name, "adc")
        try:
            made = ADC(Pin(gpio), atten=ADC.ATTN_11DB)
            made.read_uv()
            return made
        except OSError as error:
            # ESP-IDF's number has its name with it: (-258, "ESP_ERR_INVALID_ARG").
            text = "pin %s (GPIO%d): the chip's converter gives no voltage (%s); try another pin"
            raise OSError(text % (name, gpio, error.args[-1]))
        except ValueError:
            which = ", ".join(self.names("adc"))
            raise OSError("pin %s (GPIO%d) measures no voltage; pins: %s" % (name, gpio, which))

    def pwm(self, name: int | str, freq: int, duty_u16: int) -> "machine.PWM":
        """Start or change pulses of `freq` Hz; return an object with freq(), duty_u16() and
        deinit()."""
        from machine import PWM, Pin

        name, gpio = self._usable(name, "pwm")
        try:
            self.kept[gpio] = PWM(Pin(gpio), freq=freq, duty_u16=duty_u16)
        except ValueError as error:
            raise OSError("pin %s (GPIO%d): %s" % (name, gpio, error))
        return self.kept[gpio]

    def _usable(self, name, use):
        row = self.find(name)
        if row is None:
            raise OSError("there is no pin %s; pins: %s" % (name, ", ".join(self.names("gpio"))))
        why = self._why_not(row[1], row[2], use)
        if why:
            raise OSError("pin %s (GPIO%d) %s" % (row[0], row[1], why))
        return row[:2]

    def _why_not(self, gpio, note, use):
        driven = use in ("out", "pwm")
        if note.startswith("reserved:") or (driven and note.startswith("input only:")):
            return "is " + note
        line = use != "in" and self._line(gpio)
        return "carries %s: that bus would stop working" % line if line else None

    def _line(self, gpio):
        """Return the bus line on a pin, such as I2C0_SCL, or None."""
        wired = self._wired
        if not wired:
            for name, number, _ in self.rows():
                if name[:3] in ("I2C", "SPI") and name[4:5] == "_":
                    wired[name] = number
            for kind in ("i2c", "spi"):
                section = self.section(kind)
                for bus in section:
                    for line in _LINES:
                        row = line in section[bus] and self.find(section[bus][line])
                        if row:
                            wired[("%s_%s" % (bus, line)).upper()] = row[1]
        for name in wired:
            if wired[name] == gpio:
                return name
        return None
