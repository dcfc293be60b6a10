"""The chips that came with the drivers, byte by byte: accepted commands, refused ones, and when
they are done."""

import errno

import pytest

from host.driver_bench import Bench
from tenner_sim.vboard.bus import BusError, I2CBus, OneWireBus, SPIBus
from tenner_sim.vboard.devices import (
    ADS1115,
    AHT20,
    BH1750,
    BME280,
    BMP280,
    DHT22,
    DS18B20,
    LM75,
    MAX6675,
    MCP3008,
    SHT40,
)
from tenner_sim.vboard.devices.base import crc8, crc8_maxim
from tenner_sim.vboard.devices.bme280 import pascals, percent, t_fine
from tenner_sim.vboard.hardware import HardwareError


class Wired:
    """One chip alone on its bus, with settable values and time."""

    def __init__(self, chip, **values):
        self.values = chip.VALUES | values
        self.seconds = 100.0
        self.chip = chip(self.values.__getitem__, lambda: self.seconds)
        self.seconds += 1
        self.bus = I2CBus()

    def on_i2c(self):
        self.bus.attach(0x44, self.chip)
        return self

    def write(self, *data):
        self.bus.write(0x44, bytes(data))

    def read(self, count):
        return self.bus.read(0x44, count)

    def register(self, pointer, count=2):
        self.bus.write(0x44, bytes([pointer]), stop=False)
        return int.from_bytes(self.read(count), "big")

    def refused(self, *data):
        """Is one of these bytes not acknowledged?"""
        try:
            self.write(*data)
        except BusError as exc:
            assert exc.number == errno.ENODEV
            return True
        return False

    def deaf(self):
        """Is a read header not acknowledged?"""
        try:
            self.read(1)
        except BusError:
            return True
        return False


# SHT4x


def test_sht40_ignores_reads_until_it_is_done_and_gives_a_result_once():
    it = Wired(SHT40, temperature=-45, humidity=119).on_i2c()
    assert it.deaf()
    for command, seconds in ((0xFD, 0.0083), (0xF6, 0.0045), (0xE0, 0.0016), (0x39, 1.1)):
        it.write(command)
        it.seconds += seconds * 0.99
        assert it.deaf()
        assert it.refused(0xFD), "busy"
        it.seconds += seconds * 0.02
        assert it.read(6) == b"\x00\x00\x81\xff\xff\xac"
        assert it.deaf()


def test_sht40_knows_its_commands():
    it = Wired(SHT40).on_i2c()
    it.write(0x89)
    serial = it.read(6)
    assert crc8(serial[:2]) == serial[2]
    assert it.refused(0x2C)
    it.write(0xFD)
    it.write(0x94)
    assert it.deaf(), "a reset ends a measurement"


# AHT20


def test_aht20_has_to_be_initialized_and_says_when_it_is_busy():
    it = Wired(AHT20, temperature=0, humidity=50).on_i2c()
    assert it.read(1) == b"\x10"
    it.write(0xBE, 0x08, 0x00)
    it.seconds += 0.011
    assert it.read(1) == b"\x18"
    it.write(0xAC, 0x33, 0x00)
    it.seconds += 0.079
    assert it.read(1) == b"\x98"
    it.seconds += 0.002
    frame = it.read(7)
    assert frame[:6] == bytes([0x18]) + (0x80000 << 20 | 0x40000).to_bytes(5, "big")
    assert crc8(frame) == 0


def test_aht20_refuses_what_the_data_sheet_does_not_have():
    it = Wired(AHT20).on_i2c()
    assert it.refused(0x12)
    assert it.refused(0xAC, 0x33, 0x01)
    assert it.refused(0xE1, 0x08, 0x00), "that is an AHT10's"
    it.write(0xBA)
    assert it.refused(0x71), "it takes 20 ms to come back"
    it.seconds += 0.021
    it.write(0x71)


# BME280 and BMP280


def test_the_worked_example_of_the_data_sheet():
    # BST-BMP280-DS001, 3.12: 25.08 degrees, 100653.27 Pa
    fine = t_fine(519888)
    assert fine / 5120 == pytest.approx(25.08, abs=0.005)
    assert pascals(415148, fine) == pytest.approx(100653.27, abs=0.005)
    assert 0 < percent(30000, fine) < 100


@pytest.mark.parametrize(("chip", "number"), [(BME280, 0x60), (BMP280, 0x58)])
def test_bosch_identity_and_registers_after_power_on(chip, number):
    it = Wired(chip).on_i2c()
    assert it.register(0xD0, 1) == number
    assert it.register(0xF4, 1) == 0
    assert it.register(0xF7, 3) == 0x800000
    assert it.register(0xFD, 2) == (0x8000 if chip is BME280 else 0)
    assert it.register(0x88, 2) == 0x706B, "dig_T1 27504, low byte first"
    it.write(0xD0, 0x99)
    assert it.register(0xD0, 1) == number, "read-only"


def test_bosch_forced_mode_is_over_by_itself():
    it = Wired(BME280).on_i2c()
    it.write(0xF2, 0x01, 0xF4, 0x25)
    assert it.register(0xF3, 1) == 0x08
    assert it.register(0xF7, 3) == 0x800000, "still the old value"
    it.seconds += 0.0092
    assert it.register(0xF3, 1) == 0x08
    it.seconds += 0.0002
    assert it.register(0xF3, 1) == 0
    assert it.register(0xF4, 1) == 0x24, "asleep again"
    assert it.register(0xF7, 3) & 0xFF == 0, "16 bits without oversampling"
    assert it.register(0xF7, 3) != 0x800000


def test_bosch_skips_what_is_not_asked_for():
    it = Wired(BME280).on_i2c()
    it.write(0xF4, 0x21)
    it.seconds += 0.1
    assert it.register(0xF7, 3) == 0x800000
    assert it.register(0xFA, 3) != 0x800000
    assert it.register(0xFD, 2) == 0x8000
    # ctrl_hum counts from the next write to ctrl_meas on.
    it.write(0xF2, 0x01)
    it.write(0xF4, 0x21)
    it.seconds += 0.1
    assert it.register(0xFD, 2) != 0x8000
    it.write(0xE0, 0xB6)
    assert it.register(0xF2, 1) == 0


# BH1750


def test_bh1750_measures_once_and_powers_down():
    it = Wired(BH1750, light=100).on_i2c()
    it.write(0x20)
    it.seconds += 0.179
    assert it.read(2) == b"\0\0", "a read returns the register"
    it.seconds += 0.002
    assert it.read(2) == (120).to_bytes(2, "big")
    it.write(0x07)
    assert it.read(2) == (120).to_bytes(2, "big"), "no reset while it is powered down"
    it.write(0x01)
    it.write(0x07)
    assert it.read(2) == b"\0\0"
    assert it.refused(0x80)


@pytest.mark.parametrize(
    ("mode", "time", "counts"),
    [(0x20, 69, 120), (0x21, 69, 240), (0x23, 69, 120), (0x20, 31, 53), (0x21, 254, 883)],
)
def test_bh1750_modes_and_measurement_time(mode, time, counts):
    it = Wired(BH1750, light=100).on_i2c()
    it.write(0x40 | time >> 5)
    it.write(0x60 | time & 31)
    it.write(mode)
    it.seconds += 0.67
    assert it.read(2) == counts.to_bytes(2, "big")


def test_bh1750_goes_on_and_on():
    it = Wired(BH1750, light=100).on_i2c()
    it.write(0x10)
    it.seconds += 0.2
    assert it.read(2) == (120).to_bytes(2, "big")
    it.values["light"] = 200
    assert it.read(2) == (120).to_bytes(2, "big")
    it.seconds += 5
    assert it.read(2) == (240).to_bytes(2, "big")


# ADS1115


def test_ads1115_single_shot():
    it = Wired(ADS1115, in0=1.024).on_i2c()
    assert it.register(1) == 0x8583
    assert (it.register(2), it.register(3)) == (0x8000, 0x7FFF)
    it.write(1, 0xC3, 0x83)
    assert it.register(1) == 0x4383
    it.seconds += 0.0085
    assert it.register(1) == 0x4383, "128 a second, ten percent slow at the worst"
    assert it.register(0) == 0
    it.seconds += 0.0003
    assert it.register(1) == 0xC383
    assert it.register(0) == 0x2000
    it.write(1, 0x43, 0x83)
    assert it.register(1) == 0xC383, "no OS, no conversion"


@pytest.mark.parametrize(
    ("volts", "counts"), [(10, 0x7FFF), (-10, 0x8000), (-0.000125, 0xFFFF), (0.000125, 1)]
)
def test_ads1115_counts(volts, counts):
    it = Wired(ADS1115, in0=volts).on_i2c()
    it.write(1, 0xC3, 0x83)
    it.seconds += 0.01
    assert it.register(0) == counts


def test_ads1115_converts_on_and_on():
    it = Wired(ADS1115, in1=1.024).on_i2c()
    it.write(1, 0x52, 0x83)
    it.seconds += 0.009
    assert it.register(0) == 0x2000
    it.values["in1"] = 0.512
    assert it.register(0) == 0x2000
    it.seconds += 1
    assert it.register(0) == 0x1000
    assert it.register(1) & 0x8000 == 0


# LM75


@pytest.mark.parametrize(
    ("celsius", "register"),
    [(125, 0x7D00), (25, 0x1900), (0.5, 0x0080), (-0.5, 0xFF80), (-55, 0xC900)],
)
def test_lm75(celsius, register):
    it = Wired(LM75, temperature=celsius).on_i2c()
    assert it.register(0) == register
    assert (it.register(2), it.register(3)) == (0x4B00, 0x5000)
    it.write(1, 1)
    it.values["temperature"] = 99
    assert it.register(0) == register, "shut down"
    it.write(2, 0x12, 0x34)
    assert it.register(2) == 0x1200


# MAX6675 and MCP3008


def spi_exchange(device, data, **clocking):
    bus = SPIBus()
    bus.attach(10, device)
    bus.pin(10, 0)
    got = bus.exchange(bytes(data), **{"hz": 1000000, "mode": 0, "lsb_first": False} | clocking)
    bus.pin(10, 1)
    return got


@pytest.mark.parametrize(
    ("celsius", "frame"), [(1023.75, 0x7FF9), (100, 0x0C81), (0.25, 0x0009), (0, 1), (-5, 1)]
)
def test_max6675(celsius, frame):
    it = Wired(MAX6675, temperature=celsius)
    assert spi_exchange(it.chip, bytes(2)) == frame.to_bytes(2, "big")
    it.chip.set_fault("open")
    assert spi_exchange(it.chip, bytes(2))[1] & 4


def test_max6675_needs_time_between_readings():
    it = Wired(MAX6675, temperature=100)
    assert spi_exchange(it.chip, bytes(2)) == b"\x0c\x81"
    it.values["temperature"] = 200
    for _ in range(5):
        it.seconds += 0.2
        assert spi_exchange(it.chip, bytes(2)) == b"\x0c\x81", "each reading restarts it"
    it.seconds += 0.23
    assert spi_exchange(it.chip, bytes(2)) == b"\x19\x01"


def test_mcp3008_figure_6_1():
    it = Wired(MCP3008, ch0=3.3 * 0x155 / 1024 + 0.001, vref=3.3)
    # Start bit last in the first byte; the value is in the last ten bits, after the null bit.
    assert spi_exchange(it.chip, b"\x01\x80\x00") == b"\xff\xf9\x55"
    # Its bits once more, the least significant first and once, then zeros.
    assert spi_exchange(it.chip, b"\x01\x80\x00\x00\x00") == b"\xff\xf9\x55\x55\x00"
    assert spi_exchange(it.chip, b"\x00\x00\x00") == b"\xff\xff\xff", "no start bit, no answer"


def test_mcp3008_pairs():
    it = Wired(MCP3008, ch2=2.0, ch3=0.5)
    assert spi_exchange(it.chip, b"\x01\x20\x00")[1:] == (465 | 0xF800).to_bytes(2, "big")
    assert spi_exchange(it.chip, b"\x01\x30\x00")[1:] == b"\xf8\x00"


# DS18B20


class Line:
    """Some DS18B20 on a line."""

    def __init__(self, *celsius):
        self.wired = [Wired(DS18B20, temperature=value) for value in celsius]
        self.bus = OneWireBus()
        for number, it in enumerate(self.wired):
            it.chip.serial = bytes([number, 0, 0, 0, 0, 0])
            self.bus.attach(it.chip)

    def wait(self, seconds):
        for it in self.wired:
            it.seconds += seconds

    def command(self, *data):
        assert self.bus.reset()
        self.bus.write(bytes(data))

    def scratchpad(self):
        self.command(0xCC, 0xBE)
        data = self.bus.read(9)
        assert crc8_maxim(data) == 0
        return data


# Table 1 of the data sheet.
DS18B20_EXAMPLES = [
    (125, 0x07D0),
    (85, 0x0550),
    (25.0625, 0x0191),
    (10.125, 0x00A2),
    (0.5, 0x0008),
    (0, 0x0000),
    (-0.5, 0xFFF8),
    (-10.125, 0xFF5E),
    (-25.0625, 0xFE6F),
    (-55, 0xFC90),
]


@pytest.mark.parametrize(("celsius", "counts"), DS18B20_EXAMPLES)
def test_ds18b20_temperatures(celsius, counts):
    line = Line(celsius)
    assert line.scratchpad() == b"\x50\x05\x4b\x46\x7f\xff\x0c\x10\x1c", (
        "85 degrees after power-on"
    )
    line.command(0xCC, 0x44)
    line.wait(0.74)
    assert line.bus.read_bit() == 0, "busy"
    line.wait(0.02)
    assert line.bus.read_bit() == 1
    assert line.scratchpad()[:2] == counts.to_bytes(2, "little")


def test_ds18b20_rom_commands():
    line = Line(20)
    rom = line.wired[0].chip.rom
    assert rom[0] == 0x28
    assert crc8_maxim(rom) == 0
    line.command(0x33)
    assert line.bus.read(8) == rom
    line.command(0x55, *rom, 0xBE)
    assert line.bus.read(2) == b"\x50\x05"
    line.command(0x55, *rom[:7], rom[7] ^ 1, 0xBE)
    assert line.bus.read(2) == b"\xff\xff", "another chip is meant"
    line.command(0x99)
    assert line.bus.read(1) == b"\xff", "no such command"


def test_ds18b20_alarm_search():
    line = Line(90, 20)
    line.command(0xCC, 0x44)
    line.wait(1)
    line.command(0xEC)
    # Both limits at power-on are 70 and 75 degrees; only the first is in alarm above, the second
    # below.
    assert (line.bus.read_bit(), line.bus.read_bit()) == (0, 1)
    line.command(0xCC, 0x4E, 100, 0, 0x7F)
    line.command(0xEC)
    assert (line.bus.read_bit(), line.bus.read_bit()) == (1, 1), "nobody"


def test_ds18b20_eeprom_and_resolution():
    line = Line(20.3)
    line.command(0xCC, 0x4E, 1, 2, 0x1F)
    assert line.scratchpad()[2:5] == b"\x01\x02\x1f"
    line.command(0xCC, 0x44)
    line.wait(0.094)
    assert line.scratchpad()[:2] == (20 * 16).to_bytes(2, "little"), "9 bits: halves of a degree"
    line.command(0xCC, 0x48)
    line.command(0xCC, 0x4E, 9, 9, 0xFF)
    assert line.scratchpad()[4] == 0x7F, "only two bits of the configuration can be written"
    line.command(0xCC, 0xB8)
    assert line.scratchpad()[2:5] == b"\x01\x02\x1f"
    line.wired[0].chip.power_on()
    assert line.scratchpad()[2:5] == b"\x01\x02\x1f", "kept without power"
    line.command(0xCC, 0xB4)
    assert line.bus.read_bit() == 1, "its own supply"


def test_one_wire_is_a_wired_and():
    line = Line(20, 30)
    line.command(0xCC, 0x44)
    line.wait(1)
    line.command(0xCC, 0xBE)
    assert line.bus.read(1)[0] == (20 * 16 & 0xFF) & (30 * 16 & 0xFF)
    for it in line.wired:
        it.chip.set_fault("absent")
    assert not line.bus.reset()
    line.wired[0].chip.set_fault("stuck")
    assert line.bus.reset(), "a line that is held low looks like presence"
    assert line.bus.read(2) == b"\0\0"
    with pytest.raises(ValueError, match="two devices with the ROM"):
        line.bus.attach(line.wired[0].chip)


# DHT22


def test_dht22_frames():
    # 7.2 of the manual: 65.2 %, 35.1 degrees; then minus 10.1.
    assert Wired(DHT22, temperature=35.1, humidity=65.2).chip.answer() == b"\x02\x8c\x01\x5f\xee"
    assert Wired(DHT22, temperature=-10.1, humidity=65.2).chip.answer()[2:4] == b"\x80\x65"


def test_dht22_answers_with_the_measurement_before():
    it = Wired(DHT22, temperature=10)
    it.seconds += 5
    it.chip.answer()
    it.values["temperature"] = 20
    assert it.chip.answer()[2:4] == b"\x00\x64", "too early for another measurement"
    it.seconds += 2
    assert it.chip.answer()[2:4] == b"\x00\x64"
    it.seconds += 2
    assert it.chip.answer()[2:4] == b"\x00\xc8"


# Wiring


@pytest.fixture
def hardware(monkeypatch, tmp_path):
    return Bench(monkeypatch, tmp_path).hardware


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (("x", "NE555", "i2c0", "0x20"), "no model of 'NE555'"),
        (("x", "SHT40", "i2c0", None), "SHT40 cannot be on 'i2c0'"),
        (("x", "SHT40", "i2c7", "0x44"), "SHT40 cannot be on 'i2c7' at 0x44"),
        (("x", "SHT40", "spi0.0", None), "SHT40 cannot be on 'spi0.0'"),
        (("x", "SHT40", "i2c0", "0x99"), "0x99 is no 7-bit I2C address"),
        (("x", "SHT40", "i2c0", "here"), "'here' is no address"),
        (("x", "MCP3008", "spi0.7", None), "MCP3008 cannot be on 'spi0.7'"),
        (("x", "DS18B20", "gpio0", None), "DS18B20 cannot be on 'gpio0'"),
        (("taken", "SHT40", "i2c0", "0x45"), "there is a device 'taken' already, on gpio0"),
        (("x", "DHT22", "gpio0", None), "two devices on one line"),
    ],
)
def test_wiring_that_cannot_be(hardware, row, words):
    hardware.attach("taken", "DHT22", "gpio0")
    with pytest.raises(HardwareError, match=words):
        hardware.attach(*row)
    assert list(hardware.devices) == ["taken"]


@pytest.mark.parametrize(
    ("chip", "bus", "address"),
    [
        ("SHT40", "i2c0", "0x44"),
        ("MCP3008", "spi0.0", None),
        ("MCP3008", "spi0.gpio3", None),
        ("DS18B20", "gpio1", None),
        ("DHT22", "GPIO1", None),
    ],
)
def test_wiring_can_be_undone(hardware, chip, bus, address):
    for _ in range(2):
        hardware.attach("x", chip, bus, address)
        assert list(hardware.devices) == ["x"]
        hardware.detach("x")
    assert not hardware.devices
    with pytest.raises(HardwareError, match="no device 'x'"):
        hardware.detach("x")
