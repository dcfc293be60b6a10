# tenner tests: a connection that is given up while it opens leaves no TLS session behind.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio
import io
import socket
import sys
import unittest

from support import run
from tenner.port.compat import sleep_ms
from tenner.port.opening import open_connection

_FILENO = 10  # it has none

IS_MICROPYTHON = sys.implementation.name == "micropython"


class Session(io.IOBase):
    """Never shakes hands."""

    closed_here = False

    def __init__(self, sock):
        self.sock = sock

    def setblocking(self, flag):
        pass

    def ioctl(self, request, argument):
        return -22 if request == _FILENO else 0

    def close(self):
        self.closed_here = True
        self.sock.close()


class Context:
    made = None

    def wrap_socket(self, sock, server_hostname=None, do_handshake_on_connect=True):
        self.made = Session(sock)
        return self.made


async def given_up(port, context):
    task = asyncio.create_task(open_connection("127.0.0.1", port, context, "localhost"))
    while context.made is None:
        await sleep_ms(1)
    task.cancel()
    try:
        await task
    except asyncio.CancelledError:
        return True


@unittest.skipIf(not IS_MICROPYTHON, "CPython's asyncio closes it itself")
class TestOpening(unittest.TestCase):
    def test_a_connection_that_is_given_up_frees_its_session(self):
        server = socket.socket()
        self.addCleanup(server.close)
        context = Context()
        self.assertTrue(run(given_up(listen(server), context)))
        self.assertTrue(context.made.closed_here)


def listen(server):
    """Return a free port, on which it listens now; not all of MicroPython can ask for one."""
    for port in range(20000, 30000):
        try:
            server.bind(socket.getaddrinfo("127.0.0.1", port)[0][-1])
            server.listen(1)
            return port
        except OSError:
            continue


if __name__ == "__main__":
    unittest.main()
