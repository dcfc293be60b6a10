# tenner test: the values of drivers from the bytes of their chips, by the examples of the data
# sheets. MIT license; Copyright (c) 2026 the tenner authors

import sys
import time
import unittest

from fakes import FakePort, FakeSPI, ScriptedI2C
from support import run, temp_folder
from tenner.sensors import SensorError
from tenner.sensors.checks import crc8, inside, wait_ms
from tenner.sensors.reading import Sensors
from tenner.store import files

DRIVERS = ("ads1115", "aht20", "bh1750", "bme280", "dht22", "ds18b20", "sht", "tmp102")


class ScriptedWire:
    """The module `onewire` and its class: one chip, whose scratchpad answers."""

    def __init__(self, counts, **changes):
        self.OneWire = lambda pin: self
        self.done = 1
        self.rom = b"\x28\x01\x02\x03\x04\x05\x06\xea"
        self.data = bytearray((counts & 255, counts >> 8 & 255, 0x5A, 0x5A, 0x7F, 255, 12, 16))
        self.checksum = 0
        self.written = []
        for name in changes:
            setattr(self, name, changes[name])

    def reset(self):
        return True

    def scan(self):
        return [self.rom]

    def select_rom(self, rom):
        self.written.append(bytes(rom))

    def writebyte(self, value):
        self.written.append(value)

    def write(self, buf):
        self.written.append(bytes(buf))

    def readbit(self):
        return self.done

    def readinto(self, buf):
        buf[:8] = self.data

    def crc8(self, data):
        return self.checksum


class ScriptedDht:
    """The module `dht`: its class is itself."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.DHT22 = lambda pin: self
        self.DHT11 = lambda pin: self

    def measure(self):
        self.now = self.answers.pop(0)
        if isinstance(self.now, Exception):
            raise self.now

    def temperature(self):
        return self.now[0]

    def humidity(self):
        return self.now[1]


class Pins:
    def check(self, name, use):
        return name, "GPIO1"

    def pin(self, name, use):
        return self

    def value(self):
        return 1


class TestDrivers(unittest.TestCase):
    def setUp(self):
        self.folder = temp_folder(self)
        self.slept = []
        for name in DRIVERS:
            __import__("tenner.sensors." + name)
            module = sys.modules["tenner.sensors." + name]
            self.addCleanup(setattr, module, "wait_ms", module.wait_ms)
            module.wait_ms = self.wait_ms
        self.port = FakePort(self.folder)
        self.port.pins = Pins

    async def wait_ms(self, ms):
        self.slept.append(ms)

    def read(self, driver, **settings):
        settings["driver"] = driver
        sensors = Sensors(self.port, self.folder)
        files.write_atomic(self.folder + "/SENSORS.json", _json({"it": settings}))
        return run(sensors.read("it"))

    def i2c(self, *answers):
        bus = self.port.buses["i2c0"] = ScriptedI2C(*answers)
        return bus

    def spi(self, answer):
        bus = self.port.devices["spi0.0"] = FakeSPI(answer)
        return bus

    def module(self, name, stand_in):
        if name in sys.modules:
            self.addCleanup(sys.modules.__setitem__, name, sys.modules[name])
        else:
            self.addCleanup(sys.modules.pop, name, None)
        sys.modules[name] = stand_in
        return stand_in

    def fails(self, words, driver, **settings):
        with self.assertRaises(SensorError) as caught:
            self.read(driver, **settings)
        self.assertIn(words, str(caught.exception))

    def test_checksum_of_the_data_sheets(self):
        self.assertEqual(crc8(b"\xbe\xef"), 0x92)  # SHT3x, 4.12; SHT4x, 4.4
        self.assertEqual(crc8(b"\xbe\xef\x92"), 0)

    def test_what_is_no_number_is_outside(self):
        self.assertEqual(inside(1.005, 0, 2), round(1.005, 2))
        for value in (2.1, -0.1, float("nan")):
            with self.assertRaises(SensorError):
                inside(value, 0, 2)

    def test_tmp102_and_its_kind(self):
        for driver, data, celsius in (
            ("tmp102", b"\x19\x00", 25.0),
            ("tmp105", b"\xe7\x00", -25.0),
            ("tmp102", b"\x4b\x01", 150.0),
            ("lm75", b"\x19\x7f", 25.0),
        ):
            self.i2c(data)
            self.assertEqual(self.read(driver), {"temperature": celsius})
        for driver, data, words in (
            ("tmp102", b"\xff\xff", "0x48 on i2c0 sends no temperature (0xffff)"),
            ("tmp102", b"\x7f\xf0", "127.9 is outside"),
            ("lm75", b"\x7f\x80", "127.5 is outside"),
            ("lm75", b"\x80\x01", "-128 is outside"),
        ):
            self.i2c(data)
            self.fails(words, driver)
        # Zero may mean that nothing was measured yet since power-on.
        self.i2c(b"\0\0", b"\x19\0")
        self.assertEqual((self.read("tmp102"), self.slept), ({"temperature": 25.0}, [300]))
        self.i2c(b"\0\0", b"\0\0")
        self.assertEqual(self.read("tmp102"), {"temperature": 0})

    def test_sht(self):
        data = b"\x66\x66\x93\x80\x00\xa2"
        bus = self.i2c(data)
        self.assertEqual(self.read("sht31"), {"temperature": 25.0, "humidity": 50.0})
        self.assertEqual((bus.written, self.slept), ([b"\x24\x00"], [16]))
        bus = self.i2c(data)
        self.assertEqual(self.read("sht4x"), {"temperature": 25.0, "humidity": 56.5})
        self.assertEqual((bus.written, self.slept), ([b"\xfd"], [16, 9]))
        # Out of 0 to 100 % is cut, as 4.6 of SHT4x says.
        for word, shown in ((b"\x00\x00\x81", 0), (b"\xff\xff\xac", 100)):
            self.i2c(data[:3] + word)
            self.assertEqual(self.read("sht40")["humidity"], shown)
        for place in range(6):
            wrong = bytearray(data)
            wrong[place] ^= 1
            self.i2c(wrong)
            self.fails("0x44 on i2c0 sent a wrong checksum", "sht31")
        self.i2c(None)
        self.fails("0x44 on i2c0 is not done after 16 ms", "sht31")
        self.i2c()
        self.fails("chip must be sht3x or sht4x, not sht20", "sht", chip="sht20")

    def test_aht20(self):
        ready = b"\x18" + bytes(6)
        data = b"\x18\x80\x00\x05\x99\x9a\xac"
        data = data[:6] + bytes([crc8(data[:6])])
        bus = self.i2c(ready, data)
        self.assertEqual(self.read("aht20"), {"temperature": 20.0, "humidity": 50.0})
        self.assertEqual((bus.written, self.slept), ([b"\xac\x33\x00"], [80]))
        # Not calibrated yet: 5.4, step 1.
        bus = self.i2c(b"\x10" + bytes(6), data)
        self.read("dht20")
        self.assertEqual(bus.written, [b"\xbe\x08\x00", b"\xac\x33\x00"])
        self.i2c(ready, b"\x98" + data[1:])
        self.fails("is not done after 80 ms", "aht20")
        self.i2c(ready, data[:6] + b"\x00")
        self.fails("wrong checksum", "aht20")
        # A good result of a chip without its calibration.
        data = b"\x10" + data[1:6]
        for first in (ready, b"\x10" + bytes(6)):
            self.i2c(first, data + bytes([crc8(data)]))
            self.fails("0x38 on i2c0 lost its supply while it measured", "aht20")

    def test_bme280_worked_example(self):
        # BST-BMP280-DS001, 3.12: 25.08 degrees and 100653.27 Pa.
        trim = (
            b"\x70\x6b\x43\x67\x18\xfc\x7d\x8e\x43\xd6\xd0\x0b\x27\x0b\x8c\x00\xf9\xff\x8c\x3c\xf8\xc6"
            b"\x70\x17\x00\x4b"
        )
        data = b"\x65\x5a\xc0\x7e\xed\x00\x75\x30"
        more = b"\x6a\x01\x00\x13\x29\x03\x1e"
        expected = {"temperature": 25.08, "pressure": 1006.53}
        bus = self.i2c(b"\x58", b"\x00", data, b"\x24", trim)
        self.assertEqual(self.read("bmp280"), expected)
        self.assertEqual((bus.written, self.slept), ([b"\xf4\x25"], [10]))
        bus = self.i2c(b"\x60", b"\x04", data, b"\x24", b"\x01", trim, more)
        values = self.read("bme280")
        self.assertEqual(bus.written, [b"\xf2\x01", b"\xf4\x25"])
        self.assertEqual(values, {"temperature": 25.08, "pressure": 1006.53, "humidity": 55.0})
        self.i2c(b"\x60", b"\x08")
        self.fails("0x76 on i2c0 is not done after 10 ms", "bme280")
        self.i2c(b"\x61")
        self.fails("is no BME280 or BMP280 (chip id 0x61)", "bme280")
        # Nothing was measured, which makes 26.5 degrees.
        data = b"\x80\x00\x00" * 2 + b"\x80\x00"
        self.i2c(b"\x60", b"\x00", data, b"\x00", b"\x00", trim, more)
        self.fails("0x76 on i2c0 lost its supply while it measured", "bme280")
        # Only the humidity was not.
        self.i2c(b"\x60", b"\x00", data, b"\x24", b"\x00", trim, more)
        self.fails("0x76 on i2c0 lost its supply while it measured", "bme280")

    def test_bh1750(self):
        # "How to calculate the data": 10000011 10010000 is 28067 lx.
        bus = self.i2c(b"\x83\x90")
        self.assertEqual(self.read("bh1750"), {"light": 28066.7})
        self.assertEqual(bus.written, [b"\x01", b"\x07", b"\x42", b"\x65", b"\x20"])
        self.assertEqual(self.slept, [180])
        # "Adjust measurement result" for too much light.
        bus = self.i2c(b"\xff\xff", b"\x83\x90")
        self.assertEqual(self.read("bh1750"), {"light": 62471.0})
        self.assertEqual(bus.written[7:9], [b"\x40", b"\x7f"])
        self.i2c(b"\xff\xff", b"\xff\xff")
        self.fails("more light than the 121557 lx", "bh1750")
        bus = self.i2c(b"\0\0", b"\0\0")
        self.assertEqual(self.read("bh1750"), {"light": 0})
        # The chip may have lost its supply, so the driver sends all instructions again.
        self.assertEqual(bus.written[:5], bus.written[5:])
        self.i2c(b"\0\0", b"\0\x0c")
        self.assertEqual(self.read("bh1750"), {"light": 10})

    def test_ads1115(self):
        for settings, config, counts, volts in (
            ({}, b"\x01\xc3\x83", b"\x40\x00", 2.048),
            ({"channel": 3}, b"\x01\xf3\x83", b"\xc0\x00", -2.048),
            ({"channel": "0-1", "range": 0.256}, b"\x01\x8b\x83", b"\x00\x80", 0.001),
            ({"channel": "0-1", "range": 2.048}, b"\x01\x85\x87", b"\x40\x00", 1.024),
            ({"channel": "2-3", "range": 6.144}, b"\x01\xb1\x83", b"\xff\xff", -0.0002),
        ):
            bus = self.i2c(bytes([config[1] | 0x80]) + config[2:], counts)
            self.assertEqual(self.read("ads1115", **settings), {"voltage": volts})
            self.assertEqual(bus.written, [config])
        self.assertEqual(self.slept, [9] * 5)
        for settings, answer, words in (
            ({}, b"\x85\x83", "0x48 on i2c0 lost its supply while it measured"),
            ({"channel": "0-1", "range": 2.048}, b"\x85\x83", "lost its supply"),
            ({"channel": 2}, b"\xc2\x83", "0x48 on i2c0 was set to another input"),
            ({"channel": 2}, b"\x42\x83", "was set to another input"),
            ({"channel": 2}, b"\xe3\xa3", "was set to another input"),
        ):
            self.i2c(answer, b"\x40\x00")
            self.fails(words, "ads1115", **settings)
        for counts in (b"\x7f\xff", b"\x80\x00"):
            self.i2c(b"\xc3\x83", counts)
            self.fails("input 0 is beyond 4.096 V", "ads1115")
        self.i2c(b"\x43\x83")
        self.fails("is not done after 9 ms", "ads1115")

    def test_max31855(self):
        # Tables 4 and 5 of the data sheet.
        for data, hot, cold in (
            (b"\x64\x00\x7f\x00", 1600.0, None),
            (b"\x3e\x80\x64\xa0", 1000.0, 100.62),
            (b"\x06\x4c\x00\x00", 100.75, 0.0),
            (b"\xff\xfc\xff\xf0", -0.25, -0.06),
            (b"\xf0\x60\xec\x00", -250.0, -20.0),
        ):
            bus = self.spi(data)
            if cold is None:
                self.fails("127 is outside", "max31855")  # no board is as hot as that
                continue
            self.assertEqual(self.read("max31855"), {"temperature": hot, "internal": cold})
            self.assertEqual([row for row in bus.log if row[0] == "cs"], [("cs", 0), ("cs", 1)])
        for data, words in (
            (b"\x00\x01\x19\x01", "thermocouple open"),
            (b"\x00\x01\x19\x02", "thermocouple shorted to ground"),
            (b"\x00\x01\x19\x04", "thermocouple shorted to supply"),
            (b"\xff\xff\xff\xff", "no answer on spi0.0 (only ones)"),
            (b"\x00\x00\x00\x00", "no answer on spi0.0 (only zeros)"),
            (b"\x06\x4e\x19\x00", "a wrong frame"),
            (b"\x06\x4c\x19\x08", "a wrong frame"),
        ):
            self.spi(data)
            self.fails(words, "max31855")

    def test_max6675(self):
        for data, hot in ((b"\x0c\x81", 100.0), (b"\x00\x08", 0.25), (b"\x7f\xf0", 1023.5)):
            self.spi(data)
            self.assertEqual(self.read("max6675"), {"temperature": hot})
        for data, words in (
            (b"\x0c\x85", "thermocouple open"),
            (b"\x00\x00", "only zeros"),
            (b"\x00\x01", "only zeros"),
            (b"\xff\xff", "only ones"),
            (b"\x8c\x81", "a wrong frame"),
            (b"\x0c\x83", "a wrong frame"),
            (b"\x7f\xf8", "1024 is outside"),
        ):
            self.spi(data)
            self.fails(words, "max6675")

    def test_the_chip_select_is_released_when_the_bus_fails(self):
        bus = self.spi(b"")
        bus.fails = OSError("the bus broke")
        self.fails("the bus broke", "max31855")
        self.assertEqual(bus.log[-1], ("cs", 1))
        self.port.devices["spi0.1"] = bus
        self.fails("there is no SPI device (none given); available: spi0.0, spi0.1", "mcp3008")
        self.fails("there is no SPI device spi9.0", "mcp3008", bus="spi9.0")

    def test_mcp3008(self):
        bus = self.spi(b"\xff\xfa\x00")
        self.assertEqual(self.read("mcp3008", channel=5), {"voltage": 1.65})
        self.assertIn(("transfer", b"\x01\xd0\x00"), bus.log)
        self.assertEqual(bus.log[0], ("init", 1000000, 0, 8))
        self.assertEqual(self.read("mcp3004", vref=5, scale=2, offset=1), {"voltage": 6.0})
        for data, words in (
            (b"\xff\xff\xff", "only ones"),
            (b"\x00\x00\x00", "only zeros"),
            (b"\xff\xfe\x00", "no null bit"),
            (b"\xff\xfb\xff", "input 0 is at vref or above"),
        ):
            self.spi(data)
            self.fails(words, "mcp3008")
        self.fails("channel must be 0 or 1 or 2", "mcp3008", channel=8)
        self.spi(b"\x00\x00\x00")
        self.assertEqual(self.read("mcp3008", zero=True), {"voltage": 0.0})

    def test_ds18b20(self):
        # Table 1 of the data sheet.
        for counts, celsius in (
            (0x07D0, 125.0),
            (0x0550, 85.0),
            (0x0191, 25.06),
            (0x0008, 0.5),
            (0xFFF8, -0.5),
            (0xFF5E, -10.12),
            (0xFC90, -55.0),
        ):
            wire = self.module("onewire", ScriptedWire(counts))
            self.assertEqual(self.read("ds18b20", pin="D1"), {"temperature": celsius})
            mark = [wire.rom, b"\x4e\x5a\x5a\x7f", wire.rom, b"\x44", wire.rom, 0xBE]
            self.assertEqual(wire.written, mark)
        self.assertEqual(self.slept, [750] * 7)
        for changes, words in (
            ({"done": 0}, "pin D1: the sensor is not done after 750 ms"),
            ({"checksum": 7}, "pin D1: wrong checksum"),
            ({"data": b"\x50\x05\x4b\x46\x7f\xff\x0c\x10"}, "lost its supply"),
            ({"data": b"\x50\x05\x5a\x46\x7f\xff\x0c\x10"}, "lost its supply"),
            # All zeros have a good checksum.
            ({"data": bytes(8)}, "lost its supply"),
            ({"reset": lambda: False}, "pin D1: no answer"),
            ({"scan": lambda: [b"\x01" + bytes(7)]}, "no DS18B20 answers"),
        ):
            self.module("onewire", ScriptedWire(0x191, **changes))
            self.fails(words, "ds18b20", pin="D1")
        other = "10" + "00" * 7
        self.fails("pin D1: rom is that of another chip", "ds18b20", pin="D1", rom=other)

    def test_dht22(self):
        self.module("dht", ScriptedDht((1, 2), (-10.1, 65.2)))
        self.assertEqual(self.read("am2302", pin=1), {"temperature": -10.1, "humidity": 65.2})
        self.assertEqual(self.slept, [2000])
        for answers, words in (
            ((OSError(116),), "no answer on pin D1"),
            (((1, 2), OSError(110)), "no answer on pin D1"),
            ((Exception("checksum error"),), "pin D1: checksum error"),
            (((1, 2), (81, 50)), "81 is outside"),
            (((1, 2), (20, 101)), "101 is outside"),
            (((20, 50), (0, 0)), "pin D1: the sensor sent only zeros: did it lose its supply?"),
        ):
            self.module("dht", ScriptedDht(*answers))
            self.fails(words, "dht22", pin="D1")

    def test_a_board_without_these_modules(self):
        for driver, name in (("ds18b20", "onewire"), ("dht22", "dht")):
            if name in sys.modules or _is_there(name):
                continue
            self.fails("this MicroPython has no module " + name, driver, pin="D1")

    def test_analog_values(self):
        class Adc:
            def __init__(self, raw):
                self.raw = raw

            def read_u16(self):
                return self.raw

            def read_uv(self):
                return 1500000

        adc = Adc(30000)
        self.port.pins = lambda: self
        self.adc = lambda name: adc
        self.assertEqual(self.read("adc", pin="A0"), {"voltage": 1.5})
        settings = {"value": "level", "scale": 50, "offset": -5}
        self.assertEqual(self.read("adc", pin="A0", **settings), {"level": 70.0})
        adc = Adc(65535)
        self.fails("pin A0: more than it can measure", "adc", pin="A0")

    def test_readings_take_turns(self):
        # The second would otherwise restart the chip in the middle of the first.
        import asyncio

        bus = self.i2c(b"\x66\x66\x93\x80\x00\xa2", b"\x66\x66\x93\x80\x00\xa2")
        files.write_atomic(
            self.folder + "/SENSORS.json", '{"a": {"driver": "sht31"}, "b": {"driver": "sht31"}}'
        )
        sensors = Sensors(self.port, self.folder)

        async def wait_ms(ms):
            bus.written.append("sleep")
            await asyncio.sleep(0)
            await asyncio.sleep(0)

        sys.modules["tenner.sensors.sht"].wait_ms = wait_ms

        async def both():
            await asyncio.gather(sensors.read("a"), sensors.read("b"), sensors.read("a"))

        run(both())
        self.assertEqual(bus.written, [b"\x24\x00", "sleep"] * 2)

    def test_a_wait_is_never_shorter_than_it_says(self):
        ticks_us = getattr(time, "ticks_us", lambda: time.monotonic_ns() // 1000)

        async def wait():
            # A millisecond ends between the look at the clock and the wait.
            while ticks_us() % 1000 < 900:
                pass
            start = ticks_us()
            waits = wait_ms(3)
            while ticks_us() % 1000 >= 900:
                pass
            await waits
            return ticks_us() - start

        for _ in range(5):
            self.assertTrue(run(wait()) >= 3000)


def _json(value):
    import json

    return json.dumps(value)


def _is_there(name):
    try:
        __import__(name)
    except ImportError:
        return False
    return True


if __name__ == "__main__":
    unittest.main()
