# virtual board: the wires between the emulated chip's modules and the supervisor process.
# MIT license; Copyright (c) 2026 the tenner authors
"""
Two pipes and one shared page:

- `tell("pin 3 1")` is an event: one line, nothing comes back.
- `ask("i2c ...")` is a question: the supervisor writes its answer into the shared page and then
  sends one byte, the number of the question. A question given up half-way (Ctrl-C) leaves a stale
  byte behind; the next one skips it, so nothing can get out of step.

Layout of the page: tenner_sim/vboard/shared.py.
"""

import os
import struct

# Offsets in the shared page.
CLOCK = 0x20
REPLY = 0x40

try:
    # On CPython the event loop resolves names in a thread, beside the main thread's questions.
    from threading import RLock
except ImportError:

    class RLock:
        def __enter__(self):
            return self

        def __exit__(self, *_):
            return False


_lock = RLock()

# Descriptors and facts the supervisor hands down: see tenner_sim/vboard/runtime.py.
request_fd, token_fd, page_fd, counters_fd, flash_fd, vfs_offset, vfs_size = [
    int(word) for word in os.getenv("TENNER_VBOARD").split()
]
start_mode = os.getenv("TENNER_VBOARD_START")
cause = int(os.getenv("TENNER_VBOARD_CAUSE"))

_request = open(request_fd, "wb", 0)
_token = open(token_fd, "rb", 0)
_page = open(page_fd, "rb", 0)
_number = bytearray(1)
_head = bytearray(8)
_seconds = bytearray(8)
_last = 0


def os_error(number):
    """The OSError of an errno; CPython finds the number only beside a text."""
    if hasattr(os, "strerror"):
        return OSError(number, os.strerror(number) if number > 0 else "error %d" % number)
    return OSError(number)


def tell(text):
    """Send one event."""
    with _lock:
        # The line break in front ends a line that an interrupt may have cut.
        _request.write(("\n" + text + "\n").encode())


def _question(text):
    global _last
    _last = _last % 255 + 1
    _request.write(("\n?%d %s\n" % (_last, text)).encode())
    while True:
        if _token.readinto(_number) != 1:
            raise os_error(5)
        if _number[0] == _last:
            break
    _page.seek(REPLY)
    _page.readinto(_head)
    status, length = struct.unpack("<iI", _head)
    if status == -1:
        raise OSError(_page.read(length).decode())
    if status:
        raise os_error(status)
    return length


def ask(text):
    """Return the answer as bytes; raise the OSError the supervisor answers with."""
    with _lock:
        return _page.read(_question(text))


def ask_into(text, buf):
    """Read the answer into `buf`."""
    with _lock:
        length = _question(text)
        if length != len(buf):
            raise os_error(5)
        _page.readinto(buf)


def clock_offset():
    """Seconds from the host's clock to this board's, both counted from 1970."""
    with _lock:
        _page.seek(CLOCK)
        _page.readinto(_seconds)
        return struct.unpack("<q", _seconds)[0]


def lost(text):
    """Tell the supervisor something that ends this run, and wait to be switched off."""
    import time

    tell(text)
    while True:
        time.sleep(1)
