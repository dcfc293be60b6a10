"""Register-true models of chips, one file each, at the level of the bytes on the wire."""

from __future__ import annotations

from tenner_sim.vboard.devices.ads1115 import ADS1115
from tenner_sim.vboard.devices.aht20 import AHT20
from tenner_sim.vboard.devices.at24c32 import AT24C32
from tenner_sim.vboard.devices.base import (
    Device,
    I2CDevice,
    OneWireDevice,
    PulseDevice,
    SPIDevice,
)
from tenner_sim.vboard.devices.bh1750 import BH1750
from tenner_sim.vboard.devices.bme280 import BME280, BMP280
from tenner_sim.vboard.devices.dht22 import DHT22
from tenner_sim.vboard.devices.ds18b20 import DS18B20
from tenner_sim.vboard.devices.lm75 import LM75
from tenner_sim.vboard.devices.max6675 import MAX6675
from tenner_sim.vboard.devices.max31855 import MAX31855
from tenner_sim.vboard.devices.mcp3008 import MCP3008
from tenner_sim.vboard.devices.sht31 import SHT31
from tenner_sim.vboard.devices.sht40 import SHT40
from tenner_sim.vboard.devices.tmp102 import TMP102

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
