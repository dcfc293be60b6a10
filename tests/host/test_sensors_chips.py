"""Every driver on the model of every chip it is for: the values that were set, and every way to
fail."""

import itertools
import re

import pytest

from host.driver_bench import Bench
from tenner.sensors import SensorError
from tenner_host import FIRMWARE
from tenner_sim.vboard.devices import CHIPS

# Chip, its wiring, driver and settings, its values with the allowed error of a reading, which is
# half a step of the converter.
SETUPS = {
    "TMP102": ("i2c0", "0x48", {"driver": "tmp102"}, {"temperature": 0.04}),
    "LM75": ("i2c0", "0x4f", {"driver": "lm75", "address": "0x4f"}, {"temperature": 0.26}),
    "SHT31": ("i2c0", "0x44", {"driver": "sht31"}, {"temperature": 0.01, "humidity": 0.01}),
    "SHT40": (
        "i2c0",
        "0x45",
        {"driver": "sht4x", "address": 0x45},
        {"temperature": 0.01, "humidity": 0.01},
    ),
    "AHT20": ("i2c0", "0x38", {"driver": "aht20"}, {"temperature": 0.01, "humidity": 0.01}),
    "BME280": (
        "i2c0",
        "0x77",
        {"driver": "bme280", "address": "0x77"},
        {"temperature": 0.01, "pressure": 0.03, "humidity": 0.02},
    ),
    "BMP280": ("i2c0", "0x76", {"driver": "bmp280"}, {"temperature": 0.01, "pressure": 0.03}),
    "BH1750": ("i2c0", "0x23", {"driver": "bh1750"}, {"light": 2.0}),
    "ADS1115": ("i2c0", "0x48", {"driver": "ads1115", "channel": 2}, {"voltage": 0.0001}),
    "MAX31855": (
        "spi0.0",
        None,
        {"driver": "max31855"},
        {"temperature": 0.13, "internal": 0.04},
    ),
    "MAX6675": ("spi0.0", None, {"driver": "max6675", "bus": "spi0.0"}, {"temperature": 0.13}),
    "MCP3008": ("spi0.0", None, {"driver": "mcp3008", "channel": 5}, {"voltage": 0.004}),
    "DS18B20": ("gpio1", None, {"driver": "ds18b20", "pin": "A1"}, {"temperature": 0.04}),
    "DHT22": (
        "gpio1",
        None,
        {"driver": "dht22", "pin": "GPIO1"},
        {"temperature": 0.06, "humidity": 0.06},
    ),
}
#: The chip's own name of a driver's `voltage`.
INPUTS = {"ADS1115": "in2", "MCP3008": "ch5"}

#: Both ends, zero, and values between.
VALUES = {
    "temperature": (-39.8, -10.25, -0.06, 0, 21.5, 84.9),
    "humidity": (0, 0.5, 49.9, 99.9, 100),
    "pressure": (300.5, 870, 1013.25, 1085, 1099.5),
    "light": (0, 1, 299, 30000, 120000),
    "internal": (-39.9, -0.0625, 25, 124.9),
}
#: Where a chip measures less, or more, or another thing.
OWN_VALUES = {
    ("TMP102", "temperature"): (-54.9, -0.06, 0, 124.9),
    ("MAX31855", "temperature"): (-269.75, -1, 0, 1000, 1768),
    ("MAX6675", "temperature"): (0.25, 21.5, 1023.5),
    ("DS18B20", "temperature"): (-54.9, -10.1, 0, 25.06, 85, 124.9),
    ("DHT22", "temperature"): (-39.9, -10.1, 0, 25.3, 79.9),
    ("ADS1115", "voltage"): (-4.0, -0.001, 0, 2.5, 4.09),
    ("MCP3008", "voltage"): (0, 0.1, 1.65, 3.29),
}

#: The sentence of each fault, for all chips that have it.
SENTENCES = {
    "absent": r"no answer (at 0x\w\w on i2c0|on spi0\.0)|pin \w+: no answer|no answer on pin",
    "nack": r"no answer at 0x\w\w on i2c0 \(E\w+\): wiring, power, or address pin\?",
    "stuck": r"bus i2c0 stuck low|on spi0\.0 \(only zeros\)|held low|no answer on pin",
    "bad_crc": r"checksum",
    "slow": r"is not done after \d+ ms",
    "range": r"outside the chip's range|beyond|at vref or above|more light",
    "open": r"thermocouple open",
    "short_gnd": r"thermocouple shorted to ground",
    "short_vcc": r"thermocouple shorted to supply",
    "brownout": r"lost its supply",
    "other_input": r"0x48 on i2c0 was set to another input while it measured",
}
#: A chip without settings to look at: after a restart it has no result, or sends no bits of one.
RESTARTED = {
    "SHT31": "is not done after 16 ms",
    "SHT40": "is not done after 9 ms",
    "MAX31855": "only zeros",
    "MAX6675": "only zeros",
    "MCP3008": "only ones",
    "DHT22": "the sensor sent only zeros: did it lose its supply",
}
#: These can only be zero after a restart, and their drivers measure again then.
MEASURED_AGAIN = ("TMP102", "LM75", "BH1750")


@pytest.fixture
def bench(monkeypatch, tmp_path):
    return Bench(monkeypatch, tmp_path)


def wire(bench, chip):
    """Attach the chip; return how to read it, and how exact it is."""
    bus, address, settings, tolerances = SETUPS[chip]
    bench.attach(chip, bus, address)

    def read():
        # Long enough ago for chips that measure by themselves.
        bench.seconds += 3
        return bench.read(**settings)

    return read, tolerances


def test_every_model_of_a_sensor_is_here():
    assert set(SETUPS) | {"AT24C32"} == set(CHIPS)


@pytest.mark.parametrize("chip", SETUPS)
def test_values_that_were_set(bench, chip):
    read, tolerances = wire(bench, chip)
    names = sorted(tolerances)
    rows = [OWN_VALUES.get((chip, name), VALUES.get(name)) for name in names]
    for wanted in itertools.zip_longest(*rows, fillvalue=None):
        setting = {
            name: row[-1] if value is None else value
            for name, row, value in zip(names, rows, wanted, strict=True)
        }
        bench.set(**{INPUTS.get(chip, name): value for name, value in setting.items()})
        values = read()
        assert sorted(values) == names
        for name, value in setting.items():
            assert values[name] == pytest.approx(value, abs=tolerances[name], rel=0.0001), setting


FAULTS = [
    (chip, fault)
    for chip in SETUPS
    for fault in (*CHIPS[chip].BUS_FAULTS, *CHIPS[chip].OWN_FAULTS)
]


@pytest.mark.parametrize(("chip", "fault"), FAULTS)
def test_a_fault_is_a_sentence_and_never_a_value(bench, chip, fault):
    read, _ = wire(bench, chip)
    before = read()
    bench.fault(fault)
    if fault == "brownout" and chip in MEASURED_AGAIN:
        assert read() == before
        return
    if (chip, fault) == ("BH1750", "slow"):
        # It has no way to say that it is not done, so its driver waits until there is something.
        bench.set(light=77)
        assert read() == {"light": pytest.approx(77, abs=1)}
        return
    with pytest.raises(SensorError) as caught:
        read()
    text = str(caught.value)
    assert text.startswith("sensor it: ")
    wanted = SENTENCES[fault]
    assert re.search(RESTARTED.get(chip, wanted) if fault == "brownout" else wanted, text), text
    assert "Error" not in text.replace("(ETIMEDOUT)", ""), text
    bench.fault(None)
    assert read() == before


@pytest.mark.parametrize("chip", SETUPS)
def test_nothing_wired_is_a_sentence(bench, chip):
    with pytest.raises(SensorError, match="no answer|no DS18B20"):
        bench.read(**SETUPS[chip][2])


@pytest.mark.parametrize("chip", [chip for chip in SETUPS if "slow" in CHIPS[chip].OWN_FAULTS])
def test_a_driver_waits_no_longer_than_twice_the_data_sheet(bench, chip):
    """A driver awaits the chip's own time, and the loop has it for others."""
    read, _ = wire(bench, chip)
    slept = []

    async def wait_ms(ms):
        slept.append(ms)
        await bench.wait_ms(ms)

    bench.wait_with(wait_ms)
    read()
    longest = {"AHT20": 90, "BH1750": 180, "DS18B20": 750}.get(chip, 16)
    assert slept and sum(slept) <= longest


# Behavior of single chips.


def test_a_chip_with_the_wrong_id_is_named(bench):
    bench.attach("TMP102", "i2c0", "0x76")
    with pytest.raises(SensorError, match=r"0x76 on i2c0 is no BME280 or BMP280 \(chip id 0x"):
        bench.read("bme280")


def test_bh1750_in_the_dark_and_in_the_sun(bench):
    read, _ = wire(bench, "BH1750")
    bench.set(light=0)
    assert read() == {"light": 0.0}
    # Above 54612 lx only with a shorter measurement time.
    bench.set(light=100000)
    assert read()["light"] == pytest.approx(100000, abs=2)
    bench.set(light=122000)
    with pytest.raises(SensorError, match="more light than the 121557 lx"):
        read()


def test_ads1115_ranges_and_pairs(bench):
    bench.attach("ADS1115", "i2c0", "0x48", in0=0.2, in1=0.45, in3=3.0)
    assert bench.read("ads1115", channel=0, range=0.256) == {"voltage": 0.2}
    assert bench.read("ads1115", channel="0-1", range=0.256) == {"voltage": -0.25}
    assert bench.read("ads1115", channel="1-3") == {"voltage": -2.55}
    for settings, words in (
        ({"channel": "1-3", "range": 2.048}, "input 1-3 is beyond 2.048 V: choose a larger range"),
        ({"channel": 4}, "channel must be 0-1 or .* or 3, not 4"),
        ({"range": 5}, "range must be 6.144 or .*, not 5"),
    ):
        with pytest.raises(SensorError, match=words):
            bench.read("ads1115", **settings)


def test_ads1115_knows_a_restart_at_the_settings_it_starts_with(bench):
    bench.attach("ADS1115", "i2c0", "0x48", in0=0.2, in1=0.45)
    settings = {"channel": "0-1", "range": 2.048}
    assert bench.read("ads1115", **settings) == {"voltage": -0.25}
    bench.fault("brownout")
    with pytest.raises(SensorError, match="lost its supply"):
        bench.read("ads1115", **settings)


def test_bme280_that_restarts_between_its_two_settings(bench):
    read, _ = wire(bench, "BME280")
    chip = bench.hardware.device("it")
    store = chip._store

    def restarts(register, value):
        if register == 0xF4:
            chip.power_on()
        store(register, value)

    chip._store = restarts
    with pytest.raises(SensorError, match="lost its supply"):
        read()


def test_ds18b20_whose_own_limit_is_the_mark(bench):
    read, _ = wire(bench, "DS18B20")
    bench.hardware.device("it")._eeprom = bytes([0x5A, 0x46, 0x7F])
    bench.fault("brownout")
    with pytest.raises(SensorError, match="lost its supply"):
        read()


def test_an_analog_value_in_other_units(bench):
    bench.attach("MCP3008", "spi0.0", ch0=1.65)
    values = bench.read("mcp3008", value="level", scale=100 / 3.3, offset=-10)
    assert values == {"level": pytest.approx(40)}


def test_mcp3008_knows_zero_volts_from_a_dead_line(bench):
    bench.attach("MCP3008", "spi0.0", ch0=0)
    assert bench.read("mcp3008") == {"voltage": 0.0}
    bench.fault("stuck")
    with pytest.raises(SensorError, match="only zeros"):
        bench.read("mcp3008")
    # The owner of a board without a pull-up may say that it is 0 V.
    assert bench.read("mcp3008", zero=True) == {"voltage": 0.0}


def test_several_ds18b20_are_told_apart(bench):
    bench.attach("DS18B20", "gpio1", temperature=11)
    bench.hardware.attach("other", "DS18B20", "gpio1")
    bench.hardware.signals.set("other.temperature", -12)
    roms = [bench.hardware.device(name).rom.hex() for name in ("it", "other")]
    with pytest.raises(SensorError, match="set rom to one of 28.*, 28") as caught:
        bench.read("ds18b20", pin="A1")
    assert all(rom in str(caught.value) for rom in roms)
    assert bench.read("ds18b20", pin="A1", rom=roms[0]) == {"temperature": 11.0}
    assert bench.read("ds18b20", pin="A1", rom=roms[1].upper()) == {"temperature": -12.0}
    with pytest.raises(SensorError, match="wrong checksum; long wires, or no such rom"):
        bench.read("ds18b20", pin="A1", rom="28" + "00" * 7)
    for rom in ("28ff", "nonsense"):
        with pytest.raises(SensorError, match="rom must be 16 hex digits"):
            bench.read("ds18b20", pin="A1", rom=rom)
    with pytest.raises(SensorError, match="rom is that of another chip"):
        bench.read("ds18b20", pin="A1", rom="10" + "00" * 7)


def test_dht22_gives_what_is_now_and_not_what_was(bench):
    bench.attach("DHT22", "gpio1", temperature=10)
    bench.read("dht22", pin="A1")
    # The chip itself answers with the measurement of an hour ago.
    bench.seconds += 3600
    bench.set(temperature=30)
    assert bench.read("dht22", pin="A1")["temperature"] == 30


@pytest.mark.parametrize("driver", ["adc", "gpio", "ds18b20", "dht22"])
@pytest.mark.parametrize(
    ("pin", "words"),
    [
        ("FLASH_D", "reserved: flash chip"),
        ("I2C0_SDA", "I2C0_SDA"),
        ("D99", "there is no pin D99"),
        (None, "there is no pin None"),
    ],
)
def test_a_pin_that_is_not_for_sensors_is_refused(bench, driver, pin, words):
    if (driver, pin) == ("gpio", "I2C0_SDA"):
        return  # its level may be looked at
    with pytest.raises(SensorError, match=words):
        bench.read(driver, pin=pin)


def test_adc(bench):
    bench.hardware.signals.set("gpio0.volts", 1.25)
    assert bench.read("adc", pin="A0") == {"voltage": 1.25}
    assert bench.read("adc", pin="A0", value="level", scale=40) == {"level": 50}
    bench.hardware.signals.set("gpio0.volts", 3.2)
    with pytest.raises(SensorError, match="pin A0: more than it can measure"):
        bench.read("adc", pin="A0")


def test_gpio(bench):
    assert bench.read("gpio", pin="A1", pull="up") == {"state": 1}
    assert bench.read("gpio", pin="A1", pull="up", invert=True) == {"state": 0}
    bench.hardware.signals.set("gpio1", 0)
    assert bench.read("gpio", pin="A1", pull="up") == {"state": 0}
    with pytest.raises(SensorError, match="pull must be none or up or down, not high"):
        bench.read("gpio", pin="A1", pull="high")


@pytest.mark.parametrize(
    "chip", [line.split()[0] for line in (FIRMWARE / "tenner/sensors/chips.tsv").open()]
)
def test_a_driver_takes_every_name_of_a_chip_that_leads_to_it(bench, chip):
    if chip in ("cpu", "gpio", "adc"):
        return  # no chip, and nothing that is absent
    with pytest.raises(SensorError) as caught:
        bench.read(chip, pin="A1")
    # It has looked for the chip.
    assert re.search("no answer|no DS18B20", str(caught.value))


def test_a_name_of_a_chip_that_nobody_knows(bench):
    with pytest.raises(
        SensorError, match="there is no driver bme999; available: adc ads1115 .* tmp105"
    ):
        bench.read("bme999")
