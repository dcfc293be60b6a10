# tenner test: the port of an ESP32, on modules that stand in for those of the chip.
# MIT license; Copyright (c) 2026 the tenner authors

import sys
import unittest


class Machine:
    # CPython evaluates the annotations of the port.
    I2C = SPI = Pin = object

    @staticmethod
    def unique_id():
        return b"\x24\x0a\xc4\x00\x00\x10"


class Esp32:
    HEAP_DATA = 4

    @staticmethod
    def idf_heap_info(capabilities):
        return [(7000, 1000, 900, 800), (113840, 60000, 50000, 30000)]


class Network:
    """The module as MicroPython 1.22 has it."""

    STA_IF = 0

    class WLAN:
        asked = []
        fails = False

        def __init__(self, interface):
            self.asked.append(interface)
            if self.fails:
                raise OSError("WiFi Out of Memory")

        def isconnected(self):
            return True


class TestEsp32(unittest.TestCase):
    def setUp(self):
        self.real = {}
        for name, module in (("esp32", Esp32), ("machine", Machine), ("network", Network)):
            self.real[name] = sys.modules.get(name)
            sys.modules[name] = module

    def tearDown(self):
        for name in self.real:
            if self.real[name] is None:
                del sys.modules[name]
            else:
                sys.modules[name] = self.real[name]

    def port(self, is_shared=False):
        from tenner import chip_heap
        from tenner.port.esp32 import Port

        # No memory of a heap can be measured under CPython, and which stand-in a module met first
        # does not matter.
        module = sys.modules["tenner.port.esp32"]
        module.gc = chip_heap.gc = Gc
        module.network = Network
        chip_heap.esp32 = Esp32
        chip_heap.is_shared = is_shared
        return Port()

    def test_memory_that_nothing_shares(self):
        port = self.port()
        self.assertFalse(port.shares_memory)
        self.assertEqual(port.memory(), (50000, 40000))
        self.assertEqual(port.system_memory(), (61000, 50000, 30800))
        self.assertFalse(port.tls_fits())

    def test_memory_that_the_heap_may_grow_into(self):
        # The largest free block counts as free.
        Gc.block = 50000
        self.addCleanup(setattr, Gc, "block", 0)
        port = self.port(is_shared=True)
        self.assertTrue(port.shares_memory)
        self.assertEqual(port.memory(), (50000, 40000))

    def test_wifi_of_the_oldest_release(self):
        self.assertTrue(self.port().network_up())
        self.assertEqual(Network.WLAN.asked[-1], 0)

    def test_wifi_that_does_not_start_is_no_network(self):
        self.addCleanup(setattr, Network.WLAN, "fails", False)
        Network.WLAN.fails = True
        self.assertFalse(self.port().network_up())
        with self.assertRaises(OSError):
            self.port().connect_network("home", "secret")


class Gc:
    block = 0

    @staticmethod
    def collect():
        pass

    @staticmethod
    def mem_free():
        return 50000 + Gc.block

    @staticmethod
    def mem_alloc():
        return 40000


if __name__ == "__main__":
    unittest.main()
