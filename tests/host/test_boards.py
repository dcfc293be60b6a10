"""boards/: every fact stands once, and nothing contradicts it: chips, pictures, examples, code."""

import json
import re
from datetime import datetime

import pytest
from esptool.targets import CHIP_DEFS

from host_tools import FIRMWARE, ROOT
from host_tools.build import firmware_tree
from tenner.port.gpio import Gpio
from tenner.port.linux_buses import Buses
from tenner.port.pins import Pins
from tenner.store.config import Config

BOARDS = ROOT / "boards"
NAMES = sorted(path.parent.name for path in BOARDS.glob("*/board.json"))
REAL = [name for name in NAMES if name != "VIRTUAL"]
CHIPS = [name for name in NAMES if name != "LICHEERV_NANO"]


def span(*ranges):
    return {number for first, last in ranges for number in range(first, last + 1)}


# From the data sheets: "Pin Overview", "Strapping Pins", "ADC" of each chip, and ESP-IDF's GPIO summaries.
FACTS = {
    "esp32": {
        "pins": span(
            (0, 19), (21, 23), (25, 27), (32, 36), (39, 39)
        ),  # 37 and 38 are on no module
        "reserved": span((6, 11)) | {16, 17} | {1, 3},  # flash; PSRAM; console
        "no output": span((34, 39)),
        "strapping": {0, 2, 5, 12, 15},
        "stops the start": {0, 12},
        "adc": {0: 36, 3: 39, 4: 32, 5: 33, 6: 34, 7: 35},
    },
    "esp32c3": {
        "pins": span((0, 21)),
        "reserved": span((11, 17)) | {18, 19} | {20, 21},  # flash and its supply; USB; console
        "no output": set(),
        "strapping": {2, 8, 9},
        "stops the start": {2, 8, 9},
        "adc": dict(enumerate(range(5))),
    },
    "esp32c6": {
        "pins": span((0, 30)),
        "reserved": span((24, 30)) | {12, 13} | {16, 17},  # flash and its supply; USB; console
        "no output": set(),
        "strapping": {4, 5, 8, 9, 15},
        "stops the start": {8, 9},
        "adc": dict(enumerate(range(7))),
    },
    "esp32s3": {
        "pins": span((0, 21), (26, 48)),
        "reserved": span((26, 37)) | {19, 20} | {43, 44},  # flash and PSRAM; USB; console
        "no output": set(),
        "strapping": {0, 3, 45, 46},
        "stops the start": {0, 45, 46},
        "adc": dict(enumerate(range(1, 11))),
    },
}


def facts(name):
    return json.loads((BOARDS / name / "board.json").read_text())


def notes(name):
    """The notes of each GPIO of a chip."""
    found = {}
    for _, gpio, note in Pins(BOARDS / name / "pins.csv").rows():
        found.setdefault(gpio, []).append(note)
    return found


def starts(rows, word):
    return any(note.startswith(word) for note in rows)


@pytest.mark.parametrize("name", NAMES)
def test_a_board_is_complete_and_its_keys_are_explained(name):
    for file in ("board.json", "pins.csv", "config.example.json", "README.md"):
        assert (BOARDS / name / file).stat().st_size
    if name == "VIRTUAL":
        return  # nothing is ever flashed to it by its board.json
    page = (BOARDS / "README.md").read_text()
    board = facts(name)
    needed = {
        "platform",
        "mcu",
        "chip",
        "product",
        "vendor",
        "url",
        "features",
        "variants",
        "image",
    }
    assert needed <= set(board)
    for key in board:
        assert f"`{key}`" in page or f"`{key}." in page, key


@pytest.mark.parametrize("name", [name for name in CHIPS if name != "VIRTUAL"])
def test_chip_and_offsets_are_those_of_esptool(name):
    board = facts(name)
    chip = CHIP_DEFS[board["mcu"]]
    assert board["chip"] == chip.CHIP_NAME
    assert int(board["deploy_options"]["flash_offset"], 0) == chip.BOOTLOADER_FLASH_OFFSET
    table, app, vfs = (int(board["partitions"][key], 0) for key in ("table", "app", "vfs"))
    assert chip.BOOTLOADER_FLASH_OFFSET < table < app < vfs < int(board["flash_size"][:-2]) << 20
    assert not (table | app | vfs) % 0x1000


def test_releases_are_in_order_and_make_addresses():
    header, *rows = (BOARDS / "releases.tsv").read_text().splitlines()
    assert header == "version\tdate"
    versions = [tuple(map(int, row.split("\t")[0].split("."))) for row in rows]
    dates = [datetime.strptime(row.split("\t")[1], "%Y%m%d") for row in rows]
    assert versions == sorted(versions, reverse=True) and versions[-1] >= (1, 22)
    assert dates == sorted(dates, reverse=True)
    for name in CHIPS:
        url = facts(name).get("image", {}).get("url")
        if url is not None:
            assert url.format(name=name, date="20260824", version="1.29.0").endswith(
                f"/{name}-20260824-v1.29.0.bin"
            )


# --- pins of chips


@pytest.mark.parametrize("name", CHIPS)
def test_pins_are_what_the_data_sheet_says(name):
    known = FACTS[facts(name)["mcu"]]
    rows = notes(name)
    if name != "VIRTUAL":
        assert set(rows) == known["pins"]
    for gpio, said in rows.items():
        assert (
            starts(said, "reserved:") == (gpio in known["reserved"]) or gpio in known["strapping"]
        )
        if gpio in known["no output"]:
            assert starts(said, "input only:") or starts(said, "reserved:")
        if gpio in known["strapping"] and name != "VIRTUAL":
            assert any("strapping" in note or "boot button" in note for note in said)
        if gpio in known["stops the start"] and name != "VIRTUAL":
            assert starts(said, "input only:") or starts(said, "reserved:")


@pytest.mark.parametrize("name", CHIPS)
def test_analog_pins_are_the_channels_of_the_first_converter(name):
    channels = FACTS[facts(name)["mcu"]]["adc"]
    for pin, gpio, _ in Pins(BOARDS / name / "pins.csv").rows():
        if re.fullmatch(r"A\d+", pin):
            assert channels[int(pin[1:])] == gpio, pin


@pytest.mark.parametrize("name", CHIPS)
def test_buses_are_complete_and_on_pins_that_may_be_driven(name):
    pins = Pins(BOARDS / name / "pins.csv")
    assert (pins.buses("i2c"), pins.buses("spi")) == (["i2c0"], ["spi0.0"])
    used = [
        pins._number(bus, line, {})
        for bus, line in (
            *(("i2c0", line) for line in ("scl", "sda")),
            *(("spi0", line) for line in ("sck", "mosi", "miso", "cs0")),
        )
    ]
    assert len(set(used)) == 6
    if name != "VIRTUAL":  # its MISO is on a pin that no real circuit should pull
        assert not set(used) & FACTS[facts(name)["mcu"]]["stops the start"]


@pytest.mark.parametrize("name", CHIPS)
def test_the_tools_offer_no_pin_that_would_break_the_board(name):
    known = FACTS[facts(name)["mcu"]]
    pins = Gpio(str(BOARDS / name / "pins.csv"))
    taken = {pins.find(pin)[1] for pin in pins.names("pwm")}
    assert taken and not taken & (known["reserved"] | known["no output"])
    for gpio in known["reserved"]:
        with pytest.raises(OSError, match="reserved|no pin"):
            pins.check(f"GPIO{gpio}", "in")


# --- the LicheeRV Nano


def test_places_of_the_linux_board():
    rows = list(Buses(str(BOARDS / "LICHEERV_NANO" / "pins.csv")).rows())
    for name, place, note in rows:
        if re.fullmatch(r"(I2C|SPI)\d", name):
            assert place.startswith("/")
            assert note.startswith("shared: ") == (name not in ("I2C5", "SPI4"))
        else:
            assert re.fullmatch(r"(3020000|5021000)\.gpio:\d\d?|pwm:/pwm@3061000:[23]", place), (
                name
            )
    places = {}
    for name, place, _ in rows:
        places.setdefault(place, set()).add(name)
        # The names on the board count the lines of its chips.
        if re.fullmatch(r"[AP]\d+", name):
            chip = "3020000" if name[0] == "A" else "5021000"
            assert place == f"{chip}.gpio:{name[1:]}"
    wires = {name for name, _, _ in rows if re.match(r"(I2C|SPI)\d_", name)}
    assert len(wires) == 6 and all(
        any(other[0] == "A" for other in names) for names in places.values() if names & wires
    )


# --- pictures, examples, code


def readme(name):
    return (BOARDS / name / "README.md").read_text()


@pytest.mark.parametrize("name", REAL)
def test_the_wiring_picture_is_pins_csv(name):
    cells = re.findall(r"\| (\w+) +\|  ((?:I2C|SPI)\d_\w+)", readme(name))
    drawn = {bus: pin for pin, bus in cells}
    if name == "LICHEERV_NANO":
        rows = list(Buses(str(BOARDS / name / "pins.csv")).rows())
        place = {row[0]: row[1] for row in rows}
        assert {bus: place[pin] for bus, pin in drawn.items()} == {
            row[0]: row[1] for row in rows if re.match(r"(I2C|SPI)\d_", row[0])
        }
    else:
        rows = Pins(BOARDS / name / "pins.csv").rows()
        assert drawn == {
            pin: f"GPIO{gpio}" for pin, gpio, _ in rows if re.match(r"(I2C|SPI)\d_", pin)
        }


@pytest.mark.parametrize("name", REAL)
def test_a_page_names_only_pins_of_the_board(name):
    text = readme(name)
    path = str(BOARDS / name / "pins.csv")
    if name == "LICHEERV_NANO":
        rows = list(Buses(path).rows())
        known = {row[0] for row in rows}
        assert set(re.findall(r"\b[AP]\d\d\b", text)) <= known
        assert set(re.findall(r"\bPWM\d\b", text)) <= known
        assert set(re.findall(r"\b(?:I2C|SPI)\d\b", text)) <= known
        return
    pins = Pins(path)
    for gpio in set(re.findall(r"\bGPIO\d+\b", text)) - {"GPIO37", "GPIO38"}:
        assert pins.find(gpio), gpio
    for pin in set(re.findall(r"`(A\d)`", text)):
        assert pins.find(pin), pin
    # What the page calls refused or not driven is so in pins.csv.
    for gpio in re.findall(r"(GPIO\d+)[^.]*? (?:are|is) refused", text):
        assert pins.find(gpio)[2].startswith("reserved:"), gpio


@pytest.mark.parametrize("name", REAL)
def test_settings_in_pages_and_examples_are_right(name):
    path = BOARDS / name / "config.example.json"
    Config.load(str(path), {})
    text = readme(name)
    buses = {"i2c0"} if name != "LICHEERV_NANO" else {"i2c5"}
    for block in re.findall(r"```json\n(.*?)```", text, re.DOTALL):
        for sensor in json.loads(block).values():
            assert (FIRMWARE / "tenner" / "sensors" / f"{sensor['driver']}.py").exists()
            assert sensor["bus"] in buses
    snippets = re.findall(r'`("i2c": \{.*?\}\})`', text)
    assert len(snippets) == 1
    settings = json.loads("{" + snippets[0] + "}")
    flat = {
        f"i2c.{bus}.{key}": str(value) if key in ("sda", "scl") else value
        for bus, keys in settings["i2c"].items()
        for key, value in keys.items()
    }
    if name == "LICHEERV_NANO":
        assert flat == {"i2c.i2c1.shared": True}
    else:
        pins = Pins(BOARDS / name / "pins.csv", Config(flat))
        for line in ("sda", "scl"):
            assert pins._number("i2c0", line, settings_of(flat)) == int(flat[f"i2c.i2c0.{line}"])


def settings_of(flat):
    return Config(flat).section("i2c")["i2c0"]


def test_no_pin_stands_in_the_code():
    for path in FIRMWARE.rglob("*.py"):
        assert not re.findall(r"GPIO\d", path.read_text(encoding="utf-8")), path


@pytest.mark.parametrize("name", NAMES)
def test_pins_csv_goes_onto_the_board_as_it_is(name):
    tree = firmware_tree(name, mpy=False)
    assert tree["/lib/tenner/pins.csv"] == (BOARDS / name / "pins.csv").read_bytes()
