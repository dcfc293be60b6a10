# tenner sensors.ds18b20: DS18B20 and DS1822 thermometers on a 1-Wire pin.
# MIT license; Copyright (c) 2026 the tenner authors
"""
Settings: pin, rom (16 hex digits; needed when there are several on the pin).

Maxim data sheet 19-7487, revision 6: "64-bit lasered ROM code", "Memory" with the scratchpad (figure 9)
and its checksum, "DS18B20 function commands", table 2 (750 ms for 12 bits).
"""

from binascii import hexlify, unhexlify

from tenner.port.compat import const, sleep_ms
from tenner.sensors import SensorError
from tenner.sensors.checks import inside

_MARK = const(0x5A)


async def read(port, cfg):
    try:
        from onewire import OneWire
    except ImportError:
        raise SensorError("this MicroPython has no module onewire")
    name = cfg.get("pin")
    pins = port.pins()
    pins.check(name, "out")
    pin = pins.pin(name, "up")
    wire = OneWire(pin)
    rom = _rom(wire, pin, cfg.get("rom"))
    if isinstance(rom, str):
        raise SensorError("pin %s: %s" % (name, rom))

    def command(byte):
        wire.select_rom(rom)
        wire.writebyte(byte)

    # Alarm limits that nobody uses, and 12 bits. A chip that loses its supply forgets them too.
    command(0x4E)
    wire.write(bytes((_MARK, _MARK, 0x7F)))
    command(0x44)
    await sleep_ms(750)
    if not wire.readbit():
        raise SensorError("pin %s: the sensor is not done after 750 ms" % name)
    command(0xBE)
    data = bytearray(9)
    wire.readinto(data)
    if wire.crc8(data):
        raise SensorError("pin %s: wrong checksum; long wires, or no such rom?" % name)
    if data[2] != _MARK:
        raise SensorError("pin %s: the sensor lost its supply while it measured" % name)
    raw = data[1] << 8 | data[0]
    return {"temperature": inside((raw - (raw >> 15 << 16)) / 16, -55, 125)}


def _rom(wire, pin, rom):
    """Return the ROM of the sensor to ask, or what is wrong as a text."""
    if not wire.reset():
        return "no answer: wiring, power, or the pull-up of 4.7 kOhm?"
    if not pin.value():
        return "the line is held low: short circuit, or a chip without power?"
    if rom:
        try:
            rom = unhexlify(str(rom))
        except ValueError:
            rom = b""
        return rom if len(rom) == 8 else "rom must be 16 hex digits"
    found = [rom for rom in wire.scan() if rom[0] in (0x22, 0x28)]
    if len(found) == 1:
        return found[0]
    if not found:
        return "no DS18B20 answers"
    return "set rom to one of " + ", ".join([hexlify(rom).decode() for rom in found])
