# tenner test: Python's heap of an ESP32 grows once, at the start, and leaves enough for Wi-Fi and
# TLS. MIT license; Copyright (c) 2026 the tenner authors

import asyncio  # noqa: F401  its own import needs the real _thread, for which a chip stands here
import sys
import unittest

from support import temp_folder
from tenner.store import files

_NAMES = ("esp32", "machine", "network", "_thread", "tenner.chip_heap")


class Chip:
    """
    The memory of a chip as MicroPython and ESP-IDF share it: free blocks, Python's heap, and
    stacks of threads. Each look at the heap stands for one object of half a kilobyte that was made
    before it.
    """

    HEAP_DATA = 4

    def __init__(self, blocks, heap, counts=True):
        self.blocks = list(blocks)
        self.least = sum(blocks)
        self.heap = heap
        self.used = 6000
        self.counts = counts
        self.grown = 0
        self.threads = 0
        self._size = 0

    def take(self, size):
        """Take memory out of the largest block, from its beginning."""
        largest = max(self.blocks)
        if size > largest:
            return False
        self.blocks[self.blocks.index(largest)] = largest - size
        self.least = min(self.least, sum(self.blocks))
        return True

    # esp32

    def idf_heap_info(self, capabilities):
        return [(113000, block, block, 0) for block in self.blocks] + [(240, 0, 0, self.least)]

    # machine and network

    SOFT_RESET = 5
    soft = connected = False
    asked = 0

    def reset_cause(self):
        return self.SOFT_RESET if self.soft else 1

    def WLAN(self, interface):
        self.asked += 1
        return self

    def isconnected(self):
        return self.connected

    # gc

    def collect(self):
        pass

    def mem_free(self):
        return self.heap - self.used + (max(self.blocks) if self.counts else 0)

    def mem_alloc(self):
        self.used += 500
        if self.used > self.heap:
            # `gc_try_add_heap`: as much again, or the largest block.
            size = min(max(self.blocks), self.heap)
            if size < 2500:
                raise MemoryError
            self.take(size)
            self.heap += size
            self.grown += size
        return self.used

    # _thread

    def stack_size(self, size):
        self._size = size

    def allocate_lock(self):
        return Lock(self)

    def start_new_thread(self, function, args):
        if self.counts:
            if not self.take(self._size):
                raise OSError("can't create thread")
            function.size = self._size
        self.threads += 1


class Lock:
    """Also the function of the thread that waits for it."""

    size = 0

    def __init__(self, chip):
        self.chip = chip
        self.acquire = self

    def __call__(self):
        """Acquired."""

    def release(self):
        self.chip.threads -= 1
        if self.size:
            self.chip.blocks.append(self.size)


class TestGrowth(unittest.TestCase):
    def setUp(self):
        self.real = {name: sys.modules.get(name) for name in _NAMES}

    def tearDown(self):
        for name in _NAMES:
            if self.real[name] is None:
                sys.modules.pop(name, None)
            else:
                sys.modules[name] = self.real[name]

    def begin(self, chip):
        """Return the module after its `begin` on this chip."""
        for name in _NAMES[:4]:
            sys.modules[name] = chip
        sys.modules.pop(_NAMES[4], None)
        # Anew, as `begin` forgets how it is done; and not as an attribute of its package.
        module = __import__(_NAMES[4], None, None, ("begin",))
        module.gc = chip
        module.begin()
        self.assertEqual(chip.threads, 0)
        return module

    def test_an_esp32_keeps_enough_for_a_session(self):
        # At the start, after a soft reset, and after one with the link up.
        for blocks, soft, connected, wifi in (
            ((12000, 14500, 112968), False, None, 45),
            ((103788,), True, False, 10),
            ((95500,), True, True, 0),
        ):
            chip = Chip(blocks, 56000)
            chip.soft = soft
            chip.connected = connected
            heap = self.begin(chip)
            self.assertTrue(heap.is_shared)
            self.assertTrue(heap.area)
            self.assertTrue(36000 < chip.grown < 41000, chip.grown)
            self.assertTrue(abs(heap.heap_bytes() - 56000 - chip.grown) <= 500)
            # 45 KB of a handshake, 8 KB besides, and Wi-Fi's share.
            self.assertTrue(sum(chip.blocks) >= (53 + wifi) * 1024 - 1000, chip.blocks)
            # ESP-IDF remembers how little there ever was: this is no reason for alarm.
            self.assertTrue(chip.least >= 24 * 1024, chip.least)
            # To ask Wi-Fi would load its driver into the small blocks.
            self.assertEqual(chip.asked, int(soft))
            self.assertFalse(hasattr(heap, "_grow"))

    def test_where_there_is_much_the_heap_doubles(self):
        for free, grown in ((220000, 64000), (161272, 60600)):
            chip = Chip((free,), 64000)
            heap = self.begin(chip)
            self.assertTrue(heap.is_shared and heap.area)
            self.assertEqual(chip.grown, grown)
            self.assertTrue(chip.least >= 24 * 1024, chip.least)

    def test_where_there_is_little_the_heap_stays(self):
        for free in (90000, 52000, 4000):
            chip = Chip((free,), 36000)
            heap = self.begin(chip)
            self.assertEqual((heap.is_shared, heap.area), (free > 8192, None))
            self.assertEqual((chip.grown, sum(chip.blocks)), (0, free))

    def test_a_heap_that_shares_nothing_is_left_alone(self):
        chip = Chip((100000,), 112000, counts=False)
        heap = self.begin(chip)
        self.assertEqual((heap.is_shared, heap.area, chip.grown), (False, None, 0))
        self.assertEqual(heap.figures(), (100000, 100000, 100000))

    def test_psram_is_left_alone(self):
        chip = Chip((8000000,), 64000)
        heap = self.begin(chip)
        self.assertEqual((heap.is_shared, heap.area, chip.grown), (False, None, 0))


class Bluetooth:
    """The module of that name; its Classic part's memory is another block when it has ended."""

    def __init__(self, chip, gain, error=None):
        self.chip = chip
        self.gain = gain
        self.error = error
        self.states = []
        self.BLE = lambda: self

    def active(self, on):
        self.states.append(on)
        if self.error and on:
            raise self.error
        if not on and self.gain:
            if self.gain < 0:
                self.chip.take(-self.gain)
            else:
                self.chip.blocks.append(self.gain)


class TestBluetooth(TestGrowth):
    def setUp(self):
        super().setUp()
        self.folder = temp_folder(self)
        self.path = self.folder + "/bluetooth"
        self.kept = sys.modules.get("bluetooth")

    def tearDown(self):
        super().tearDown()
        if self.kept is None:
            sys.modules.pop("bluetooth", None)
        else:
            sys.modules["bluetooth"] = self.kept

    def started(self, bluetooth, text=None):
        """Return the states that Bluetooth had at a start, and the file afterwards."""
        if text is not None:
            with open(self.path, "w") as file:
                file.write(text)
        sys.modules["bluetooth"] = bluetooth
        for name in _NAMES[:4]:
            sys.modules[name] = bluetooth.chip
        sys.modules.pop(_NAMES[4], None)
        module = __import__(_NAMES[4], None, None, ("begin",))
        module.gc = bluetooth.chip
        module.open = lambda name, *mode: open(self.folder + "/" + name.split("/")[-1], *mode)
        module.begin()
        self.assertFalse(hasattr(module, "_free_bluetooth") or hasattr(module, "_note"))
        found = None
        if files.exists(self.path):
            with open(self.path) as file:
                found = file.read()
        return bluetooth.states, found

    def chip(self):
        return Chip((12000, 14500, 112968), 56000)

    def test_its_memory_is_there_before_the_heap_grows(self):
        without = self.chip()
        self.started(Bluetooth(without, 15000))
        chip = self.chip()
        found = self.started(Bluetooth(chip, 15000), "on")
        self.assertEqual(found, ([True, False], "on 15000"))
        self.assertTrue(
            sum(chip.blocks) + chip.grown == sum(without.blocks) + without.grown + 15000
        )
        # The next start does it again.
        self.assertEqual(self.started(Bluetooth(self.chip(), 15000))[0], [True, False])

    def test_nobody_asked_for_it(self):
        for text in (None, ""):
            self.assertEqual(self.started(Bluetooth(self.chip(), 15000), text)[0], [])

    def test_what_gains_nothing_is_not_done_again(self):
        for gain in (0, 4000, -20000):
            found = self.started(Bluetooth(self.chip(), gain), "on")
            self.assertEqual(found, ([True, False], "useless %d" % gain))
            self.assertEqual(self.started(Bluetooth(self.chip(), gain))[0], [])

    def test_a_start_that_crashes_is_the_last_to_try(self):
        with self.assertRaises(KeyboardInterrupt):
            self.started(Bluetooth(self.chip(), 0, KeyboardInterrupt()), "on")
        self.assertEqual(self.started(Bluetooth(self.chip(), 15000)), ([], "crashed"))

    def test_an_error_of_bluetooth_is_no_error_of_the_start(self):
        found = self.started(Bluetooth(self.chip(), 0, OSError(-1)), "on")
        self.assertEqual(found, ([True], "crashed"))

    def test_psram_needs_none_of_it(self):
        self.assertEqual(self.started(Bluetooth(Chip((8000000,), 2000000), 15000), "on")[0], [])


if __name__ == "__main__":
    unittest.main()
