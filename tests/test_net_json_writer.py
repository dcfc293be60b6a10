# tenner tests: JSON strings written from bytes that were cut anywhere, or are no UTF-8 at all.
# MIT license; Copyright (c) 2026 the tenner authors

import json
import unittest

from tenner.net.json.writer import escape, escaped, quote

TEXT = 'a "quoted" back\\slash\nline\r\ttab \x00\x01\x1f\x7f é € 😀 end'


class TestQuote(unittest.TestCase):
    def test_round_trip(self):
        for text in ("", "plain", TEXT):
            self.assertEqual(json.loads(quote(text)), text)
            self.assertEqual(json.loads(quote(text.encode())), text)

    def test_no_line_break_is_left(self):
        self.assertFalse(b"\n" in quote(TEXT) or b"\r" in quote(TEXT))

    def test_invalid_bytes_are_replaced(self):
        self.assertEqual(quote(b"a\xffb"), '"a\ufffdb"'.encode())
        self.assertEqual(quote(b"\xed\xa0\xbd"), '"\ufffd\ufffd\ufffd"'.encode())

    def test_nothing_to_escape_is_not_copied(self):
        piece = b"nothing to do"
        self.assertTrue(escape(piece) is piece)


class TestEscaped(unittest.TestCase):
    def test_cut_at_every_byte(self):
        data = TEXT.encode()
        whole = escape(data)
        for place in range(len(data) + 1):
            self.assertEqual(b"".join(escaped((data[:place], data[place:]))), whole)

    def test_byte_by_byte(self):
        data = TEXT.encode()
        parts = escaped([data[i : i + 1] for i in range(len(data))])
        self.assertEqual(b"".join(parts), escape(data))

    def test_cut_off_in_the_middle_of_a_character(self):
        self.assertEqual(b"".join(escaped((b"a\xf0\x9f",))), "a\ufffd".encode())
        self.assertEqual(b"".join(escaped(())), b"")


if __name__ == "__main__":
    unittest.main()
