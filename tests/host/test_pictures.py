"""docs/pictures: made from pins.csv and from the demo, and shown by the pages."""

import re
import xml.etree.ElementTree as ET

import pytest

from scripts import chart_picture, demo_picture, sensors_picture, wiring_pictures
from tenner_host import BOARDS, ROOT
from tenner_host.sensors.picture import picture

BOARD_NAMES = sorted(path.parent.name for path in BOARDS.glob("*/board.json"))
SVG = "{http://www.w3.org/2000/svg}"


def shown(text):
    """The texts of a wiring picture, by the height at which they stand."""
    rows = {}
    for element in ET.fromstring(text).iter(f"{SVG}text"):
        rows.setdefault(int(element.get("y")), []).append(element.text)
    return list(rows.values())


def test_the_wiring_pictures_are_those_of_pins_csv():
    made = wiring_pictures.pictures()
    assert sorted(path.name for path in made) == [f"wiring-{name}.svg" for name in BOARD_NAMES]
    for path, text in made.items():
        assert path.read_text(encoding="utf-8") == text, f"{path.name}: run `make picture`"


@pytest.mark.parametrize("name", BOARD_NAMES)
def test_a_wiring_picture_has_every_pin_that_a_person_can_reach(name):
    text = "\n".join("\n".join(row) for row in shown(wiring_pictures.picture(name)))
    for row in wiring_pictures.rows(name):
        if not row.reserved and re.match(r"GPIO\d+$|3020000", row.pin):
            number = re.search(r"\d+$", row.pin)[0]
            ranges = re.findall(r"[A-Z](\d+) to\s+[A-Z]+(\d+)", text)
            assert re.search(rf"[A-Z]{number}\b", text) or any(
                int(first) < int(number) < int(last) for first, last in ranges
            ), row


def test_the_wires_of_the_c3():
    rows = shown(wiring_pictures.picture("ESP32_GENERIC_C3"))
    assert ["SDA", "GPIO4", "I2C0_SDA"] in rows
    assert ["DO", "GPIO3", "SPI0_MISO"] in rows
    assert ["GPIO12 to GPIO17: flash chip"] in rows
    assert [row[:2] for row in rows].count(["GND", "GND"]) == 2


def test_the_lines_of_a_linux_board_have_their_printed_names():
    rows = shown(wiring_pictures.picture("LICHEERV_NANO"))
    assert ["SDA", "A27", "I2C5_SDA"] in rows
    assert ["CLK", "A22", "SPI4_SCK"] in rows


def test_a_changed_pin_changes_the_picture(tmp_path, monkeypatch):
    before = wiring_pictures.picture("ESP32_GENERIC_C3")
    pins = (BOARDS / "ESP32_GENERIC_C3" / "pins.csv").read_text().replace("SDA,GPIO4", "SDA,GPIO0")
    (tmp_path / "ESP32_GENERIC_C3").mkdir()
    (tmp_path / "ESP32_GENERIC_C3" / "pins.csv").write_text(pins)
    monkeypatch.setattr(wiring_pictures, "BOARDS", tmp_path)
    assert wiring_pictures.picture("ESP32_GENERIC_C3") != before


def test_the_picture_of_the_readings_has_the_size_of_one_made_now():
    day = sensors_picture.day()
    made = picture(day, day[0].times[0], day[0].times[-1])
    assert made[16:24] == sensors_picture.TARGET.read_bytes()[16:24]


def test_the_chart_is_the_one_a_board_draws():
    assert chart_picture.drawn() == chart_picture.TARGET.read_bytes(), "run `make picture`"


def test_every_picture_is_on_a_page():
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md"), *BOARDS.glob("*/README.md")]
    named = {
        (page.parent / target).resolve()
        for page in pages
        for target in re.findall(r"!\[[^\]]+\]\(([^)]+)\)", page.read_text(encoding="utf-8"))
    }
    assert named == set(demo_picture.TARGET.parent.iterdir())
