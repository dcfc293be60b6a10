# tenner test: Python's heap of an ESP32 grows once, at the start, and leaves enough for Wi-Fi and
# TLS. MIT license; Copyright (c) 2026 the tenner authors

import asyncio  # noqa: F401  its own import needs the real _thread, for which a chip stands here
import sys
import unittest

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


if __name__ == "__main__":
    unittest.main()
