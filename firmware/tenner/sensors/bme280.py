# tenner sensors.bme280: BME280 and BMP280 climate sensors on I2C.
# MIT license; Copyright (c) 2026 the tenner authors
"""
Settings: bus, address (0x76). The chip tells which of the two it is.

Bosch data sheet BST-BME280-DS002, version 1.6: 3.5.1 the mode for weather (forced, everything
once), 5.3 registers, 9.1 how long it takes (9.3 ms at most), 4.2.2 trimming values, 8.1
compensation in floating point, which loses less than 0.1 Pa with 32-bit numbers. BMP280:
BST-BMP280-DS001, 3.12.
"""

from struct import unpack

from tenner.port.compat import const
from tenner.sensors.checks import inside, wait_ms
from tenner.sensors.i2cbus import bad, busy, chip, lost_supply

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.port import Port

# Registers.
_TRIM = const(0x88)
_ID = const(0xD0)
_TRIM_HUMIDITY = const(0xE1)
_CONTROL_HUMIDITY = const(0xF2)
_STATUS = const(0xF3)
_CONTROL = const(0xF4)
_DATA = const(0xF7)
# Of _ID.
_BMP280 = const(0x58)
_BME280 = const(0x60)
_MEASURING = const(8)  # of _STATUS


async def read(port: "Port", cfg: dict) -> dict[str, float]:
    bus, address = chip(port, cfg, 0x76)

    def registers(first, count):
        data = bytearray(count)
        bus.readfrom_mem_into(address, first, data)
        return data

    kind = registers(_ID, 1)[0]
    if kind not in (_BMP280, _BME280):
        raise bad(cfg, "is no BME280 or BMP280 (chip id 0x%02x)" % kind)
    if kind == _BME280:
        bus.writeto_mem(address, _CONTROL_HUMIDITY, b"\x01")
    bus.writeto_mem(address, _CONTROL, b"\x25")
    await wait_ms(10)
    if registers(_STATUS, 1)[0] & _MEASURING:
        raise busy(cfg, 10)
    data = registers(_DATA, 8)
    # After power-on the values are 0x80000, a good temperature: only the settings are zero then.
    lost = registers(_CONTROL, 1)[0] & 0xFC != 0x24
    if lost or kind == _BME280 and registers(_CONTROL_HUMIDITY, 1)[0] & 7 != 1:
        raise lost_supply(cfg)
    trim = registers(_TRIM, 26)
    fine = t_fine(data[3] << 12 | data[4] << 4 | data[5] >> 4, trim)
    values = {
        "temperature": inside(fine / 5120, -40, 85),
        "pressure": inside(
            hectopascals(data[0] << 12 | data[1] << 4 | data[2] >> 4, fine, trim), 300, 1100
        ),
    }
    if kind == _BME280:
        more = registers(_TRIM_HUMIDITY, 7)
        values["humidity"] = round(percent(data[6] << 8 | data[7], fine, trim[25], more), 2)
    return values


def t_fine(raw: int, trim: bytearray) -> float:
    """Return 5120 times the degrees, the form in which the other two need it."""
    t1, t2, t3 = unpack("<Hhh", trim[:6])
    x = raw / 16384 - t1 / 1024
    return x * t2 + x * x / 64 * t3


def hectopascals(raw: int, fine: float, trim: bytearray) -> float:
    """Return the pressure; 0 where a trimming value would divide by zero."""
    p1, p2, p3, p4, p5, p6, p7, p8, p9 = unpack("<H8h", trim[6:24])
    x = fine / 2 - 64000
    y = x * x * p6 / 131072 + x * p5 / 2 + p4 * 65536
    x = (1 + (p3 * x * x / 524288 + p2 * x) / 17179869184) * p1
    if not x:
        return 0
    p = (1048576 - raw - y / 4096) * 6250 / x
    return (p + (p9 * p * p / 2147483648 + p * p8 / 32768 + p7) / 16) / 100


def percent(raw: int, fine: float, h1: int, more: bytearray) -> float:
    """Return the relative humidity, 0 to 100; `more` are the trimming values behind `h1`."""
    h2, h3, h4, h5, h6 = unpack("<hBbbb", more[:4] + more[5:])
    h4 = h4 << 4 | more[4] & 15
    h5 = h5 << 4 | more[4] >> 4
    x = fine - 76800
    x = (raw - h4 * 64 - h5 * x / 16384) * (
        h2 / 65536 * (1 + h6 * x / 67108864 * (1 + h3 * x / 67108864))
    )
    return min(max(x * (1 - h1 * x / 524288), 0), 100)
