# tenner test: the two slots keep the newest whole state through a cut at any byte.
# MIT license; Copyright (c) 2026 the tenner authors

import unittest

from support import read_bytes, temp_folder, write_bytes
from tenner.store import files
from tenner.store.two_slot import TwoSlots


class TestTwoSlots(unittest.TestCase):
    def setUp(self):
        self.path = temp_folder(self) + "/beat"

    def test_save_and_load(self):
        self.assertEqual(TwoSlots(self.path).load(), {})
        slots = TwoSlots(self.path)
        for number in range(25):
            slots.save({"n": number, "t": "\u00fc"})
            self.assertEqual(TwoSlots(self.path).load(), {"n": number, "t": "\u00fc"})
            for name in (".a", ".b"):
                self.assertTrue(files.size(self.path + name) <= 128)

    def test_a_cut_at_every_byte_of_a_save_gives_the_old_state_or_the_new(self):
        for saves in (1, 2, 3, 9, 10):
            slots = TwoSlots(self.path)
            for name in (".a", ".b"):
                files.remove(self.path + name)
            for number in range(saves):
                slots.save({"n": number})
            before = [
                read_bytes(self.path + name) if files.exists(self.path + name) else None
                for name in (".a", ".b")
            ]
            slots.save({"n": "new"})
            after = [read_bytes(self.path + name) for name in (".a", ".b")]
            index = 0 if before[0] != after[0] else 1
            self.assertEqual(before[1 - index], after[1 - index])
            for cut in range(len(after[index]) + 1):
                write_bytes(self.path + "." + "ab"[index], after[index][:cut])
                expected = {"n": "new"} if cut == len(after[index]) else {"n": saves - 1}
                slots = TwoSlots(self.path)
                self.assertEqual(slots.load(), expected)
                # And the next save does not hit the good one.
                slots.save({"n": "next"})
                self.assertEqual(TwoSlots(self.path).load(), {"n": "next"})
                write_bytes(self.path + "." + "ab"[1 - index], before[1 - index])

    def test_every_flipped_byte_is_noticed(self):
        slots = TwoSlots(self.path)
        slots.save({"n": 1})
        slots.save({"n": 2})
        newest = self.path + (".a" if b'"n":2' in read_bytes(self.path + ".a") else ".b")
        good = read_bytes(newest)
        for index in range(len(good)):
            bad = bytearray(good)
            bad[index] ^= 1
            write_bytes(newest, bad)
            self.assertEqual(TwoSlots(self.path).load(), {"n": 1})

    def test_both_bad_starts_afresh_and_quarantines_them(self):
        write_bytes(self.path + ".a", b"garbage")
        write_bytes(self.path + ".b", b"7 12345678 {}")
        slots = TwoSlots(self.path)
        self.assertEqual(slots.load(), {})
        self.assertEqual(read_bytes(self.path + ".a.bad"), b"garbage")
        self.assertTrue(files.exists(self.path + ".b.bad"))
        slots.save({"n": 1})
        self.assertEqual(TwoSlots(self.path).load(), {"n": 1})

    def test_an_empty_slot_is_one_that_was_never_written(self):
        write_bytes(self.path + ".a", b"")
        slots = TwoSlots(self.path)
        self.assertEqual(slots.load(), {})
        self.assertFalse(files.exists(self.path + ".a.bad"))
        slots.save({"n": 1})
        self.assertEqual(TwoSlots(self.path).load(), {"n": 1})

    def test_a_failed_write_is_repeated_into_the_same_slot(self):
        slots = TwoSlots(self.path)
        slots.save({"n": 1})
        real_put = files.put

        def torn(file, piece):
            file.write(piece[:9])
            raise OSError(28, "no space left")

        files.put = torn
        try:
            for _ in range(3):
                with self.assertRaises(OSError):
                    slots.save({"n": 2})
        finally:
            files.put = real_put
        self.assertEqual(TwoSlots(self.path).load(), {"n": 1})
        slots.save({"n": 3})
        self.assertEqual(TwoSlots(self.path).load(), {"n": 3})

    def test_too_much_is_refused_with_its_size(self):
        slots = TwoSlots(self.path)
        slots.save({"n": 1})
        with self.assertRaises(ValueError) as caught:
            slots.save({"x": "y" * 200})
        self.assertIn("208 bytes", str(caught.exception))
        self.assertEqual(TwoSlots(self.path).load(), {"n": 1})


if __name__ == "__main__":
    unittest.main()
