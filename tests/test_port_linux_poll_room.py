# tenner test: polls a stream without a file number beside many that have one.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio
import io
import sys
import unittest

from tenner.port.linux import port

POLL = 3
IN = 1


class Session(io.IOBase):
    """A stream without a file number, as a TLS session is."""

    def ioctl(self, request, argument):
        return IN if request == POLL else -1


class PollRoom(unittest.TestCase):
    @unittest.skipIf(sys.implementation.name == "cpython", "MicroPython's asyncio")
    def test_many_connections_beside_a_tls_session(self):
        asyncio.new_event_loop()
        port.reserve()
        poll = asyncio.core._io_queue.poller
        session = Session()
        poll.register(session, IN)
        held = []
        # Numbers of no file: poll reports them as wrong.
        for number in range(1000, 1060):
            poll.register(number, IN)
            # The list cannot grow in its place.
            held.append(bytearray(64))
        ready = [one[0] for one in poll.poll(0)]
        self.assertTrue(session in ready)
        self.assertEqual(len(ready), 61)
        asyncio.new_event_loop()

    def test_cpython_needs_none(self):
        port.reserve()


if __name__ == "__main__":
    unittest.main()
