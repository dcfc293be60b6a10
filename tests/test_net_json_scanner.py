# tenner tests: the JSON scanner against json.loads, with every document cut at every byte.
# MIT license; Copyright (c) 2026 the tenner authors

import json
import unittest

from tenner.net.json.scanner import Scanner
from tenner.net.json.writer import cut, decode

DOCUMENTS = (
    b'{"a":[1,2.5,-0,0,-7,true,false,{"k":null}],"s":"x","e":{},"f":[],"":""}',
    b" [ ] ",
    b'\r\n\t{ "a" : [ { "b" : [ [ 1 ] , 2 ] } , "c" ] }\n',
    b"[1e5,1E+2,-2.5e-3,0.5,12345678901234567890,-9007199254740993]",
    b'"\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\\u00e9\\u20ac"',
    b'["\\ud83d\\ude00 \\uD83D\\uDE00x","\xf0\x9f\x98\x80 \xe2\x82\xac \xc3\xa9"]',
    b'{"k\\u00e9\\n\xc3\xa9":{"k2":"v"}}',
    b"12",
    b"true",
    b'"' + b"abcdefg \xc3\xa9" * 60 + b'"',
    b'{"choices":[{"delta":{"content":"Hi","tool_calls":[{"index":0}]}}],"usage":null}',
)

# Texts that json.loads of one of the interpreters accepts, leaves unjoined, or cannot read.
ODD = (
    (b'"\\ud83d"', "\ufffd"),
    (b'"\\ud83dx"', "\ufffdx"),
    (b'"\\ude00"', "\ufffd"),
    (b'"\\ud83d\\ud83d\\ude00"', "\ufffd\U0001f600"),
    (b'"\\ud83d\\n"', "\ufffd\n"),
    (b'"\\ud83d\\u0041"', "\ufffdA"),
    (b'"a\xffb\xc3"', "a\ufffdb\ufffd"),
    (b'"\xed\xa0\xbd"', "\ufffd\ufffd\ufffd"),
    (b'"\xc0\xaf"', "\ufffd\ufffd"),
    (b'"\xf0\x9f\x98"', "\ufffd"),
    (b'"\xf4\x90\x80\x80"', "\ufffd\ufffd\ufffd\ufffd"),
    (b'"a\x00b\nc"', "a\x00b\nc"),
    (b'"\\u0000"', "\x00"),
)

GARBAGE = (
    b"",
    b" ",
    b"{",
    b"[1,",
    b'"abc',
    b'{"a"}',
    b'{"a":}',
    b'{"a":1,}',
    b"[1,]",
    b"[,1]",
    b"{,}",
    b'{"a" 1}',
    b"{a:1}",
    b"[1 2]",
    b"\x0b",
    b"[\x0c]",
    b'{"a":\x0b}',
    b"[1}",
    b'{"a":1]',
    b"]",
    b"1 2",
    b"{} x",
    b"{}{}",
    b"tru",
    b"nulll",
    b"True",
    b"NaN",
    b"Infinity",
    b"-",
    b"+1",
    b"01",
    b"-01",
    b"1.",
    b".5",
    b"1.e5",
    b"1e",
    b"1e+",
    b"1.2.3",
    b"1_0",
    b"0x10",
    b"--1",
    b'"\\x"',
    b'"\\u12g4"',
    b'"\\u 123"',
    b"\xff",
    b"<html>",
    b"'a'",
    b"[\x00]",
)


def leaves(value, path=()):
    """Return the scanner's expected output for a value of json.loads."""
    if isinstance(value, dict):
        for key in value:
            yield from leaves(value[key], path + (key,))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from leaves(item, path + (index,))
    else:
        yield path, value


class Collector:
    def __init__(self):
        self.found = []
        self.pieces = 0
        self._text = ""
        self.scanner = Scanner(self.sink)

    def sink(self, path, value, more):
        self.pieces += 1
        if isinstance(value, str):
            value, self._text = self._text + value, ""
            if more:
                self._text = value
                return
        self.found.append((tuple(path), value))


def scan(data, *cuts):
    collector = Collector()
    last = 0
    for place in cuts:
        collector.scanner.feed(data[last:place])
        last = place
    collector.scanner.feed(memoryview(data)[last:])
    collector.scanner.end()
    return collector.found


class TestScanner(unittest.TestCase):
    def test_every_document_cut_at_every_byte(self):
        for data in DOCUMENTS:
            # MicroPython's json knows no surrogates: give it the characters themselves.
            plain = data.replace(b"\\ud83d\\ude00", b"\xf0\x9f\x98\x80")
            plain = plain.replace(b"\\uD83D\\uDE00", b"\xf0\x9f\x98\x80")
            expected = sorted([repr(leaf) for leaf in leaves(json.loads(plain))])
            for place in range(len(data) + 1):
                self.assertEqual(sorted([repr(leaf) for leaf in scan(data, place)]), expected)

    def test_one_byte_at_a_time(self):
        for data in DOCUMENTS:
            self.assertEqual(scan(data, *range(len(data))), scan(data))

    def test_odd_strings(self):
        for data, text in ODD:
            with self.subTest(data=data):
                for place in range(len(data) + 1):
                    self.assertEqual(scan(data, place), [((), text)])

    def test_garbage_is_an_error_wherever_it_is_cut(self):
        for data in GARBAGE:
            for place in range(len(data) + 1):
                with self.subTest(data=data, place=place):
                    with self.assertRaises(ValueError):
                        scan(data, place)

    def test_duplicate_keys_are_told_both(self):
        self.assertEqual(scan(b'{"a":1,"a":2}'), [(("a",), 1), (("a",), 2)])

    def test_order_is_the_documents(self):
        found = scan(b'{"b":1,"a":[2,{"c":3}],"d":4}')
        self.assertEqual([leaf[1] for leaf in found], [1, 2, 3, 4])

    def test_depth_bomb(self):
        for bomb in (b"[" * 10000, b'{"a":' * 10000):
            with self.assertRaises(ValueError):
                scan(bomb)
        depth = Scanner.max_depth
        self.assertEqual(scan(b"[" * depth + b"1" + b"]" * depth), [((0,) * depth, 1)])

    def test_long_string_comes_in_bounded_pieces(self):
        # bytes in all, longest piece, last pieces, was the newest one the last
        seen = [0, 0, 0, False]

        def sink(path, value, more):
            size = len(value.encode())
            seen[0] += size
            seen[1] = max(seen[1], size)
            seen[2] += not more
            seen[3] = not more

        scanner = Scanner(sink)
        scanner.feed(b'{"a":"')
        block = "é€😀x".encode() * 100
        for _ in range(1000):
            scanner.feed(block)
        self.assertEqual(seen[2], 0)
        scanner.feed(b'"}')
        scanner.end()
        self.assertEqual(seen[0], len(block) * 1000)
        self.assertTrue(seen[1] <= 256)
        self.assertEqual(seen[2:], [1, True])

    def test_short_string_arrives_whole(self):
        for size in (0, 1, 255, 256):
            data = b'"' + b"x" * size + b'"'
            for place in range(len(data)):
                collector = Collector()
                collector.scanner.feed(data[:place])
                collector.scanner.feed(data[place:])
                self.assertEqual(collector.pieces, 1)

    def test_key_and_number_of_a_megabyte(self):
        for start in (b'{"', b"", b"[-", b'{"a":[{"'):
            scanner = Scanner(lambda path, value, more: None)
            scanner.feed(start)
            with self.assertRaises(ValueError):
                for _ in range(1000):
                    scanner.feed(b"1" * 1000)
        self.assertEqual(scan(b'{"' + b"k" * 256 + b'":1}'), [(("k" * 256,), 1)])

    def test_reset_forgets_everything(self):
        collector = Collector()
        for broken in (b'{"a":["x', b'["\\ud83d', b"[12", b'{"key'):
            collector.scanner.feed(broken)
            collector.scanner.reset()
        collector.scanner.feed(b'["y"]')
        collector.scanner.end()
        self.assertEqual(collector.found[-1], ((0,), "y"))


class TestUtf8(unittest.TestCase):
    def test_cut_finds_the_unfinished_sequence(self):
        for text, size in (("a", 0), ("é", 1), ("€", 2), ("😀", 3)):
            data = b"x" + text.encode()
            self.assertEqual(cut(data, len(data)), 0)
            for short in range(1, size + 1):
                self.assertEqual(cut(data, len(data) - short), size + 1 - short)
        self.assertEqual(cut(b"", 0), 0)
        self.assertEqual(cut(b"\x80\x80\x80\x80", 4), 0)

    def test_broken_utf8_is_replaced(self):
        self.assertEqual(decode("aé€😀ࠀ퟿".encode()), "aé€😀ࠀ퟿")
        self.assertEqual(decode(b"a\xe2(b"), "a\ufffd(b")


if __name__ == "__main__":
    unittest.main()
