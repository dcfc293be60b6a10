# tenner fuzz: runs the parsers on another interpreter, one input a line.
# MIT license; Copyright (c) 2026 the tenner authors
"""Reads lines `NAME HEX`; answers each with a line: `ok`, or `failed` and the traceback."""

import binascii
import io
import sys

# MicroPython nests imports only so deep.
for part in ("line_words", "known_values", "clauses", "natural", "occurrences"):
    __import__("tenner.schedule." + part)
__import__("tenner.update.install")

from fuzz.parsers import PARSERS  # noqa: E402


def verdict(name, data):
    """Run a parser; return its answer in one line."""
    run, refusals = PARSERS[name]
    try:
        run(data)
    except refusals:
        pass
    except BaseException as error:
        text = io.StringIO()
        sys.print_exception(error, text)
        return "failed " + text.getvalue().replace("\n", " | ")
    return "ok"


while True:
    line = sys.stdin.readline()
    if not line:
        break
    name, _, data = line.strip().partition(" ")
    print(verdict(name, binascii.unhexlify(data)))
