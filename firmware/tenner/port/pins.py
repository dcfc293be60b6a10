# tenner port.pins: the board's pins by name, read from pins.csv a line at a time.
# MIT license; Copyright (c) 2026 the tenner authors
"""
`pins.csv` is the one source of pins. A row is `NAME,GPIOn[,note]`; a note that starts with
`reserved:` says why the pin must not be driven. Buses are rows by name: `I2C0_SCL`, `I2C0_SDA`,
`SPI0_SCK`, `SPI0_MOSI`, `SPI0_MISO` and one `SPI0_CSn` per device (`spi0.n`).
"""


class Pins:
    def __init__(self, path):
        self.path = path

    def rows(self):
        """Yield (name, gpio number, note) of every row; a board without the file has no rows."""
        try:
            file = open(self.path)
        except OSError:
            return
        with file:
            for line in file:
                cells = line.strip().split(",", 2)
                if len(cells) >= 2 and cells[1].startswith("GPIO") and cells[1][4:].isdigit():
                    yield cells[0], int(cells[1][4:]), cells[2].strip() if len(cells) > 2 else ""

    def find(self, name):
        """Return (gpio number, note) of a pin given by board name, `GPIOn` or number, or None."""
        wanted = str(name).upper()
        number = wanted[4:] if wanted.startswith("GPIO") else wanted
        number = int(number) if number.isdigit() else -1
        for row_name, gpio, note in self.rows():
            if row_name.upper() == wanted or gpio == number:
                return gpio, note
        return None

    def buses(self, kind):
        """Return the names of what is wired: `i2c0` for kind "i2c", the devices `spi0.0` for "spi"."""
        names = []
        for row_name, _, _ in self.rows():
            row_name = row_name.lower()
            if kind == "i2c" and row_name.startswith("i2c") and row_name.endswith("_scl"):
                names.append(row_name[:-4])
            elif kind == "spi" and row_name.startswith("spi") and "_cs" in row_name:
                names.append(row_name.replace("_cs", "."))
        return names

    def number(self, name):
        """Return the GPIO number of the row called `name`, or raise OSError that names the row."""
        found = self.find(name)
        if found is None:
            raise OSError("pins.csv has no row %s: add it, or do not use that bus" % name)
        return found[0]
