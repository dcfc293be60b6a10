# tenner port: the only folder that knows which platform this is.
# MIT license; Copyright (c) 2026 the tenner authors

try:
    # Only an ESP32 and the virtual board have this module.
    import esp32

    HAS_ESP32 = esp32 is not None
except ImportError:
    HAS_ESP32 = False

TYPE_CHECKING = False
if TYPE_CHECKING:
    import machine

    from tenner.port import esp32 as _esp32
    from tenner.port.linux import i2c as _i2c
    from tenner.port.linux import port as _linux
    from tenner.port.linux import spi as _spi

    Port = _esp32.Port | _linux.Port
    I2C = machine.I2C | _i2c.I2C
    SPI = machine.SPI | _spi.SPI


def open_port(root: str = "") -> "Port":
    """Return the `Port` of this platform; `root` is the folder that holds config.json and the
    rest."""
    if HAS_ESP32:
        from tenner.port.esp32 import Port
    else:
        from tenner.port.linux.port import Port
    return Port(root)
