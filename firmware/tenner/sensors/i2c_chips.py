# tenner sensors.i2c_chips: the usual chips at each address of an I2C bus.
# MIT license; Copyright (c) 2026 the tenner authors
"""
A row of i2c_chips.tsv has the address, its registers and its chips. The registers, such as 00-7f,
are those that all known chips at the address read by number. The row has - where one chip takes
the byte as a command or as data.
"""

from tenner.port.package import locate
from tenner.sensors.bus_errors import MOST_CHIPS, stuck
from tenner.store import files


def describe(bus: str, addresses: list[int]) -> str:
    """Return the answer to a scan."""
    if not addresses:
        return "%s: nothing answered; check power, wiring and pull-up resistors" % bus
    if len(addresses) > MOST_CHIPS:
        return stuck(bus)
    return "%s: %s" % (bus, ", ".join(["0x%02x%s" % (a, usual(a)) for a in addresses]))


def usual(address: int) -> str:
    """Return " (usually TMP102 temperature)", or "" for an address of no known chip."""
    known = chips(address)
    return " (usually %s)" % known if known else ""


def chips(address: int) -> str:
    """Return the usual chips, `TMP102, LM75 temperature; ADS1115 ADC`, or ""."""
    row = _row(address)
    return row[2] if row else ""


def has_register(address: int, number: int) -> bool:
    """Return whether this byte only points at a register for all known chips at this address."""
    row = _row(address)
    first, dash, last = row[1].partition("-") if row else ("", "", "")
    return first != "" and dash == "-" and int(first, 16) <= number <= int(last, 16)


def _row(address):
    prefix = b"0x%02x\t" % address
    for line in files.lines_of(files.blocks(*locate("sensors/i2c_chips.tsv"))):
        if line.startswith(prefix):
            return line.decode().rstrip("\n").split("\t")
    return None
