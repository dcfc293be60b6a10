# tenner port.linux.signals: waits for SIGTERM or Ctrl-C, under CPython and Unix MicroPython (ffi).
# MIT license; Copyright (c) 2026 the tenner authors
"""
MicroPython has no handler of signals that is safe while it collects garbage. There the signals are
blocked, and a file descriptor of the kernel tells of them. Afterwards they work as usual again, so
that a second one ends the program at once.
"""

import asyncio

from tenner.port.compat import const
from tenner.port.linux import process

_CTRL_C = const(2)
_TERM = const(15)

# <signal.h>, <sys/signalfd.h>
_BLOCK = const(0)
_UNBLOCK = const(1)
_SET = const(2)
_SET_BYTES = const(128)
_INFO_BYTES = const(128)
_DUPFD_CLOEXEC = const(1030)
_NONBLOCK_CLOEXEC = const(0x80800)

try:
    import signal

    async def come() -> None:
        """Wait for a signal that asks the program to end."""
        loop = asyncio.get_event_loop()
        event = asyncio.Event()
        # The background commands of a shell ignore Ctrl-C.
        heard = [one for one in (_TERM, _CTRL_C) if signal.getsignal(one) is not signal.SIG_IGN]
        for one in heard:
            loop.add_signal_handler(one, event.set)
        await event.wait()
        for one in heard:
            loop.remove_signal_handler(one)

except ImportError:

    async def come() -> None:
        """Wait for a signal that asks the program to end."""
        try:
            mask = _mask()
            process.call("sigprocmask", _BLOCK, mask, 0)
            made = process.call("signalfd", -1, mask, _NONBLOCK_CLOEXEC)
            # Above 2: without a standard input it would be taken for that.
            fd = process.call("fcntl", made, _DUPFD_CLOEXEC, 3)
            process.close(made)
        except OSError:
            # Without ffi a signal ends the program at once.
            await asyncio.Event().wait()
            return
        while process.read_into(fd, bytearray(_INFO_BYTES)) is None:
            await _readable(fd)
        process.call("sigprocmask", _UNBLOCK, mask, 0)

    def _readable(fd):
        asyncio.core._io_queue.queue_read(fd)  # type: ignore[attr-defined]
        yield

    def _mask():
        mask = bytearray(_SET_BYTES)
        for number in (_TERM, _CTRL_C):
            mask[(number - 1) // 8] |= 1 << (number - 1) % 8
        return mask


def usual() -> None:
    """In a forked process: let signals end it, as they do a program of the system."""
    for number in (_TERM, _CTRL_C):
        try:
            process.call("signal", number, 0)
        except OSError:
            pass  # the handler before was at an address that looks like an error
    process.call("sigprocmask", _SET, bytearray(_SET_BYTES), 0)
