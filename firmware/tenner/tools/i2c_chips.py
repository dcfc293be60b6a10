# tenner tools.i2c_chips: the chips that usually sit at an I2C address, from a table on flash.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.port.package import package_path
from tenner.store import files


def listed(bus, addresses):
    """Return the answer to a scan."""
    if not addresses:
        return "%s: nothing answered; check power, wiring and pull-up resistors" % bus
    return "%s: %s" % (bus, ", ".join(["0x%02x%s" % (a, usual(a)) for a in addresses]))


def usual(address):
    """Return " (usually TMP102 temperature)", or "" for an address of no known chip."""
    prefix = b"0x%02x\t" % address
    with open(package_path("tools/i2c_chips.tsv"), "rb") as file:
        for line in files.lines(file):
            if line.startswith(prefix):
                return " (usually %s)" % line[len(prefix) :].decode()
    return ""
