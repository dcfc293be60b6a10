# tenner test: the i2c bus of Linux, byte for byte, on a kernel of our own.
# MIT license; Copyright (c) 2026 the tenner authors

import unittest

from linux_kernel import I2CAdapter, Patched
from tenner.port.linux import i2c

QUICK, READ_BYTE = 0x10000, 0x20000
SMBUS = 0x0FFF0000  # every SMBus call, no plain I2C


class AdapterCase(unittest.TestCase):
    def bus(self, functions=1 | QUICK | READ_BYTE, chips=None, busy=()):
        chips = {0x48: bytes(range(256))} if chips is None else chips
        self.kernel = I2CAdapter(functions, chips, busy)
        Patched(self, i2c, open_device=lambda path, module: 3, ioctl=self.kernel.ioctl)
        return i2c.I2C("/dev/i2c-5")

    def keeps_errors(self, functions):
        bus = self.bus(functions, busy=(0x68,))
        self.kernel.fails = {0x50: 110, 0x51: 121}
        for address, code in ((0x11, 6), (0x68, 16), (0x50, 110), (0x51, 121)):
            for call in (
                lambda address: bus.readfrom(address, 1),
                lambda address: bus.writeto(address, b"\0"),
                lambda address: bus.writeto(address, b""),
                lambda address: bus.readfrom_mem(address, 0, 1),
            ):
                before = len(self.kernel.log)
                with self.assertRaises(OSError) as caught:
                    call(address)
                self.assertEqual(caught.exception.args[0], code)
                # An address that a kernel driver has is left alone.
                self.assertEqual(len(self.kernel.log) == before, code == 16)
        self.assertEqual(bus.readfrom(0x48, 1), b"\0")


class TestI2C(AdapterCase):
    def test_a_register_is_read_with_a_repeated_start(self):
        bus = self.bus()
        data = bytearray(4)
        bus.readfrom_mem_into(0x48, 0x10, data)
        self.assertEqual(data, b"\x10\x11\x12\x13")
        self.assertEqual(self.kernel.log, [[(0x48, "w", 1), (0x48, "r", 4)]])
        self.assertEqual(bus.readfrom_mem(0x48, 0xF0, 2), b"\xf0\xf1")
        view = memoryview(bytearray(6))
        bus.readfrom_mem_into(0x48, 1, view[2:4])
        self.assertEqual(bytes(view), b"\0\0\x01\x02\0\0")

    def test_write_and_read(self):
        bus = self.bus()
        self.assertEqual(bus.writeto(0x48, b"\x20\xaa\xbb"), 3)
        self.assertEqual(bus.readfrom_mem(0x48, 0x20, 3), b"\xaa\xbb\x22")
        bus.writeto_mem(0x48, 0x21, b"\x01\x02")
        self.assertEqual(bus.readfrom_mem(0x48, 0x20, 3), b"\xaa\x01\x02")
        bus.writeto(0x48, b"\x05")
        data = bytearray(2)
        bus.readfrom_into(0x48, data)
        self.assertEqual(data, b"\x05\x06")
        self.assertEqual(bus.readfrom(0x48, 1), b"\x05")
        bus.writevto(0x48, [b"\x07", b"\x77", bytearray(b"\x78")])
        self.assertEqual(bus.readfrom_mem(0x48, 7, 2), b"wx")

    def test_wider_registers(self):
        bus = self.bus()
        for bits, size in ((16, 2), (24, 3), (32, 4)):
            bus.readfrom_mem(0x48, 0x10, 1, addrsize=bits)
            self.assertEqual(self.kernel.log[-1], [(0x48, "w", size), (0x48, "r", 1)])
        with self.assertRaises(ValueError):
            bus.readfrom_mem(0x48, 0, 1, addrsize=12)

    def test_what_is_written_without_a_stop_goes_with_what_follows(self):
        bus = self.bus()
        bus.writeto(0x48, b"\x30", False)
        self.assertEqual(self.kernel.log, [])
        self.assertEqual(bus.readfrom(0x48, 2), b"\x30\x31")
        self.assertEqual(self.kernel.log, [[(0x48, "w", 1), (0x48, "r", 2)]])
        # An error also drops the waiting messages.
        bus.writeto(0x49, b"\x30", False)
        with self.assertRaises(OSError):
            bus.readfrom(0x48, 1)
        self.assertEqual(bus.readfrom(0x48, 1), b"\x30")
        self.assertEqual(self.kernel.log[-1], [(0x48, "r", 1)])

    def test_errors_keep_their_numbers(self):
        self.keeps_errors(1 | QUICK | READ_BYTE)

    def test_too_much_for_one_transfer(self):
        bus = self.bus()
        with self.assertRaises(OSError) as caught:
            bus.writeto(0x48, bytes(8193))
        self.assertIn("8193 bytes are too many", str(caught.exception))

    def test_scan_goes_by_what_the_adapter_can(self):
        chips = {address: bytes(256) for address in (0x08, 0x33, 0x48, 0x50, 0x77)}
        for functions, kinds in (
            (1 | QUICK | READ_BYTE, {("w", 0, 0), ("r", 0, 1)}),
            (1 | QUICK, {("w", 0, 0)}),
            (1 | READ_BYTE, {("r", 0, 1)}),  # such as DesignWare's
            (SMBUS, {("w", 0, 0), ("r", 0, 1)}),
        ):
            bus = self.bus(functions, chips)
            self.assertEqual(bus.scan(), sorted(chips))
            self.assertEqual(set(self.kernel.log), kinds)
            self.assertEqual(len(self.kernel.log), 112)
        bus = self.bus(1, chips)
        self.assertEqual(bus.scan(), sorted(chips))
        self.assertEqual(self.kernel.log[0x48 - 8], [(0x48, "r", 1)])

    def test_scan_writes_nothing_to_eeproms_and_clocks(self):
        bus = self.bus()
        bus.scan()
        for index, row in enumerate(self.kernel.log):
            careful = 0x30 <= 8 + index <= 0x37 or 0x50 <= 8 + index <= 0x5F
            self.assertEqual(row, ("r", 0, 1) if careful else ("w", 0, 0))

    def test_scan_shows_what_a_kernel_driver_has_without_touching_it(self):
        bus = self.bus(busy=(0x68,))
        self.assertEqual(bus.scan(), [0x48, 0x68])
        self.assertEqual(len(self.kernel.log), 111)

    def test_scan_of_a_slow_adapter_ends(self):
        bus = self.bus()
        now = [0]

        def later():
            now[0] += 300
            return now[0]

        Patched(self, i2c, ticks_ms=later)
        with self.assertRaises(OSError) as caught:
            bus.scan()
        text = "scan given up at 0x18; found: none. Bus stuck low, or an adapter that waits"
        self.assertTrue(str(caught.exception).startswith(text))


class TestSMBus(AdapterCase):
    """An adapter without plain I2C: the same bytes by SMBus calls, as far as there are such."""

    def test_a_register_is_read(self):
        bus = self.bus(SMBUS)
        for size, kind in ((1, 2), (2, 3), (3, 8), (32, 8)):
            self.assertEqual(bus.readfrom_mem(0x48, 0x10, size), bytes(range(0x10, 0x10 + size)))
            self.assertEqual(self.kernel.log[-1], ("r", 0x10, kind))

    def test_write_and_read(self):
        bus = self.bus(SMBUS)
        for size, kind in ((0, 1), (1, 2), (2, 3), (3, 8), (32, 8)):
            data = bytes(range(0x80, 0x80 + size))
            bus.writeto(0x48, b"\x40" + data)
            self.assertEqual(self.kernel.log[-1], ("w", 0x40, kind))
            self.assertEqual(self.kernel.chips[0x48][0x40 : 0x40 + size], data)
        self.assertEqual(bus.readfrom(0x48, 1), b"\x80")
        bus.writeto(0x48, b"")
        self.assertEqual(self.kernel.log[-1], ("w", 0, 0))

    def test_what_smbus_has_no_call_for(self):
        bus = self.bus(SMBUS)
        for call in (
            lambda: bus.readfrom_mem(0x48, 0, 33),
            lambda: bus.readfrom(0x48, 2),
            lambda: bus.writeto(0x48, bytes(34)),
            lambda: bus.readfrom_mem(0x48, 0, 1, addrsize=16),
        ):
            with self.assertRaises(OSError) as caught:
                call()
            self.assertIn("only SMBus", str(caught.exception))
        self.assertEqual(self.kernel.log, [])

    def test_errors_keep_their_numbers(self):
        self.keeps_errors(SMBUS)

    def test_what_is_written_without_a_stop_goes_with_what_follows(self):
        bus = self.bus(SMBUS)
        bus.writeto(0x48, b"\x30", False)
        self.assertEqual(bus.readfrom(0x48, 2), b"\x30\x31")
        self.assertEqual(self.kernel.log, [("r", 0x30, 3)])


if __name__ == "__main__":
    unittest.main()
