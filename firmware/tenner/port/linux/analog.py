# tenner port.linux.analog: voltages by IIO and pulse widths by the kernel's PWM, through sysfs.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.port.compat import const
from tenner.port.linux.buses import first_line, listed, node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_IIO = "/sys/bus/iio/devices/"
_PWM = "/sys/class/pwm/"
_NS = const(1000000000)


def channels(top: str = "") -> "Iterator[tuple[str, str, str]]":
    """Yield (device, folder, channel) of every voltage input, such as ("ads1015", ..., "0")."""
    for device in listed(top + _IIO):
        folder = top + _IIO + device
        for file in listed(folder):
            if file.startswith("in_voltage") and file.endswith("_raw"):
                yield first_line(folder + "/name"), folder, file[10:-4]


def outputs(top: str = "") -> "Iterator[tuple[str, str, str, str]]":
    """Yield (chip, folder, channel, node in the device tree) of every PWM, such as ("pwmchip4",
    ...)."""
    for chip in listed(top + _PWM):
        folder = top + _PWM + chip
        for channel in range(int(first_line(folder + "/npwm") or "0")):
            yield chip, folder, str(channel), node(folder + "/device")


class Adc:
    """One channel of an IIO device, with the methods of machine.ADC."""

    def __init__(self, folder: str, channel: str) -> None:
        self._base = folder + "/in_voltage"
        self._channel = channel
        # le:u12/16>>4: twelve bits of sixteen.
        kind = first_line("%s/scan_elements/in_voltage%s_type" % (folder, channel))
        digits = kind.partition(":")[2][1:].partition("/")[0]
        self._bits = int(digits) if digits.isdigit() else 0

    def read_u16(self) -> int:
        """Return the value with 65535 as full scale, or unscaled when the driver does not report
        its bits."""
        raw = self._number("raw", None)
        return raw * 65535 // ((1 << self._bits) - 1) if self._bits else int(raw)

    def read_uv(self) -> int:
        """Return microvolts."""
        volts = (self._number("raw", None) + self._number("offset", 0)) * self._number("scale", 1)
        return round(volts * 1000)

    def _number(self, what, default):
        """Return a figure of this channel, else of the entire device."""
        for channel in (self._channel, ""):
            path = "%s%s_%s" % (self._base, channel, what)
            text = first_line(path)
            if text:
                return float(text) if "." in text else int(text)
        if default is None:
            raise OSError("%s%s_%s cannot be read" % (self._base, self._channel, what))
        return default


class Pwm:
    """One channel of a PWM, with methods of machine.PWM; it runs until `deinit`."""

    def __init__(self, folder: str, channel: str) -> None:
        self._chip = folder
        self._channel = channel
        self._folder = "%s/pwm%s" % (folder, channel)
        if not listed(self._folder):
            self._write(folder + "/export", channel)

    def set(self, freq: int, duty_u16: int) -> None:
        """Start the pulses, or change them."""
        period = _NS // freq
        # The kernel refuses a pulse longer than its period at every step between two settings.
        if int(first_line(self._folder + "/duty_cycle") or "0"):
            self._write(self._folder + "/duty_cycle", 0)
        self._write(self._folder + "/period", period)
        self._write(self._folder + "/duty_cycle", period * duty_u16 // 65535)
        self._write(self._folder + "/enable", 1)

    def freq(self) -> int:
        period = int(first_line(self._folder + "/period") or "0")
        return round(_NS / period) if period else 0

    def duty_u16(self) -> int:
        period = int(first_line(self._folder + "/period") or "0")
        on = int(first_line(self._folder + "/duty_cycle") or "0")
        return round(on * 65535 / period) if period else 0

    def deinit(self) -> None:
        self._write(self._folder + "/enable", 0)
        self._write(self._chip + "/unexport", self._channel)

    def _write(self, path, value):
        try:
            with open(path, "w") as file:
                file.write(str(value))
        except OSError as error:
            why = "no permission" if error.args[0] in (1, 13) else str(error)
            raise OSError("%s = %s: %s" % (path, value, why))
