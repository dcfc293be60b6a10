# tenner test: spidev of Linux, byte for byte, on a kernel of our own.
# MIT license; Copyright (c) 2026 the tenner authors

import unittest

from linux_kernel import Patched, SpiDevice
from tenner.port.linux import spi


class TestSPI(unittest.TestCase):
    def setUp(self):
        self.out = []

        def answer(data):
            self.out.append(data)
            return (
                b"\0\xbf\x25\x41" + bytes(len(data))
                if data[:1] == b"\x9f"
                else bytes(reversed(data))
            )

        self.kernel = SpiDevice(answer)
        Patched(self, spi, open_device=lambda path, module: 3, ioctl=self.kernel.ioctl)
        self.spi = spi.SPI("/dev/spidev0.0", 2000000)

    def test_one_transfer(self):
        data = bytearray(4)
        self.spi.cs(0)
        self.spi.write_readinto(b"\x9f\0\0\0", data)
        self.spi.cs(1)
        self.assertEqual(data, b"\0\xbf\x25\x41")
        self.assertEqual(self.kernel.log, [(4, 2000000, 8)])
        self.assertEqual(self.out, [b"\x9f\0\0\0"])
        with self.assertRaises(ValueError):
            self.spi.write_readinto(b"12", bytearray(3))

    def test_a_command_and_its_answer_share_a_chip_select(self):
        self.spi.cs.off()
        self.spi.write(b"\x9f")
        self.assertEqual(self.out, [])
        self.assertEqual(self.spi.read(3), b"\xbf\x25\x41")
        self.spi.cs.on()
        self.assertEqual(self.out, [b"\x9f\0\0\0"])
        self.assertEqual(self.spi.cs.value(), 1)
        data = bytearray(2)
        self.spi.cs(0)
        self.spi.write(b"\x01")
        self.spi.write(b"\x02")
        self.spi.readinto(data, 0xFF)
        self.spi.cs(1)
        self.assertEqual(self.out[-1], b"\x01\x02\xff\xff")
        self.assertEqual(data, b"\x02\x01")

    def test_a_write_goes_out_when_the_chip_is_released(self):
        self.spi.cs(0)
        self.spi.write(b"\x06")
        self.spi.write(b"\x07")
        self.assertEqual(self.out, [])
        self.spi.cs(1)
        self.assertEqual(self.out, [b"\x06\x07"])
        self.spi.cs(1)
        self.assertEqual(len(self.out), 1)

    def test_without_chip_select_each_call_is_a_transfer(self):
        self.spi.write(b"\x06")
        self.spi.write(b"\x07")
        self.assertEqual(self.spi.read(1, 0x55), b"\x55")
        self.assertEqual(self.out, [b"\x06", b"\x07", b"\x55"])

    def test_a_second_chip_select_is_refused(self):
        self.spi.cs(0)
        self.spi.read(1)
        with self.assertRaises(OSError) as caught:
            self.spi.read(1)
        self.assertIn("read all in one call", str(caught.exception))
        self.spi.cs(1)
        self.spi.cs(0)
        self.spi.read(1)

    def test_mode_bits_and_speed(self):
        self.assertEqual(self.kernel.mode, 0)
        self.spi.init(500000, polarity=1, phase=1, bits=16, firstbit=self.spi.LSB)
        self.spi.write(b"\0\0")
        self.assertEqual(self.kernel.mode, 3 | 8)
        self.assertEqual(self.kernel.log, [(2, 500000, 16)])
        self.spi.init(polarity=0, phase=1)
        self.assertEqual(self.kernel.mode, 1)

    def test_more_than_the_driver_takes(self):
        with self.assertRaises(OSError) as caught:
            self.spi.write(bytes(4097))
        self.assertIn("4097 bytes are more than spidev takes", str(caught.exception))
        self.spi.write(bytes(4096))

    def test_what_failed_does_not_come_back(self):
        def fail(fd, request, argument):
            raise OSError(5)

        Patched(self, spi, ioctl=fail)
        self.spi.cs(0)
        self.spi.write(b"\x01")
        with self.assertRaises(OSError):
            self.spi.read(1)
        self.spi.cs(1)
        Patched(self, spi, ioctl=self.kernel.ioctl)
        self.spi.cs(0)
        self.spi.read(1)
        self.assertEqual(self.out, [b"\0"])


if __name__ == "__main__":
    unittest.main()
