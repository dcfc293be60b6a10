"""Each chip's registers at the level of the bytes on the bus, against its data sheet."""

import errno

import pytest

from tenner_sim.vboard.bus import BusError, I2CBus, SPIBus
from tenner_sim.vboard.devices import AT24C32, MAX31855, SHT31, TMP102
from tenner_sim.vboard.devices.base import FaultError, crc8


class Clock:
    def __init__(self):
        self.seconds = 100.0

    def __call__(self):
        return self.seconds


class Setup:
    """One device of a class on a bus of its own, with settable values and time."""

    def __init__(self, chip, **values):
        self.values = values
        self.clock = Clock()
        self.device = chip(self.values.__getitem__, self.clock)
        self.bus = I2CBus()
        if not isinstance(self.device, MAX31855):
            self.bus.attach(0x48, self.device)

    def write(self, data, stop=True):
        return self.bus.write(0x48, bytes(data), stop)

    def read(self, count, stop=True):
        return self.bus.read(0x48, count, stop)

    def register(self, pointer, count=2):
        self.write([pointer], stop=False)
        return int.from_bytes(self.read(count), "big")


def failure(call, *args):
    with pytest.raises(BusError) as caught:
        call(*args)
    return caught.value.number


# TMP102: the table of examples in the data sheet, 12-bit mode.
TMP102_EXAMPLES = [
    (128, 0x7FF),
    (127.9375, 0x7FF),
    (100, 0x640),
    (80, 0x500),
    (75, 0x4B0),
    (50, 0x320),
    (25, 0x190),
    (0.25, 0x004),
    (0, 0x000),
    (-0.25, 0xFFC),
    (-25, 0xE70),
    (-55, 0xC90),
]


@pytest.mark.parametrize(("celsius", "counts"), TMP102_EXAMPLES)
def test_tmp102_temperatures(celsius, counts):
    assert Setup(TMP102, temperature=celsius).register(0) == counts << 4


@pytest.mark.parametrize(
    ("celsius", "counts"), [(150, 0x0960), (128, 0x0800), (-0.25, 0x1FFC), (-55, 0x1C90)]
)
def test_tmp102_extended_mode(celsius, counts):
    it = Setup(TMP102, temperature=celsius)
    it.write([1, 0x60, 0xB0])
    assert it.register(0) == (counts << 3) | 1


def test_tmp102_power_up_registers():
    it = Setup(TMP102, temperature=20)
    assert it.register(1) == 0x60A0
    assert it.register(2) == 0x4B00
    assert it.register(3) == 0x5000


def test_tmp102_pointer_stays_until_written():
    it = Setup(TMP102, temperature=20)
    assert it.read(2) == b"\x14\x00"
    it.register(3)
    assert it.read(2) == b"\x50\x00"
    assert it.read(5) == b"\x50\x00\x50\x00\x50"


def test_tmp102_read_only_bits_and_limits():
    it = Setup(TMP102, temperature=20)
    it.write([1, 0x00, 0x00])
    assert it.register(1) & 0x6000 == 0x6000
    it.write([2, 0x12, 0x3F])
    assert it.register(2) == 0x1230


def test_tmp102_shutdown_stands_still_and_one_shot_measures():
    it = Setup(TMP102, temperature=20)
    it.write([1, 0x61, 0xA0])
    it.values["temperature"] = 30
    assert it.register(0) == 0x1400
    it.write([1, 0xE1, 0xA0])
    assert it.register(1) & 0x8000 == 0, "busy"
    it.clock.seconds += 0.03
    assert it.register(1) & 0x8000 == 0x8000
    assert it.register(0) == 0x1E00


def test_tmp102_alert_bit_has_hysteresis():
    it = Setup(TMP102, temperature=20)
    states = []
    for celsius in (20, 81, 77, 74):
        it.values["temperature"] = celsius
        states.append(it.register(1) & 0x20)
    # With POL = 0 the bit reads 1 until the alert is active.
    assert states == [0x20, 0, 0, 0x20]


def test_tmp102_power_cycle_restores_registers():
    it = Setup(TMP102, temperature=20)
    it.write([2, 0x10, 0x00])
    it.device.power_on()
    assert it.register(2) == 0x4B00


def test_crc_of_the_data_sheet():
    assert crc8(b"\xbe\xef") == 0x92


def sht31_values(data):
    assert crc8(data[:2]) == data[2]
    assert crc8(data[3:5]) == data[5]
    temperature = -45 + 175 * int.from_bytes(data[:2], "big") / 65535
    return temperature, 100 * int.from_bytes(data[3:5], "big") / 65535


@pytest.mark.parametrize(("celsius", "percent"), [(21.5, 55), (-39.9, 0), (124, 100), (0, 1)])
def test_sht31_single_shot(celsius, percent):
    it = Setup(SHT31, temperature=celsius, humidity=percent)
    it.write([0x24, 0x00])
    it.clock.seconds += 0.016
    temperature, humidity = sht31_values(it.read(6))
    assert temperature == pytest.approx(celsius, abs=0.002)
    assert humidity == pytest.approx(percent, abs=0.001)


def test_sht31_does_not_acknowledge_while_it_measures():
    it = Setup(SHT31, temperature=20, humidity=50)
    it.write([0x24, 0x00])
    assert failure(it.read, 6) == errno.ENODEV
    it.clock.seconds += 0.016
    it.read(6)
    assert failure(it.read, 6) == errno.ENODEV, "the result is read once"


def test_sht31_stretches_the_clock_when_asked_to():
    it = Setup(SHT31, temperature=20, humidity=50)
    it.write([0x2C, 0x06])
    assert len(it.read(6)) == 6


def test_sht31_periodic_mode():
    it = Setup(SHT31, temperature=20, humidity=50)
    it.write([0x21, 0x30])
    it.write([0xE0, 0x00])
    assert failure(it.read, 6) == errno.ENODEV
    it.clock.seconds += 1
    it.write([0xE0, 0x00])
    assert sht31_values(it.read(6))[0] == pytest.approx(20, abs=0.01)
    it.write([0xE0, 0x00])
    assert failure(it.read, 6) == errno.ENODEV
    assert failure(it.write, [0x24, 0x00]) == errno.ENODEV, "single shot needs a break first"
    it.write([0x30, 0x93])
    it.write([0x24, 0x00])


def test_sht31_status_register():
    it = Setup(SHT31, temperature=20, humidity=50)

    def status():
        it.write([0xF3, 0x2D])
        data = it.read(3)
        assert crc8(data[:2]) == data[2]
        return int.from_bytes(data[:2], "big")

    assert status() == 0x8010
    it.write([0x30, 0x41])
    assert status() == 0
    it.write([0x30, 0x6D])
    assert status() == 0x2000
    assert failure(it.write, [0x12, 0x34]) == errno.ENODEV
    it.write([0x30, 0xA2])
    assert status() == 0x8010


def test_sht31_bad_crc():
    it = Setup(SHT31, temperature=20, humidity=50)
    it.device.set_fault("bad_crc")
    it.write([0x2C, 0x06])
    data = it.read(6)
    assert crc8(data[:2]) != data[2]
    assert crc8(data[3:5]) != data[5]


def test_eeprom_write_and_sequential_read():
    it = Setup(AT24C32)
    it.write([0x01, 0x00, 1, 2, 3])
    it.clock.seconds += 0.01
    it.write([0x01, 0x00], stop=False)
    assert it.read(4) == b"\x01\x02\x03\xff"
    assert it.read(1) == b"\xff", "current address"


def test_eeprom_page_write_rolls_over_in_its_page():
    it = Setup(AT24C32)
    it.write([0x00, 0x1E, 1, 2, 3, 4])
    it.clock.seconds += 0.01
    assert bytes(it.device.memory[0x1E:0x21]) == b"\x01\x02\xff"
    assert bytes(it.device.memory[0:3]) == b"\x03\x04\xff"


def test_eeprom_more_than_a_page_overwrites_its_start():
    it = Setup(AT24C32)
    it.write([0x00, 0x20, *range(33)])
    assert it.device.memory[0x20] == 32
    assert it.device.memory[0x21] == 1


def test_eeprom_read_rolls_over_at_the_end():
    it = Setup(AT24C32)
    it.device.memory[0xFFF] = 7
    it.device.memory[0] = 8
    it.write([0x0F, 0xFF], stop=False)
    assert it.read(2) == b"\x07\x08"


def test_eeprom_upper_address_bits_do_not_matter():
    it = Setup(AT24C32)
    it.write([0xF1, 0x23, 9])
    assert it.device.memory[0x123] == 9


def test_eeprom_does_not_acknowledge_in_its_write_cycle():
    it = Setup(AT24C32)
    it.write([0, 0, 1])
    assert failure(it.write, []) == errno.ENODEV
    it.clock.seconds += 0.011
    assert it.write([]) == 0


def test_eeprom_writes_at_stop_only():
    it = Setup(AT24C32)
    it.write([0, 0, 1], stop=False)
    it.read(1)
    assert it.device.memory[0] == 0xFF


def test_eeprom_keeps_its_contents_without_power():
    it = Setup(AT24C32)
    it.write([0, 5, 1])
    it.device.power_on()
    assert it.device.memory[5] == 1


# MAX31855: the examples of the data sheet's tables 4 and 5.
MAX31855_EXAMPLES = [
    (1600.0, 0b01100100000000),
    (1000.0, 0b00111110100000),
    (100.75, 0b00000110010011),
    (25.0, 0b00000001100100),
    (0.0, 0),
    (-0.25, 0b11111111111111),
    (-1.0, 0b11111111111100),
    (-250.0, 0b11110000011000),
]
MAX31855_INTERNAL = [
    (127.0, 0b011111110000),
    (100.625, 0b011001001010),
    (0.0, 0),
    (-0.0625, 0b111111111111),
    (-20.0, 0b111011000000),
    (-55.0, 0b110010010000),
]


def max31855_frame(device, count=4, **clocking):
    bus = SPIBus()
    bus.attach(10, device)
    bus.pin(10, 0)
    data = bus.exchange(bytes(count), **{"hz": 1000000, "mode": 0, "lsb_first": False} | clocking)
    bus.pin(10, 1)
    return int.from_bytes(data, "big")


@pytest.mark.parametrize(("celsius", "bits"), MAX31855_EXAMPLES)
def test_max31855_thermocouple(celsius, bits):
    it = Setup(MAX31855, temperature=celsius, internal=0)
    assert max31855_frame(it.device) == bits << 18


@pytest.mark.parametrize(("celsius", "bits"), MAX31855_INTERNAL)
def test_max31855_internal(celsius, bits):
    it = Setup(MAX31855, temperature=0, internal=celsius)
    assert max31855_frame(it.device) == bits << 4


@pytest.mark.parametrize(("fault", "bits"), [("open", 1), ("short_gnd", 2), ("short_vcc", 4)])
def test_max31855_faults(fault, bits):
    it = Setup(MAX31855, temperature=0, internal=0)
    it.device.set_fault(fault)
    assert max31855_frame(it.device) == 0x10000 | bits


def test_max31855_wrong_clocking():
    it = Setup(MAX31855, temperature=100, internal=25)
    right = max31855_frame(it.device)
    assert max31855_frame(it.device, mode=1) == right >> 1
    assert max31855_frame(it.device, hz=10_000_000) == 0
    assert max31855_frame(it.device, count=6) == right << 16
    assert max31855_frame(it.device, lsb_first=True) == int.from_bytes(
        bytes(int(f"{byte:08b}"[::-1], 2) for byte in right.to_bytes(4, "big")), "big"
    )


def test_nobody_selected_reads_ones():
    assert SPIBus().exchange(b"\0\0", hz=1, mode=0, lsb_first=False) == b"\xff\xff"


def test_spi_faults():
    it = Setup(MAX31855, temperature=100, internal=25)
    it.device.set_fault("absent")
    assert max31855_frame(it.device) == 0xFFFFFFFF
    it.device.set_fault("stuck")
    assert max31855_frame(it.device) == 0


def test_i2c_faults():
    it = Setup(TMP102, temperature=20)
    other = TMP102({"temperature": 30}.__getitem__)
    it.bus.attach(0x49, other)
    it.device.set_fault("absent")
    assert failure(it.write, [0]) == errno.ENODEV
    assert it.bus.scan() == [0x49]
    it.device.set_fault("nack")
    assert it.bus.scan() == [0x48, 0x49]
    assert failure(it.write, [0]) == errno.ENODEV
    assert failure(it.read, 2) == errno.ENODEV
    it.device.set_fault("stuck")
    assert failure(it.bus.read, 0x49, 2) == errno.ETIMEDOUT
    assert failure(it.bus.scan) == errno.ETIMEDOUT
    it.device.set_fault(None)
    assert it.read(2) == b"\x14\x00"


def test_an_impossible_fault_is_refused():
    with pytest.raises(FaultError, match="it has: absent, nack, stuck"):
        Setup(TMP102, temperature=20).device.set_fault("bad_crc")


def test_addresses_of_a_bus():
    it = Setup(TMP102, temperature=20)
    assert failure(it.bus.read, 0x47, 1) == errno.ENODEV
    with pytest.raises(ValueError, match="two devices"):
        it.bus.attach(0x48, it.device)
    with pytest.raises(ValueError, match="no 7-bit"):
        it.bus.attach(0x78, it.device)
