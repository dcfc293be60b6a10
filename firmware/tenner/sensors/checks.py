# tenner sensors.checks: the drivers' checks and waits before a number becomes a value.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.port.compat import sleep_ms
from tenner.sensors.errors import SensorError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Sequence
    from typing import Any


def inside(value: float, low: float, high: float) -> float:
    """Return a value rounded; SensorError when it is outside the chip's range."""
    if not low <= value <= high:
        text = "%.4g is outside the chip's range (%s to %s): chip or wiring broken?"
        raise SensorError(text % (value, low, high))
    return round(value, 2)


def crc8(data: bytearray | bytes) -> int:
    """Return the CRC-8 of Sensirion's and Aosong's chips: polynomial 0x31, start 0xFF."""
    crc = 0xFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc << 1) ^ (0x131 if crc & 0x80 else 0)
    return crc


def choice(cfg: dict, key: str, default: "Any", allowed: "Sequence") -> "Any":
    """Return a setting that must be one of `allowed`."""
    value = cfg.get(key, default)
    if value not in allowed:
        text = " or ".join([str(each) for each in allowed])
        raise SensorError("%s must be %s, not %s" % (key, text, value))
    return value


def scaled(volts: float, cfg: dict) -> dict[str, float]:
    """Return {"voltage": 1.25}, or the volts converted by the settings `value`, `scale`,
    `offset`."""
    number = volts * cfg.get("scale", 1) + cfg.get("offset", 0)
    return {cfg.get("value", "voltage"): round(number, 4)}


def wait_ms(ms: int) -> "Awaitable[None]":
    """Wait as long as a chip needs; sleep_ms may end up to 1 ms early, as it counts whole ones."""
    return sleep_ms(ms + 1)
