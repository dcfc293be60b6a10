# tenner port.pins: the board's pins by name and the buses on them, from pins.csv and the settings.
# MIT license; Copyright (c) 2026 the tenner authors
"""
A row of `pins.csv` is `NAME,GPIOn[,note]`; one pin may have several rows. A note that starts with
`reserved:` says why nobody may use the pin. A note that starts with `input only:` says why it may
be read but not driven (boot strapping, or no output). The pins named `A0`, `A1` ... can measure a
voltage. Buses are rows by name: `I2C0_SCL`, `I2C0_SDA`, `SPI0_SCK`, `SPI0_MOSI`, `SPI0_MISO` and
one `SPI0_CSn` per device (`spi0.n`). The settings `i2c.<bus>.scl`, `spi.<bus>.sck` and so on
override the rows, and may add a bus. `port.gpio` has the other pins.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    import machine

    from tenner.port.types import Sections


class Pins:
    """`config` is the owner's settings or None; `kept` holds open pins and buses between calls."""

    def __init__(
        self, path: str, config: "Sections | None" = None, kept: dict | None = None
    ) -> None:
        self.path = path
        self._config = config
        self.kept = {} if kept is None else kept

    def rows(self) -> "Iterator[tuple[str, int, str]]":
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

    def find(self, name: int | str) -> tuple[str, int, str] | None:
        """Return (name, gpio number, note) of a pin given by board name, `GPIOn` or number, or
        None."""
        wanted = str(name).upper()
        number = wanted[4:] if wanted.startswith("GPIO") else wanted
        number = int(number) if number.isdigit() else -1
        for row in self.rows():
            if row[0].upper() == wanted or row[1] == number:
                # Of the notes of all rows of the pin the strictest counts.
                notes = [note for _, gpio, note in self.rows() if gpio == row[1]]
                for word in ("input only:", "reserved:"):
                    for note in notes:
                        if note.startswith(word):
                            row = row[:2] + (note,)
                return row
        return None

    def buses(self, kind: str) -> list[str]:
        """Return the names of the wired buses: `i2c0` for kind "i2c", the devices `spi0.0` for
        "spi"."""
        names = []
        for name, _, _ in self.rows():
            name = name.lower()
            if kind == "i2c" and name.startswith("i2c") and name.endswith("_scl"):
                names.append(name[:-4])
            elif kind == "spi" and name.startswith("spi") and "_cs" in name:
                names.append(name.replace("_cs", "."))
        section = self.section(kind)
        for name in section:
            device = name if kind == "i2c" else name + ".0"
            if device not in names and ("scl" in section[name] or "cs" in section[name]):
                names.append(device)
        return sorted(names)

    def i2c(self, name: str) -> "machine.I2C":
        """Open the bus `i2c0`."""
        from machine import I2C, Pin

        cfg = self.section("i2c").get(name, {})
        return I2C(
            int(name[3:]),
            scl=Pin(self._number(name, "scl", cfg)),
            sda=Pin(self._number(name, "sda", cfg)),
            freq=cfg.get("freq", 100000),
        )

    def spi(self, device: str) -> "tuple[machine.SPI, machine.Pin]":
        """Open `spi0.0`: return (machine.SPI, machine.Pin of the chip select, which idles
        high)."""
        from machine import SPI, Pin

        name, _, select = device.partition(".")
        cfg = self.section("spi").get(name, {})
        if "cs" in cfg:
            cfg["cs0"] = cfg["cs"]
        bus = SPI(
            int(name[3:]) + 1,  # SPI 0 belongs to the flash chip
            baudrate=cfg.get("freq", 1000000),
            sck=Pin(self._number(name, "sck", cfg)),
            mosi=Pin(self._number(name, "mosi", cfg)),
            # With a pull-up a line without a driver reads as ones and not as noise.
            miso=Pin(self._number(name, "miso", cfg), Pin.IN, Pin.PULL_UP),
        )
        return bus, Pin(self._number(name, "cs" + select, cfg), Pin.OUT, value=1)

    def wake_on(self, name: int | str) -> None:
        """Let a change of the pin's level end the next deep sleep; OSError says why it cannot."""
        import esp32
        from machine import Pin

        _, gpio, note = self.find(name) or (name, None, "")
        if gpio is None:
            raise OSError("pins.csv has no pin %s" % name)
        if note.startswith("reserved:"):
            raise OSError("pin %s is %s" % (name, note))
        try:
            pin = Pin(gpio, Pin.IN, Pin.PULL_UP)
            # Not a fixed level: one that is there already would end every sleep at once.
            level = not pin.value()
            if hasattr(esp32, "wake_on_ext0"):
                esp32.wake_on_ext0(pin, level)
            elif hasattr(esp32, "wake_on_ext1"):
                esp32.wake_on_ext1((pin,), level)
            elif hasattr(esp32, "wake_on_gpio"):
                esp32.wake_on_gpio((pin,), level)
            else:
                raise ValueError("no pin can")
        except ValueError as error:
            raise OSError("pin %s cannot wake this chip (%s)" % (name, error))

    def section(self, kind: str) -> dict[str, dict]:
        return self._config.section(kind) if self._config is not None else {}

    def _number(self, bus, line, cfg):
        """Return the GPIO of a line of a bus; OSError when it is unknown or would break the
        board."""
        name = cfg.get(line, "%s_%s" % (bus, line))
        number = name.upper().replace("GPIO", "")
        gpio = int(number) if number.isdigit() else None
        _, gpio, note = self.find(name) or (name, gpio, "")
        if gpio is None:
            raise OSError("%s: pins.csv has no row %s" % (bus, name.upper()))
        if note.startswith("reserved:") or (note.startswith("input only:") and line != "miso"):
            raise OSError("%s: pin %s is %s" % (bus, name, note))
        return gpio
