"""Register-true models of chips, one file each, at the level of the bytes on the wire."""

from __future__ import annotations

from host_tools.vboard.devices.ads1115 import ADS1115
from host_tools.vboard.devices.aht20 import AHT20
from host_tools.vboard.devices.at24c32 import AT24C32
from host_tools.vboard.devices.base import (
    Device,
    I2CDevice,
    OneWireDevice,
    PulseDevice,
    SPIDevice,
)
from host_tools.vboard.devices.bh1750 import BH1750
from host_tools.vboard.devices.bme280 import BME280, BMP280
from host_tools.vboard.devices.dht22 import DHT22
from host_tools.vboard.devices.ds18b20 import DS18B20
from host_tools.vboard.devices.lm75 import LM75
from host_tools.vboard.devices.max6675 import MAX6675
from host_tools.vboard.devices.max31855 import MAX31855
from host_tools.vboard.devices.mcp3008 import MCP3008
from host_tools.vboard.devices.sht31 import SHT31
from host_tools.vboard.devices.sht40 import SHT40
from host_tools.vboard.devices.tmp102 import TMP102

#: By the value of `chip` in devices.json.
CHIPS: dict[str, type[Device]] = {
    chip.__name__: chip
    for chip in (
        ADS1115,
        AHT20,
        AT24C32,
        BH1750,
        BME280,
        BMP280,
        DHT22,
        DS18B20,
        LM75,
        MAX31855,
        MAX6675,
        MCP3008,
        SHT31,
        SHT40,
        TMP102,
    )
}

__all__ = [
    "ADS1115",
    "AHT20",
    "AT24C32",
    "BH1750",
    "BME280",
    "BMP280",
    "CHIPS",
    "DHT22",
    "DS18B20",
    "LM75",
    "MAX31855",
    "MAX6675",
    "MCP3008",
    "SHT31",
    "SHT40",
    "TMP102",
    "Device",
    "I2CDevice",
    "OneWireDevice",
    "PulseDevice",
    "SPIDevice",
]
