# tenner port.compat: the few names CPython lacks, so that one source runs on both.
# MIT license; Copyright (c) 2026 the tenner authors
# ruff: noqa: F401 -- the names are for others to import

# Only imports: a build for boards copies them unchanged.
try:
    # mpy-cross folds `_X = const(5)` by the name alone, so importing it from here costs nothing.
    from asyncio import sleep_ms
    from sys import print_exception
    from time import ticks_add, ticks_diff, ticks_ms

    from micropython import const
    from tenner.port.has_input import has_input
    from tenner.port.opening import open_connection
except ImportError:
    from tenner.port.cpython import (
        const,
        has_input,
        open_connection,
        print_exception,
        sleep_ms,
        ticks_add,
        ticks_diff,
        ticks_ms,
    )
