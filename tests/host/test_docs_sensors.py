"""docs/sensors.md matches the drivers."""

import json
import re

import pytest

from host.driver_bench import Bench
from tenner.sensors import SensorError, units
from tenner_host import FIRMWARE, ROOT

TEXT = (ROOT / "docs" / "sensors.md").read_text()
TABLE = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in TEXT.partition("| chip | `driver`")[2].partition("\n\n")[0].splitlines()[2:]
]


def test_the_table_has_every_name_of_a_driver():
    named = {name for row in TABLE for name in re.findall(r"`(\w+)`", row[1])}
    known = {line.split()[0] for line in (FIRMWARE / "tenner/sensors/chips.tsv").open()}
    assert named | {"sht3x", "sht4x"} == known


def test_the_table_has_the_units_that_the_tool_shows():
    for row in TABLE:
        for value, unit in re.findall(r"`(\w+)` (°C|%|hPa|lx|V|dBm|B|s)(?!\w)", row[2]):
            assert units.unit(value) == unit, row[0]


def test_examples_are_json_of_drivers_that_exist():
    for block in re.findall(r"```json\n(.*?)```", TEXT, re.DOTALL):
        text = block if block.count("\n{") == 0 else "[" + block.replace("}\n{", "},\n{") + "]"
        value = json.loads(text)
        rows = value if isinstance(value, list) else list(value.values())
        assert rows
        for row in rows:
            assert f"`{row['driver']}`" in "".join(cells[1] for cells in TABLE)


@pytest.mark.parametrize(
    ("chip", "where", "fault", "settings"),
    [
        ("SHT31", ("i2c0", "0x44"), "absent", {"driver": "sht31"}),
        ("SHT31", ("i2c0", "0x44"), "stuck", {"driver": "sht31"}),
        ("SHT31", ("i2c0", "0x44"), "bad_crc", {"driver": "sht31"}),
        ("SHT31", ("i2c0", "0x44"), "slow", {"driver": "sht31"}),
        ("SHT31", ("i2c0", "0x44"), "range", {"driver": "sht31"}),
        ("MAX31855", ("spi0.0",), "open", {"driver": "max31855"}),
        ("MAX31855", ("spi0.0",), "short_gnd", {"driver": "max31855"}),
        ("MAX31855", ("spi0.0",), "absent", {"driver": "max31855"}),
        ("BME280", ("i2c0", "0x76"), "brownout", {"driver": "bme280"}),
        ("ADS1115", ("i2c0", "0x48"), "other_input", {"driver": "ads1115"}),
        ("DS18B20", ("gpio1",), "brownout", {"driver": "ds18b20", "pin": "A1"}),
    ],
)
def test_sentences_are_what_is_said(monkeypatch, tmp_path, chip, where, fault, settings):
    bench = Bench(monkeypatch, tmp_path)
    bench.attach(chip, *where)
    bench.fault(fault)
    with pytest.raises(SensorError) as caught:
        bench.read(**settings)
    said = str(caught.value).removeprefix("sensor it: ").replace("pin A1", "pin D4")
    assert f"`{said}`" in TEXT
