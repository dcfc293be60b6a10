# tenner port.compat: the few names CPython lacks, so that one source runs on both.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio
import time

try:
    # mpy-cross folds `_X = const(5)` by the name alone, so importing it from here costs nothing.
    from micropython import const
except ImportError:

    def const(value):
        """Return `value`; MicroPython's compiler replaces the call by the number."""
        return value


try:
    from time import ticks_add, ticks_diff, ticks_ms
except ImportError:

    def ticks_ms():
        """Milliseconds of a clock that never goes back."""
        return time.monotonic_ns() // 1000000

    def ticks_add(ticks, delta):
        return ticks + delta

    def ticks_diff(end, start):
        return end - start


try:
    from asyncio import sleep_ms
except ImportError:

    def sleep_ms(ms):
        """Awaitable pause of `ms` milliseconds."""
        return asyncio.sleep(ms / 1000)


try:
    from sys import print_exception
except ImportError:

    def print_exception(error, file=None):
        """Write the traceback of `error` to `file`."""
        import traceback

        traceback.print_exception(error, file=file)
