# tenner tests: the answers of a time server, and which of them set the clock of an ESP32.
# MIT license; Copyright (c) 2026 the tenner authors

import struct
import sys
import unittest

from support import run
from tenner.net.clock import Clock
from tenner.port import sntp

NOW = 1795860000  # 2026-11-28
DAY = 86400
_1900 = 2208988800


class Network:
    """The module `socket`: its only server sends `change` of a right answer."""

    AF_INET = 2
    SOCK_DGRAM = 2

    def __init__(self):
        self.time = NOW
        self.change = lambda packet: packet
        self.asked = []
        self.open = 0

    def getaddrinfo(self, host, port):
        self.asked.append((host, port))
        return [(2, 2, 0, "", (host, port))]

    def socket(self, family, kind):
        self.open += 1
        return self

    def settimeout(self, seconds):
        self.timeout = seconds

    def sendto(self, query, address):
        if len(query) != 48 or query[0] & 7 != 3 or not any(query[40:48]):
            raise AssertionError(query)
        head = bytes([0x24, 2, 6, 0xEC]) + bytes(8) + b"\x7f\0\0\1"
        seconds = struct.pack(">I", self.time + _1900 & 0xFFFFFFFF)
        self.packet = head + seconds + b"\0\0\0\1" + query[40:48] + (seconds + b"\0\0\0\1") * 2

    def recv(self, size):
        packet = self.change(bytearray(self.packet))
        if packet is None:
            raise OSError(116)
        return bytes(packet[:size])

    def close(self):
        self.open -= 1


def put(place, *values):
    """A change that puts bytes at a place of the answer."""

    def change(packet):
        for index in range(len(values)):
            packet[place + index] = values[index]
        return packet

    return change


class TestSntp(unittest.TestCase):
    def setUp(self):
        self.network = Network()
        self.addCleanup(setattr, sntp, "socket", sntp.socket)
        sntp.socket = self.network

    def refused(self, change, words):
        self.network.change = change
        with self.assertRaises(OSError) as caught:
            sntp.ask("ntp.example")
        self.assertIn(words, str(caught.exception))
        self.assertEqual(self.network.open, 0)

    def test_a_right_answer(self):
        self.assertEqual(sntp.ask("ntp.example"), NOW)
        self.assertEqual(sntp.ask("ntp.example:11123"), NOW)
        self.assertEqual(self.network.asked, [("ntp.example", 123), ("ntp.example", 11123)])
        self.assertEqual((self.network.open, self.network.timeout), (0, 1))
        # Not all servers take the version of the question; a leap second is announced.
        for first in (0x1C, 0x0C, 0x64, 0xA4):
            self.network.change = put(0, first)
            self.assertEqual(sntp.ask("ntp.example"), NOW)
        self.network.change = put(1, 15)
        self.assertEqual(sntp.ask("ntp.example"), NOW)

    def test_the_second_era(self):
        for self.network.time in (2085978495, 2085978496 + 1, 2147483648, 4000000000):
            self.assertEqual(sntp.ask("ntp.example"), self.network.time)

    def test_answers_that_say_nothing(self):
        for change, words in (
            (put(1, 0), "it refuses ("),
            (put(1, 0, 6, 0xEC, 0, 0, 0, 0, 0, 0, 0, 0, 82, 65, 84, 69), "it refuses (RATE)"),
            (put(0, 0xE4), "does not know the time itself"),
            (put(1, 16), "does not know the time itself"),
            (put(40, 0, 0, 0, 0, 0, 0, 0, 0), "does not know the time itself"),
            (put(0, 0x25), "no answer to the question"),
            (put(0, 0x23), "no answer to the question"),
            (put(24, 0, 0, 0, 0, 0, 0, 0, 0), "no answer to the question"),
            (lambda packet: packet[:47], "no answer to the question"),
            (lambda packet: b"", "no answer to the question"),
            (lambda packet: None, "116"),
        ):
            self.refused(change, words)


class Esp32:
    HEAP_DATA = 4


class Machine:
    I2C = SPI = Pin = object


class TestClock(unittest.TestCase):
    """The port's own clock, which only `machine.RTC` moves."""

    def setUp(self):
        self.network = Network()
        self.addCleanup(setattr, sntp, "socket", sntp.socket)
        sntp.socket = self.network
        for name, module in (("esp32", Esp32), ("machine", Machine), ("network", Network)):
            if name in sys.modules:
                self.addCleanup(sys.modules.__setitem__, name, sys.modules[name])
            else:
                self.addCleanup(sys.modules.pop, name, None)
            sys.modules[name] = module
        from tenner.port import esp32

        self.time = 946684800  # as after a power failure
        test = self

        class RTC:
            def datetime(self, when):
                days = _days(when[0], when[1], when[2])
                test.time = days * DAY + when[4] * 3600 + when[5] * 60 + when[6]
                test.assertEqual((when[3], when[7]), ((days + 3) % 7 + 1, 0))

        esp32.machine = Machine
        Machine.RTC = RTC

        class Port(esp32.Port):
            def __init__(self):
                pass

            def unix_time(self):
                return test.time

        self.clock = Clock(Port())

    def sync(self):
        return run(self.clock.sync("ntp.example"))

    def test_a_clock_that_is_not_set_believes_the_first(self):
        self.assertFalse(self.clock.trusted)
        self.assertTrue(self.sync())
        self.assertEqual(self.time, NOW)
        self.assertTrue(self.clock.trusted)

    def test_a_refused_answer_changes_nothing(self):
        for start in (946684800, NOW + 5):
            self.time = start
            for change in (put(1, 0), put(0, 0xE4), put(40, 0, 0, 0, 0, 0, 0, 0, 0)):
                self.network.change = change
                self.assertFalse(self.sync())
                self.assertFalse(self.sync())
                self.assertEqual(self.time, start)

    def test_a_server_before_its_own_first_sync(self):
        for self.network.time in (0, 946684800, 1700000000):
            self.assertFalse(self.sync())
            self.assertEqual(self.time, 946684800)

    def test_a_small_correction_needs_one_answer(self):
        for off in (-DAY, -3, 1, DAY):
            self.time = NOW + off
            self.assertTrue(self.sync())
            self.assertEqual(self.time, NOW)

    def test_a_jump_of_more_than_a_day_needs_two(self):
        for off in (-2 * DAY, 2 * DAY, 11 * 365 * DAY):
            self.time = NOW
            self.network.time = NOW + off
            self.assertFalse(self.sync())
            self.assertEqual(self.time, NOW)
            # Time passes between the two.
            self.time += 40
            self.network.time += 41
            self.assertTrue(self.sync())
            self.assertEqual(self.time, NOW + off + 41)

    def test_two_that_differ_are_not_two(self):
        self.time = NOW
        for self.network.time in (NOW + 2 * DAY, NOW + 3 * DAY, NOW - 900 * DAY, NOW + 2 * DAY):
            self.assertFalse(self.sync())
        # A right one between makes the doubt a new one.
        self.network.time = NOW + 1
        self.assertTrue(self.sync())
        self.network.time = NOW + 2 * DAY
        self.assertFalse(self.sync())
        self.assertEqual(self.time, NOW + 1)


def _days(year, month, day):
    from tenner.store.posix_tz import days_of

    return days_of(year, month, day)


if __name__ == "__main__":
    unittest.main()
