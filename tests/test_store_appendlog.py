# tenner test: an append log survives torn writes, foreign lines and its own size.
# MIT license; Copyright (c) 2026 the tenner authors

import os
import unittest

from support import read_bytes, temp_folder, write_bytes
from tenner.store import files
from tenner.store.appendlog import AppendLog, dumps


class TestAppendLog(unittest.TestCase):
    def setUp(self):
        self.folder = temp_folder(self)
        self.path = self.folder + "/log.jsonl"

    def test_append_and_tail(self):
        log = AppendLog(self.path, 1000)
        self.assertEqual(log.tail(5), [])
        self.assertEqual(log.end(), 0)
        log.append([["u", "gr\u00fcn"], b'["n",1]\n', '["t","x"]', {"a": [1]}])
        log.append([])
        self.assertEqual(
            read_bytes(self.path), '["u","gr\u00fcn"]\n["n",1]\n["t","x"]\n{"a":[1]}\n'.encode()
        )
        self.assertEqual(log.tail(2), [["t", "x"], {"a": [1]}])
        self.assertEqual(log.tail(9), [["u", "gr\u00fcn"], ["n", 1], ["t", "x"], {"a": [1]}])
        self.assertEqual(log.tail(0), [])
        self.assertEqual(log.skipped, 0)

    def test_dumps_keeps_text_readable(self):
        value = ["gr\u00fcn", "\n", 1, None, {"a": True}]
        self.assertEqual(dumps(value), '["gr\u00fcn","\\n",1,null,{"a":true}]')

    def test_a_line_break_inside_a_line_is_refused_before_anything_is_written(self):
        log = AppendLog(self.path, 1000)
        with self.assertRaises(ValueError):
            log.append([["good"], '["a\nb"]'])
        self.assertFalse(files.exists(self.path))

    def test_a_tail_torn_at_every_byte_is_dropped_and_never_glued(self):
        whole = b'["a",1]\n'
        last = '["c","id","i2c",{"d":[1,[2]],"t":"\u00fc"}]\n'.encode()
        for cut in range(len(last)):
            write_bytes(self.path, whole + last[:cut])
            log = AppendLog(self.path, 1000)
            self.assertEqual(log.tail(9), [["a", 1]])
            self.assertEqual(log.end(), len(whole))
            log.append([["z"]])
            self.assertEqual(read_bytes(self.path), whole + b'["z"]\n')
        write_bytes(self.path, last[:20])
        AppendLog(self.path, 1000).append([["z"]])
        self.assertEqual(read_bytes(self.path), b'["z"]\n')

    def test_foreign_lines_are_skipped_and_counted(self):
        write_bytes(self.path, b'["a"]\nnot json\n\n"text"\n12\n{"b":1}\n\xff\xfe\n[1,x]\n["c"]\n')
        log = AppendLog(self.path, 1000)
        self.assertEqual(log.tail(9), [["a"], {"b": 1}, ["c"]])
        self.assertEqual(log.skipped, 6)
        self.assertEqual(log.tail(1), [["c"]])
        self.assertEqual(log.skipped, 0)
        log.max_line = 6
        self.assertEqual(log.tail(2), [["a"], ["c"]])

    def test_a_failed_append_is_healed_by_the_next(self):
        log = AppendLog(self.path, 1000)
        log.append([["a"]])
        real_put = files.put

        def torn(file, piece):
            file.write(piece[: len(piece) // 2])
            raise OSError(28, "no space left")

        files.put = torn
        try:
            with self.assertRaises(OSError):
                log.append([["lost", "line"]])
        finally:
            files.put = real_put
        log.append([["b"]])
        self.assertEqual(read_bytes(self.path), b'["a"]\n["b"]\n')

    def test_compaction_keeps_the_newest_half_at_a_line_start(self):
        for limit in (100, 257, 600, 1024):
            files.remove(self.path)
            log = AppendLog(self.path, limit)
            for number in range(400):
                log.append([["n", number, "x" * (number % 23)]])
                self.assertTrue(files.size(self.path) <= limit)
                kept = log.tail(1000)
                self.assertEqual(log.skipped, 0)
                # The kept records are always an unbroken run up to the newest.
                numbers = [record[1] for record in kept]
                self.assertEqual(numbers, list(range(number - len(kept) + 1, number + 1)))
            self.assertTrue(len(kept) > 1)
        self.assertEqual(os.listdir(self.folder), ["log.jsonl"])

    def test_compaction_drops_a_torn_tail_too(self):
        write_bytes(self.path, b'["a"]\n' * 10 + b'["torn')
        AppendLog(self.path, 65).append([["b"]])
        self.assertEqual(read_bytes(self.path), b'["a"]\n' * 5 + b'["b"]\n')

    def test_a_failed_compaction_loses_nothing(self):
        write_bytes(self.path, b'["a"]\n' * 10)
        log = AppendLog(self.path, 64)
        os.mkdir(self.path + files.TEMP)
        with self.assertRaises(OSError):
            log.append([["b"]])
        self.assertEqual(read_bytes(self.path), b'["a"]\n' * 10)
        os.rmdir(self.path + files.TEMP)
        log.append([["b"]])
        self.assertEqual(log.tail(1), [["b"]])

    def test_more_than_the_cap_is_refused(self):
        log = AppendLog(self.path, 20)
        log.append([["a"]])
        with self.assertRaises(ValueError) as caught:
            log.append([["x" * 30]])
        self.assertIn("20", str(caught.exception))
        self.assertEqual(read_bytes(self.path), b'["a"]\n')

    def test_lines_longer_than_a_block(self):
        log = AppendLog(self.path, 20000)
        for length in (255, 256, 257, 511, 512, 513, 3000):
            log.append([["x" * length]])
        self.assertEqual([len(item[0]) for item in log.tail(3)], [512, 513, 3000])
        with open(self.path, "ab") as file:
            file.write(b'["' + b"y" * 700)
        self.assertEqual(len(AppendLog(self.path, 20000).tail(1)[0][0]), 3000)


if __name__ == "__main__":
    unittest.main()
