# tenner test support: helpers for tests on every interpreter.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio
import os
import sys

ROOT = "/".join(__file__.replace("\\", "/").split("/")[:-2]) or "."


def run(coro):
    """Run a coroutine to its end on a loop of its own, so that no task leaks into the next
    test."""
    try:
        return asyncio.run(coro)
    finally:
        # MicroPython keeps one global loop; CPython's run() has closed its own already.
        if sys.implementation.name == "micropython":
            asyncio.new_event_loop()


async def cancelled(task):
    """Cancel a task and wait for its end; was it that which ended it?"""
    passes = 0
    while not task.done():
        # Again after a while: a wait that ends at the moment of a cancellation swallows it.
        if passes % 1000 == 0:
            task.cancel()
        passes += 1
        await asyncio.sleep(0.001)
    try:
        await task
    except asyncio.CancelledError:
        return True
    return False


def remove_tree(path):
    """Remove a file, a link or a folder with all in it; absent is fine."""
    try:
        # First, so that a link to a folder is removed and never followed.
        os.remove(path)
        return
    except OSError:
        pass
    try:
        names = os.listdir(path)
    except OSError:
        return
    for name in names:
        remove_tree(path + "/" + name)
    os.rmdir(path)


def temp_folder(case=None):
    """A new empty folder; given a TestCase it is removed when the test ends."""
    path = "%s/tenner-test-%s" % (os.getenv("TMPDIR") or "/tmp", os.urandom(6).hex())
    os.mkdir(path)
    if case is not None:
        case.addCleanup(remove_tree, path)
    return path


def read_bytes(path):
    """Return the content of a file."""
    with open(path, "rb") as file:
        return file.read()


def write_bytes(path, data):
    """Make or replace a file."""
    with open(path, "wb") as file:
        file.write(data)
