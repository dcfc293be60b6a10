"""The virtual chips against drivers that others have published, and our drivers against those.

Adafruit's CircuitPython drivers run here unchanged: the buses below stand in for the pins of a
board. They read the set values with their own commands, modes and formulas; and where both read
the same bits, our drivers give the same numbers.
"""

import importlib
import sys
import time
import types
from pathlib import Path

import pytest

from host.driver_bench import Bench

PUBLISHED = Path(sys.prefix) / "published-drivers"
pytestmark = pytest.mark.skipif(
    not PUBLISHED.is_dir(), reason="no published drivers here: `make test` installs them"
)


class I2C:
    """busio.I2C on the virtual bus."""

    def __init__(self, bench):
        self._bench = bench

    def try_lock(self):
        return True

    def unlock(self):
        pass

    def _read(self, address, buf, start, end):
        view = memoryview(buf)[start:end]
        view[:] = self._bench.ask(f"i2c_read 5 4 100000 {address} 1 {len(view)}")

    def _write(self, address, buf, start, end, stop):
        data = bytes(buf[start:end]).hex()
        self._bench.ask(f"i2c_write 5 4 100000 {address} {stop} {data}")

    def readfrom_into(self, address, buf, *, start=0, end=None):
        self._read(address, buf, start, end)

    def writeto(self, address, buf, *, start=0, end=None):
        self._write(address, buf, start, end, 1)

    def writeto_then_readfrom(
        self, address, out, buf, *, out_start=0, out_end=None, in_start=0, in_end=None
    ):
        self._write(address, out, out_start, out_end, 0)
        self._read(address, buf, in_start, in_end)


class SPI:
    """busio.SPI on the virtual bus."""

    def __init__(self, bench):
        self._bench = bench

    def try_lock(self):
        return True

    def unlock(self):
        pass

    def configure(self, *, baudrate, polarity, phase):
        self._setting = f"{baudrate} {polarity << 1 | phase} 0"

    def write_readinto(self, out, buf):
        buf[:] = self._bench.ask(f"spi 6 7 2 {self._setting} {bytes(out).hex()}")

    def readinto(self, buf):
        self.write_readinto(bytes(len(buf)), buf)


class ChipSelect:
    """digitalio.DigitalInOut on the pin SPI0_CS0."""

    def __init__(self, bench):
        self._bench = bench

    def switch_to_output(self, value):
        self._drive(value)

    def _drive(self, value):
        self._bench.tell(f"pin 10 {int(value)}")

    value = property(None, _drive)


class OneWire:
    """onewireio.OneWire on a pin."""

    def __init__(self, pin):
        self._bench, self._gpio = pin

    def reset(self):
        return self._bench.ask(f"ow_reset {self._gpio}") != b"1"

    def read_bit(self):
        return int(self._bench.ask(f"ow_read_bit {self._gpio}"))

    def write_bit(self, value):
        self._bench.ask(f"ow_write_bit {self._gpio} {int(value)}")


class Names(types.ModuleType):
    """A module of a CircuitPython board of which only names are wanted, for annotations."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return object


@pytest.fixture
def bench(monkeypatch, tmp_path):
    made = Bench(monkeypatch, tmp_path)

    def sleep(seconds):
        made.seconds += seconds

    before = set(sys.modules)
    with monkeypatch.context() as patch:
        patch.setattr(time, "sleep", sleep)
        patch.setattr(time, "monotonic", lambda: made.seconds)
        patch.syspath_prepend(str(PUBLISHED))
        patch.setitem(sys.modules, "micropython", types.SimpleNamespace(const=int))
        for name in (
            "busio",
            "digitalio",
            "microcontroller",
            "circuitpython_typing",
            "circuitpython_typing.device_drivers",
        ):
            patch.setitem(sys.modules, name, Names(name))
        patch.setitem(sys.modules, "onewireio", types.SimpleNamespace(OneWire=OneWire))
        yield made
    for name in set(sys.modules) - before:
        if name.startswith("adafruit_"):
            del sys.modules[name]


def published(name):
    """A published module, and not one of another origin."""
    module = importlib.import_module(name)
    assert Path(module.__file__).is_relative_to(PUBLISHED)
    return module


CELSIUS = (-39.5, -10.25, -0.1, 0, 21.37, 84.5)
PERCENT = (0.5, 17.3, 48, 63.9, 80, 99.5)


@pytest.mark.parametrize("chip", ["BME280", "BMP280"])
def test_bosch(bench, chip):
    bench.attach(chip, "i2c0", "0x77")
    if chip == "BME280":
        driver = published("adafruit_bme280.advanced")
        sensor = driver.Adafruit_BME280_I2C(I2C(bench))
        sensor.overscan_pressure = driver.OVERSCAN_X1
        sensor.overscan_humidity = driver.OVERSCAN_X1
    else:
        driver = published("adafruit_bmp280")
        sensor = driver.Adafruit_BMP280_I2C(I2C(bench))
        sensor.overscan_pressure = driver.OVERSCAN_X1
    sensor.overscan_temperature = driver.OVERSCAN_X1
    pressures = (300.7, 500, 870.2, 1013.25, 1085, 1099)
    for celsius, percent, hectopascals in zip(CELSIUS, PERCENT, pressures, strict=True):
        bench.set(temperature=celsius, pressure=hectopascals)
        assert sensor.temperature == pytest.approx(celsius, abs=0.005)
        assert sensor.pressure == pytest.approx(hectopascals, abs=0.03)
        ours = bench.read("bme280", address="0x77")
        theirs = {"temperature": sensor.temperature, "pressure": sensor.pressure}
        if chip == "BME280":
            bench.set(humidity=percent)
            assert sensor.humidity == pytest.approx(percent, abs=0.01)
            theirs["humidity"] = sensor.humidity
            ours = bench.read("bme280", address="0x77")
        assert ours == {name: round(value, 2) for name, value in theirs.items()}


def test_bosch_in_normal_mode_with_filter_and_oversampling(bench):
    bench.attach("BME280", "i2c0", "0x77", temperature=25)
    driver = published("adafruit_bme280.advanced")
    sensor = driver.Adafruit_BME280_I2C(I2C(bench))
    sensor.mode = driver.MODE_NORMAL
    sensor.iir_filter = driver.IIR_FILTER_X4
    sensor.overscan_pressure = driver.OVERSCAN_X16
    sensor.standby_period = driver.STANDBY_TC_125
    bench.set(pressure=1000)
    seen = []
    for _ in range(40):
        bench.seconds += 0.2
        seen.append(sensor.pressure)
        _ = sensor.temperature
    assert seen[-1] == pytest.approx(1000, abs=0.01)
    assert seen[0] > seen[3] > 1000.5, "the filter follows slowly"


@pytest.mark.parametrize(
    ("chip", "module", "kind", "address"),
    [
        ("SHT31", "adafruit_sht31d", "SHT31D", "0x44"),
        ("SHT40", "adafruit_sht4x", "SHT4x", "0x44"),
        ("AHT20", "adafruit_ahtx0", "AHTx0", "0x38"),
    ],
)
def test_humidity_sensors(bench, chip, module, kind, address):
    bench.attach(chip, "i2c0", address)
    sensor = getattr(published(module), kind)(I2C(bench))
    for celsius, percent in zip(CELSIUS, PERCENT, strict=True):
        bench.set(temperature=celsius, humidity=percent)
        theirs = {}
        theirs["temperature"] = sensor.temperature
        theirs["humidity"] = sensor.relative_humidity
        assert theirs["temperature"] == pytest.approx(celsius, abs=0.005)
        assert theirs["humidity"] == pytest.approx(percent, abs=0.005)
        bench.seconds += 0.1
        ours = bench.read(chip.lower(), address=address)
        assert ours == {name: round(value, 2) for name, value in theirs.items()}


@pytest.mark.parametrize("chip", ["SHT31", "SHT40"])
def test_a_wrong_checksum_is_seen_by_others_too(bench, chip):
    bench.attach(chip, "i2c0", "0x44")
    module, kind = {"SHT31": ("adafruit_sht31d", "SHT31D"), "SHT40": ("adafruit_sht4x", "SHT4x")}[
        chip
    ]
    sensor = getattr(published(module), kind)(I2C(bench))
    bench.fault("bad_crc")
    with pytest.raises(RuntimeError, match="CRC"):
        _ = sensor.temperature


def test_sht31_serial_number_and_status(bench):
    bench.attach("SHT31", "i2c0", "0x44")
    sensor = published("adafruit_sht31d").SHT31D(I2C(bench))
    assert sensor.serial_number == 0x54454E31
    sensor.heater = True
    assert sensor.heater
    sensor.heater = False
    assert not sensor.heater


def test_bh1750(bench):
    bench.attach("BH1750", "i2c0", "0x23")
    driver = published("adafruit_bh1750")
    sensor = driver.BH1750(I2C(bench))
    # It measures all the time, in halves of a lux, which end at 27306.
    for lux in (0, 1, 42, 999, 20000, 27300):
        bench.set(light=lux)
        bench.seconds += 0.4
        theirs = sensor.lux
        assert theirs == pytest.approx(lux, abs=0.9)
        assert bench.read("bh1750") == {"light": pytest.approx(theirs, abs=0.9)}
        sensor.initialize()


def test_ads1115(bench):
    bench.attach("ADS1115", "i2c0", "0x48")
    driver = published("adafruit_ads1x15.ads1115").ADS1115(I2C(bench))
    analog_in = published("adafruit_ads1x15.analog_in").AnalogIn
    gains = {2 / 3: 6.144, 1: 4.096, 2: 2.048, 4: 1.024, 8: 0.512, 16: 0.256}
    for gain, full_scale in gains.items():
        driver.gain = gain
        for share in (-0.9999, -0.5, -0.0001, 0, 0.25, 0.9999):
            volts = share * full_scale
            bench.set(in0=volts, in1=0, in2=0, in3=volts / 2)
            for channel, pins, wanted in (
                (0, (0,), volts),
                (3, (3,), volts / 2),
                ("0-1", (0, 1), volts),
                ("2-3", (2, 3), -volts / 2),
            ):
                theirs = analog_in(driver, *pins).voltage
                assert theirs == pytest.approx(wanted, abs=full_scale / 32768)
                ours = bench.read("ads1115", channel=channel, range=full_scale)
                assert ours["voltage"] == pytest.approx(theirs, abs=full_scale / 32000 + 0.0001)


def test_max31855(bench):
    bench.attach("MAX31855", "spi0.0")
    sensor = published("adafruit_max31855").MAX31855(SPI(bench), ChipSelect(bench))
    for hot, cold in ((-250, -40), (-0.25, -0.0625), (0, 25), (180.25, 30.5), (1350, 124)):
        bench.set(temperature=hot, internal=cold)
        theirs = {"temperature": sensor.temperature, "internal": sensor.reference_temperature}
        assert theirs == {"temperature": hot, "internal": cold}
        assert bench.read("max31855") == {name: round(x, 2) for name, x in theirs.items()}
    for fault, words in (
        ("open", "not connected"),
        ("short_gnd", "ground"),
        ("short_vcc", "power"),
    ):
        bench.fault(fault)
        with pytest.raises(RuntimeError, match=words):
            _ = sensor.temperature


def test_mcp3008(bench):
    bench.attach("MCP3008", "spi0.0")
    driver = published("adafruit_mcp3xxx.mcp3008").MCP3008(SPI(bench), ChipSelect(bench))
    for channel in range(8):
        for volts in (0, 0.0033, 1.65, 3.29):
            bench.set(**{f"ch{channel}": volts})
            theirs = driver.read(channel) * 3.3 / 1024
            assert theirs == pytest.approx(volts, abs=0.0033)
            assert bench.read("mcp3008", channel=channel) == {"voltage": round(theirs, 4)}
    bench.set(ch0=2.0, ch1=0.5)
    assert driver.read(0, is_differential=True) * 3.3 / 1024 == pytest.approx(1.5, abs=0.004)
    assert driver.read(1, is_differential=True) == 0


def test_ds18b20(bench):
    bench.attach("DS18B20", "gpio1")
    for name in ("a", "b", "c"):
        bench.hardware.attach(name, "DS18B20", "gpio1")
    bus = published("adafruit_onewire.bus").OneWireBus((bench, 1))
    found = bus.scan()
    devices = [bench.hardware.device(name) for name in ("it", "a", "b", "c")]
    assert {bytes(each.rom) for each in found} == {device.rom for device in devices}
    driver = published("adafruit_ds18x20")
    sensor = driver.DS18X20(bus, next(each for each in found if bytes(each.rom) == devices[0].rom))
    for celsius in (-54.9375, -10.125, -0.0625, 0, 25.0625, 124.9375):
        bench.set(temperature=celsius)
        assert sensor.temperature == celsius
        ours = bench.read("ds18b20", pin="A1", rom=devices[0].rom.hex())
        assert ours == {"temperature": round(celsius, 2)}
    sensor.resolution = 9
    bench.set(temperature=20.3)
    assert sensor.temperature == 20.0
    # Ours asks for twelve bits again.
    assert bench.read("ds18b20", pin="A1", rom=devices[0].rom.hex()) == {"temperature": 20.31}


def test_both_find_the_same_roms(bench):
    """The overlay's own search against the published one, on a crowded line."""
    machine, onewire = sys.modules["machine"], sys.modules["onewire"]
    for number in range(9):
        bench.hardware.attach(f"probe{number}", "DS18B20", "gpio1")
    theirs = published("adafruit_onewire.bus").OneWireBus((bench, 1)).scan()
    ours = onewire.OneWire(machine.Pin(1)).scan()
    assert len(ours) == 9
    assert {bytes(rom) for rom in ours} == {bytes(each.rom) for each in theirs}
