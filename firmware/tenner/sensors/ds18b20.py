# tenner sensors.ds18b20: DS18B20 and DS1822 thermometers on a 1-Wire pin.
# MIT license; Copyright (c) 2026 the tenner authors
"""
Settings: pin, rom (16 hex digits; needed with several chips on the pin).

Maxim data sheet 19-7487, revision 6: "64-bit lasered ROM code", "Memory" with the scratchpad
(figure 9) and its checksum, "DS18B20 function commands", table 2 (750 ms for 12 bits).
"""

from binascii import hexlify, unhexlify

from tenner.port.compat import const
from tenner.sensors.checks import inside, wait_ms
from tenner.sensors.errors import SensorError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.port import Port

_FAMILIES = (0x22, 0x28)  # the first byte of a rom: DS1822, DS18B20
_CONVERT = const(0x44)
_WRITE_SCRATCHPAD = const(0x4E)
_READ_SCRATCHPAD = const(0xBE)
_TWELVE_BITS = const(0x7F)
_MARK = const(0x5A)


async def read(port: "Port", cfg: dict) -> dict[str, float]:
    try:
        from onewire import OneWire
    except ImportError:
        raise SensorError("this MicroPython has no module onewire")
    name = cfg.get("pin")
    pins = port.pins()
    pins.check(name, "out")
    pin = pins.pin(name, "up")
    value = await _measure(pin, OneWire(pin), cfg.get("rom"))
    if isinstance(value, str):
        raise SensorError("pin %s: %s" % (name, value))
    return {"temperature": inside(value, -55, 125)}


async def _measure(pin, wire, rom):
    """Return degrees, or the fault as a text."""
    if not wire.reset():
        return "no answer: wiring, power, or the pull-up of 4.7 kOhm?"
    if not pin.value():
        return "the line is held low: short circuit, or a chip without power?"
    if rom:
        try:
            rom = unhexlify(str(rom))
        except ValueError:
            rom = b""
        if len(rom) != 8:
            return "rom must be 16 hex digits"
        # A DS18S20 counts halves of a degree: its numbers would look right, and be wrong.
        if rom[0] not in _FAMILIES:
            return "rom is that of another chip: it must begin with 28 or 22"
    else:
        found = [each for each in wire.scan() if each[0] in _FAMILIES]
        if not found:
            return "no DS18B20 answers"
        if len(found) > 1:
            return "set rom to one of " + ", ".join([hexlify(each).decode() for each in found])
        rom = found[0]
    # Unused alarm limits as a mark, and 12 bits. A chip that loses its supply forgets them too.
    for data in (bytes((_WRITE_SCRATCHPAD, _MARK, _MARK, _TWELVE_BITS)), bytes((_CONVERT,))):
        wire.select_rom(rom)
        wire.write(data)
    await wait_ms(750)
    if not wire.readbit():
        return "the sensor is not done after 750 ms"
    wire.select_rom(rom)
    wire.writebyte(_READ_SCRATCHPAD)
    data = bytearray(9)
    wire.readinto(data)
    if wire.crc8(data):
        return "wrong checksum; long wires, or no such rom?"
    # The chip's own memory may have the mark as one of its limits, but not as both.
    if data[2] != _MARK or data[3] != _MARK:
        return "the sensor lost its supply while it measured"
    raw = data[1] << 8 | data[0]
    return (raw - (raw >> 15 << 16)) / 16
