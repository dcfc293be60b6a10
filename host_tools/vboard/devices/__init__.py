"""Register-true models of chips, one file each, at the level of the bytes on the wire."""

from __future__ import annotations

from host_tools.vboard.devices.at24c32 import AT24C32
from host_tools.vboard.devices.base import Device, I2CDevice, SPIDevice
from host_tools.vboard.devices.max31855 import MAX31855
from host_tools.vboard.devices.sht31 import SHT31
from host_tools.vboard.devices.tmp102 import TMP102

#: By the name `chip` has in devices.json.
CHIPS: dict[str, type[Device]] = {
    "AT24C32": AT24C32,
    "MAX31855": MAX31855,
    "SHT31": SHT31,
    "TMP102": TMP102,
}

__all__ = ["AT24C32", "CHIPS", "MAX31855", "SHT31", "TMP102", "Device", "I2CDevice", "SPIDevice"]
