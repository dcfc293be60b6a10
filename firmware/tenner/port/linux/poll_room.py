# tenner port.linux.poll_room: room for many connections in the poll of MicroPython's asyncio.
# MIT license; Copyright (c) 2026 the tenner authors
"""
MicroPython on Linux keeps the files that it polls in a list. When the list moves to a larger
place, a stream without a file number gets a wrong pointer. A TLS session is such a stream, and the
program crashes. The list never shrinks, so it gets its room before there is a stream.
"""

import asyncio
import sys

from tenner.port.compat import const

#: More than the connections of the page (page.server) and of all channels.
_FILES = const(64)


def reserve() -> None:
    """Make the room, before anything is polled."""
    if sys.implementation.name == "micropython":
        poll = asyncio.core._io_queue.poller  # type: ignore[attr-defined]
        for number in range(_FILES):
            poll.register(number)
        for number in range(_FILES):
            poll.unregister(number)
