"""MicroPython keeps each name in RAM for good, and makes one of every character that `chr` or a
loop over a text returns. Texts of people, models and web pages must not fill it with Unicode."""

import gc
import unittest

from tenner import log
from tenner.net.web import charset
from tenner.store import json_strict
from tenner.tools import secrets

PIECE, PIECES = 64, 40
MOST = 4096  # bytes; names of all characters would take 30 KB


def text(start):
    # No loop over characters here either.
    return b"".join([json_strict.utf8(start + k) for k in range(PIECE)]).decode()


def escapes(start):
    return b"".join([b"\\u%04x" % (start + k) for k in range(PIECE)])


@unittest.skipUnless(hasattr(gc, "mem_alloc"), "CPython keeps no names")
class TestNamesOfCharacters(unittest.TestCase):
    def keeps_none(self, first, take):
        """`take(start)` takes characters; those from `first` on are of this test alone."""
        take(first + PIECES * PIECE)  # for all that is needed in any case
        gc.collect()
        before = gc.mem_alloc()
        for piece in range(PIECES):
            take(first + piece * PIECE)
        gc.collect()
        self.assertTrue(gc.mem_alloc() - before < MOST, gc.mem_alloc() - before)

    def test_of_escapes_in_json(self):
        def take(start):
            data = escapes(start)
            for at in range(0, len(data), 6):
                json_strict.unescape(data, at)

        self.keeps_none(0x4E00, take)

    def test_of_texts_in_the_log(self):
        self.keeps_none(0x6000, lambda start: log.visible(text(start)))

    def test_of_entities_in_a_page(self):
        self.keeps_none(
            0x7000, lambda start: charset.unescape(escapes(start).replace(b"\\u", b"&#x"))
        )

    def test_of_texts_that_may_hold_a_secret(self):
        log.hide("a secret of the owner")
        self.addCleanup(log._secrets.clear)
        self.keeps_none(0x8000, lambda start: secrets.leaks(escapes(start).decode()))


class TestUtf8(unittest.TestCase):
    def test_is_that_of_python(self):
        for code in (0, 0x41, 0x7F, 0x80, 0xE4, 0x7FF, 0x800, 0x4E2D, 0xFFFD, 0x10000, 0x1F642):
            self.assertEqual(json_strict.utf8(code), chr(code).encode())


if __name__ == "__main__":
    unittest.main()
