# tenner test support: what tests on every interpreter share.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio
import os
import sys

ROOT = "/".join(__file__.replace("\\", "/").split("/")[:-2]) or "."


def run(coro):
    """Run a coroutine to its end on a loop of its own, so that no task leaks into the next test."""
    try:
        return asyncio.run(coro)
    finally:
        # MicroPython keeps one global loop; CPython's run() has closed its own already.
        if sys.implementation.name == "micropython":
            asyncio.new_event_loop()


def is_folder(path):
    """True when `path` is a folder."""
    try:
        return os.stat(path)[0] & 0x4000 != 0
    except OSError:
        return False


def remove_tree(path):
    """Remove a folder with all in it, or a file; absent is fine."""
    if is_folder(path):
        for name in os.listdir(path):
            remove_tree(path + "/" + name)
        os.rmdir(path)
    else:
        try:
            os.remove(path)
        except OSError:
            return


def temp_folder(case=None):
    """A new empty folder; given a TestCase it is removed when the test ends."""
    path = "%s/tenner-test-%s" % (os.getenv("TMPDIR") or "/tmp", os.urandom(6).hex())
    os.mkdir(path)
    if case is not None:
        case.addCleanup(remove_tree, path)
    return path
