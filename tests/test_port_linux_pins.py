# tenner test: buses and pins of a Linux board by name: pins.csv, settings, sysfs and the kernel's
# lines. MIT license; Copyright (c) 2026 the tenner authors

import os
import unittest

from linux_kernel import GpioChip, I2CAdapter, Patched
from support import temp_folder
from tenner import log
from tenner.port.linux import buses as linux_buses
from tenner.port.linux import gpio, i2c
from tenner.port.linux import ioctl as linux_ioctl
from tenner.port.linux import pins as linux_pins
from tenner.port.linux import spi as linux_spi
from tenner.port.linux.port import Port
from tenner.sensors import i2cbus, spibus
from tenner.store import files
from tenner.store.config import Config
from tenner.tools import i2c as i2c_tool

ROWS = (
    "I2C5,/i2c5@gpio\nI2C5_SCL,3020000.gpio:3\nI2C1,/i2c@04010000,shared: with Wi-Fi\n"
    "I2C7,/i2c7@gpio\nSPI4,/spi4@gpio\nLED,3020000.gpio:0\nBUTTON,3020000.gpio:1,input only: key\n"
    "WIFI_ON,3020000.gpio:2,reserved: switches Wi-Fi off\nFAN,pwm:/pwm@1000:1\n"
    "VBAT,iio:ads1015:2\n"
)


class Context:
    def __init__(self, port):
        self.port = port


class BoardCase(unittest.TestCase):
    """A board of folders and files, with a sysfs as the kernel makes it."""

    def setUp(self):
        self.top = temp_folder(self)
        self.csv = self.top + "/board.csv"
        self.kept = {}

    def tree(self, text):
        """Make files from lines of `path: content`, where a bar stands for the end of a line."""
        for line in text.split("\n"):
            if line:
                path, _, content = line.partition(": ")
                path = self.top + "/" + path
                files.make_dirs(path.rsplit("/", 1)[0])
                files.write_atomic(path, content.replace("|", "\n") + "\n")

    def make(self, kind=linux_buses.Buses, settings=None):
        return kind(self.csv, Config(settings), self.kept, self.top)

    def refused(self, function, *args):
        with self.assertRaises(OSError) as caught:
            function(*args)
        return str(caught.exception)


BUSES = """\
sys/bus/i2c/devices/i2c-0/name: A DesignWare I2C adapter
sys/bus/i2c/devices/i2c-0/uevent: OF_NAME=i2c|OF_FULLNAME=/i2c@04010000
sys/bus/i2c/devices/i2c-6/name: i2c5@gpio
sys/bus/i2c/devices/i2c-6/uevent: OF_FULLNAME=/i2c5@gpio|OF_COMPATIBLE_0=i2c-gpio
sys/bus/i2c/devices/i2c-9/name: SMBus I801 adapter at efa0
sys/bus/i2c/devices/6-0048/name: tmp105
sys/class/spi_master/spi1/uevent: OF_FULLNAME=/spi4@gpio
sys/class/spidev/spidev1.0/uevent: MAJOR=153
sys/class/spi_master/spi0/uevent: OF_FULLNAME=/spi2@041A0000
sys/class/spidev/spidev0.0/uevent: MAJOR=153
"""


class TestBuses(BoardCase):
    def setUp(self):
        BoardCase.setUp(self)
        self.tree(BUSES)
        self.opened = []

        def opened(path, module):
            self.opened.append(path)
            return 3

        kernel = I2CAdapter(1, {})
        Patched(self, i2c, open_device=opened, ioctl=kernel.ioctl)
        Patched(self, linux_spi, open_device=opened, ioctl=lambda fd, request, argument: 0)

    def test_names_of_pins_csv_whatever_the_kernel_counts(self):
        files.write_atomic(self.csv, ROWS)
        buses = self.make()
        self.assertEqual(buses.buses("i2c"), ["i2c5"])
        self.assertEqual(buses.buses("spi"), ["spi4.0"])
        buses.i2c("i2c5")
        spi, cs = buses.spi("spi4.0")
        self.assertEqual(
            self.opened, [self.top + path for path in ("/dev/i2c-6", "/dev/spidev1.0")]
        )
        cs(0)
        cs(1)

    def test_an_adapter_may_be_named_by_its_own_name(self):
        files.write_atomic(self.csv, "I2C0,SMBus I801 adapter at efa0\n")
        self.assertEqual(self.make().buses("i2c"), ["i2c0"])

    def test_a_bus_shared_with_the_network_is_refused_until_the_settings_say_otherwise(self):
        files.write_atomic(self.csv, ROWS)
        self.assertEqual(
            self.refused(self.make().i2c, "i2c1"),
            "i2c1 is shared: with Wi-Fi. If you do without that, set i2c.i2c1.shared to true",
        )
        self.assertEqual(self.opened, [])
        buses = self.make(settings={"i2c.i2c1.shared": True})
        self.assertEqual(buses.buses("i2c"), ["i2c1", "i2c5"])
        buses.i2c("i2c1")
        self.assertEqual(self.opened, [self.top + "/dev/i2c-0"])

    def test_a_machine_without_pins_csv_has_the_buses_of_its_device_tree(self):
        buses = self.make()
        self.assertEqual(buses.buses("i2c"), ["i2c-0", "i2c-6"])
        self.assertEqual(buses.buses("spi"), ["spi0.0", "spi1.0"])
        # The buses of a PC lead to its memory and its screen.
        self.assertIn("no i2c bus i2c-9; buses: i2c-0, i2c-6", self.refused(buses.i2c, "i2c-9"))
        buses = self.make(settings={"i2c.i2c-9.shared": False, "spi.spi0.freq": 5000})
        self.assertEqual(buses.buses("i2c"), ["i2c-0", "i2c-6", "i2c-9"])
        self.assertEqual(buses.spi("spi0.0")[0]._baudrate, 5000)

    def test_what_is_not_there(self):
        files.write_atomic(self.csv, ROWS)
        buses = self.make()
        self.assertEqual(
            self.refused(buses.i2c, "i2c7"), "i2c7: this kernel has no i2c adapter at /i2c7@gpio"
        )
        self.assertIn("buses: i2c5", self.refused(buses.i2c, "i2c-6"))
        self.assertIn("no spi bus spi9.0; buses: spi4.0", self.refused(buses.spi, "spi9.0"))
        self.assertIn(
            "spi4.1: this kernel has no device bound to spidev", self.refused(buses.spi, "spi4.1")
        )
        self.top = self.top + "/nowhere"
        self.assertEqual(self.make().buses("i2c"), [])
        self.assertEqual(self.make().buses("spi"), [])

    def port(self, settings):
        port = Port(self.top)
        port.top = self.top
        port.configure(Config(settings))
        return port

    def test_the_port(self):
        port = self.port({"i2c.i2c-9.shared": True})
        self.assertEqual(port.i2c_names(), ["i2c-0", "i2c-6", "i2c-9"])
        self.assertEqual(port.spi_names(), ["spi0.0", "spi1.0"])
        self.assertTrue(port.i2c("i2c-0") is port.i2c("i2c-0"))
        self.assertTrue(port.spi("spi0.0")[0] is port.spi("spi0.0")[0])
        self.assertEqual(len(self.opened), 2)

    def test_a_pins_csv_in_the_root_folder_is_the_owners(self):
        files.write_atomic(self.top + "/pins.csv", ROWS)
        port = self.port({})
        self.assertEqual(port.i2c_names(), ["i2c5"])
        self.assertEqual(next(port.pins().rows())[0], "I2C5")

    def test_tools_and_sensors_say_why_a_bus_is_refused(self):
        self.tree("sys/bus/i2c/devices/i2c-7/uevent: OF_FULLNAME=/i2c7@gpio")
        files.write_atomic(self.top + "/pins.csv", ROWS)
        port = self.port({})
        why = "i2c1 is shared: with Wi-Fi. If you do without that, set i2c.i2c1.shared to true"
        for work in (
            lambda: i2c_tool.check({"action": "scan", "bus": "i2c1"}, Context(port)),
            lambda: i2cbus.chip(port, {"bus": "i2c1"}, 0x48),
        ):
            with self.assertRaises(OSError) as caught:
                work()
            self.assertEqual(str(caught.exception), why)
        with self.assertRaises(OSError) as caught:
            i2c_tool.check({"action": "scan", "bus": "i2c8"}, Context(port))
        self.assertIn("there is no bus i2c8; available: i2c5, i2c7", str(caught.exception))
        with self.assertRaises(OSError) as caught:
            spibus.exchange(port, {"bus": "spi2.0"}, b"")
        self.assertIn("no SPI device spi2.0; available: spi4.0", str(caught.exception))

    def test_settings_that_linux_has_no_use_for(self):
        for settings, word in (
            ({"power.mode": "sleep"}, "power.mode"),
            ({"i2c.i2c0.scl": "5"}, "i2c.i2c0.scl: on Linux the device tree decides"),
            ({"spi.spi0.cs": "5"}, "spi.spi0.cs"),
        ):
            with self.assertRaises(ValueError) as caught:
                self.port(settings)
            self.assertIn(word, str(caught.exception))


PINS = """\
dev/gpiochip0: -
dev/gpiochip1: -
dev/gpiochip2: -
sys/bus/gpio/devices/gpiochip0/uevent: OF_FULLNAME=/gpio@03020000
sys/bus/gpio/devices/gpiochip1/uevent: OF_FULLNAME=/gpio@03021000
sys/class/pwm/pwmchip4/npwm: 4
sys/class/pwm/pwmchip4/device/uevent: OF_FULLNAME=/pwm@1000
sys/class/pwm/pwmchip4/export: -
sys/class/pwm/pwmchip4/unexport: -
sys/class/pwm/pwmchip4/pwm1/period: 0
sys/class/pwm/pwmchip4/pwm1/duty_cycle: 0
sys/class/pwm/pwmchip4/pwm1/enable: 0
sys/bus/iio/devices/iio:device0/name: ads1015
sys/bus/iio/devices/iio:device0/in_voltage0_raw: 5
sys/bus/iio/devices/iio:device0/in_voltage2_raw: 1000
sys/bus/iio/devices/iio:device0/in_voltage2_scale: 2.000000000
sys/bus/iio/devices/iio:device0/in_voltage_scale: 3
sys/bus/iio/devices/iio:device0/scan_elements/in_voltage2_type: le:u12/16>>4
"""


class TestPins(BoardCase):
    def setUp(self):
        BoardCase.setUp(self)
        files.write_atomic(self.csv, ROWS)
        self.tree(PINS)
        names = ["led", "", "", "scl", "free"]
        self.chips = {
            self.top + "/dev/gpiochip0": GpioChip("3020000.gpio", names, {3: "i2c5"}),
            self.top + "/dev/gpiochip1": GpioChip("3021000.gpio", ["", "spare"], bias=False),
            self.top + "/dev/gpiochip2": GpioChip("a PC's own", ["power"]),
        }
        self.open = {}

        def opened(path, module):
            self.open[len(self.open)] = self.chips[path]
            return len(self.open) - 1

        def ioctl(fd, request, argument):
            for chip in self.chips.values():
                if fd in chip.taken:
                    return chip.ioctl(fd, request, argument)
            return self.open[fd].ioctl(fd, request, argument)

        def close(fd):
            for chip in self.chips.values():
                chip.close(fd)

        Patched(self, gpio, open_device=opened, ioctl=ioctl, close=close)
        self.chip = self.chips[self.top + "/dev/gpiochip0"]

    def pins(self, **settings):
        return self.make(linux_pins.Gpio, settings)

    def test_names_of_pins(self):
        pins = self.pins()
        self.assertEqual(pins.names("gpio"), ["LED", "BUTTON"])
        self.assertEqual(pins.names("adc"), ["VBAT"])
        self.assertEqual(pins.names("pwm"), ["FAN"])

    def test_names_of_the_kernel_where_there_is_no_pins_csv(self):
        self.csv += ".none"
        pins = self.pins()
        self.assertEqual(pins.names("gpio"), ["led", "scl", "free", "spare"])
        self.assertEqual(pins.names("adc"), ["ads1015.0", "ads1015.2"])
        self.assertEqual(pins.names("pwm"), ["pwmchip4.%d" % n for n in range(4)])
        self.assertEqual(pins.check("free", "out"), ("free", "3020000.gpio:4"))
        pins.pin("free", "out", 1)
        self.assertEqual(self.chip.levels, {4: 1})

    def test_chips_that_may_not_be_opened_have_no_names(self):
        def fail(path, module):
            raise OSError("no permission for %s" % path)

        lines = []
        Patched(self, log, write=lines.append)
        Patched(self, gpio, open_device=fail)
        self.csv += ".none"
        self.assertEqual(self.pins().names("gpio"), [])
        self.assertEqual(self.pins().names("gpio"), [])
        self.assertEqual(len(lines), 2)  # once for each chip of the board
        self.assertIn("no permission for", lines[0])

    def test_what_is_refused_before_hardware_is_touched(self):
        pins = self.pins()
        for name, use, words in (
            ("LED9", "out", "there is no gpio pin LED9; pins: LED, BUTTON"),
            ("WIFI_ON", "in", "is reserved: switches Wi-Fi off"),
            ("3020000.gpio:2", "out", "pin WIFI_ON (3020000.gpio:2) is reserved"),
            ("button", "out", "pin BUTTON (3020000.gpio:1) is input only: key"),
            ("I2C5_SCL", "up", "carries I2C5_SCL: that bus would stop working"),
            ("VBAT", "out", "there is no gpio pin VBAT"),
            ("LED", "adc", "there is no adc pin LED; pins: VBAT"),
            ("LED", "pwm", "there is no pwm pin LED; pins: FAN"),
        ):
            self.assertIn(words, self.refused(pins.check, name, use))
        self.assertEqual(self.open, {})
        self.assertEqual(pins.check("I2C5_SCL", "in"), ("I2C5_SCL", "3020000.gpio:3"))

    def test_an_output_is_kept_and_read_back(self):
        pin = self.pins().pin("LED", "out", 1)
        self.assertEqual(self.chip.levels, {0: 1})
        self.assertEqual(self.chip.flags[0], 8)
        pin.value(0)
        self.assertEqual(self.chip.levels, {0: 0})
        # Another object for each call, as on a board: only `kept` lasts.
        pin = self.pins().pin("LED", "in")
        self.assertEqual(pin.value(), 0)
        self.assertEqual(list(self.chip.taken.values()), [0])
        self.pins().pin("LED", "out", 1)
        self.assertEqual(self.chip.levels, {0: 1})
        self.assertEqual(self.pins().pin("LED", "up").value(), 1)
        self.assertEqual(self.chip.taken, {})

    def test_inputs_with_a_pull(self):
        pins = self.pins()
        self.chip.levels[1] = 1
        self.assertEqual(pins.pin("BUTTON", "in").value(), 1)
        self.assertEqual(self.chip.flags[1], 0)
        self.assertEqual(pins.pin("BUTTON", "down").value(), 0)
        self.assertEqual(self.chip.flags[1], 4 | 512)
        self.assertEqual(pins.pin("BUTTON", "up").value(), 1)
        self.assertEqual(self.chip.flags[1], 4 | 256)
        self.assertEqual(self.chip.taken, {})

    def test_errors_say_why(self):
        pins = self.pins()
        self.chip.used[0] = "leds-gpio"
        self.assertEqual(
            self.refused(pins.pin, "LED", "out", 1), "pin LED is in use by leds-gpio (EBUSY)"
        )
        files.write_atomic(self.csv, "X,3021000.gpio:1\nY,77.gpio:1\n")
        self.kept.clear()
        pins = self.pins()
        self.assertIn("no pull-up resistor", self.refused(pins.pin("X", "up").value))
        self.assertIn("no GPIO chip 77.gpio", self.refused(pins.pin, "Y", "in"))

        def old(fd, request, argument):
            if request == 0xC250B407:
                raise OSError(25)
            return self.chip.ioctl(fd, request, argument)

        self.chip.label = "3021000.gpio"
        Patched(self, gpio, ioctl=old)
        self.assertIn("older than 5.10", self.refused(pins.pin("X", "in").value))

    def test_adc(self):
        adc = self.pins().adc("VBAT")
        self.assertEqual(adc.read_uv(), 2000000)
        self.assertEqual(adc.read_u16(), 1000 * 65535 // 4095)
        self.csv += ".none"
        self.kept.clear()
        adc = self.pins().adc("ads1015.0")
        self.assertEqual((adc.read_u16(), adc.read_uv()), (5, 15000))
        os.remove(self.top + "/sys/bus/iio/devices/iio:device0/in_voltage0_raw")
        self.assertIn("in_voltage0_raw cannot be read", self.refused(adc.read_uv))

    def test_pwm(self):
        folder = self.top + "/sys/class/pwm/pwmchip4/"

        def read(name):
            return files.read_text(folder + name).strip()

        pwm = self.pins().pwm("FAN", 1000, 32768)
        self.assertEqual(read("pwm1/period"), "1000000")
        self.assertEqual(read("pwm1/duty_cycle"), "500007")
        self.assertEqual(read("pwm1/enable"), "1")
        self.assertEqual((pwm.freq(), pwm.duty_u16()), (1000, 32768))
        self.pins().pwm("FAN", 50, 65535)
        self.assertEqual((pwm.freq(), pwm.duty_u16()), (50, 65535))
        pwm.deinit()
        self.assertEqual((read("pwm1/enable"), read("unexport")), ("0", "1"))
        files.write_atomic(self.csv, "FAN,pwm:/pwm@1000:7\n")
        self.kept.clear()
        self.assertIn("no pwm:/pwm@1000:7", self.refused(self.pins().pwm, "FAN", 1, 1))


class TestDeviceFiles(unittest.TestCase):
    def sentence(self, code, path="/dev/i2c-5"):
        def fail(path):
            raise OSError(code)

        Patched(self, linux_ioctl, open_file=fail)
        with self.assertRaises(OSError) as caught:
            linux_ioctl.open_device(path, "i2c-dev")
        return str(caught.exception)

    def test_errors_are_sentences(self):
        self.assertEqual(
            self.sentence(2), "/dev/i2c-5 is not there: try `modprobe i2c-dev`, as root"
        )
        self.assertIn("in use by another program", self.sentence(16))
        self.assertIn("/dev/i2c-5", self.sentence(5))

    def test_permission_names_the_group(self):
        folder = temp_folder(self)
        files.write_atomic(folder + "/i2c-5", "")
        Patched(self, linux_ioctl, _group=lambda gid: "i2c")
        self.assertEqual(
            self.sentence(13, folder + "/i2c-5"),
            "no permission for %s/i2c-5: it belongs to the group i2c. "
            "As root: `usermod -aG i2c USER`, then log in again" % folder,
        )
        Patched(self, linux_ioctl, _group=lambda gid: "root")
        self.assertIn("only root has it", self.sentence(1, folder + "/i2c-5"))

    def test_groups_by_number(self):
        self.assertEqual(linux_ioctl._group(0), "root")
        self.assertEqual(linux_ioctl._group(987654), "987654")

    def test_the_real_seam(self):
        try:
            fd = linux_ioctl.open_file("/dev/null")
        except OSError as error:
            if "ffi" in str(error):
                self.skipTest(str(error))
            raise
        for argument in (bytearray(592), 5):
            with self.assertRaises(OSError) as caught:
                linux_ioctl.ioctl(fd, 0xC250B407, argument)
            self.assertEqual(caught.exception.args[0], 25)  # ENOTTY
        linux_ioctl.close(fd)
        with self.assertRaises(OSError) as caught:
            linux_ioctl.open_device("/dev/none", "i2c-dev")
        self.assertIn("modprobe i2c-dev", str(caught.exception))


if __name__ == "__main__":
    unittest.main()
