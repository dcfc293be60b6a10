# tenner tests: memory for one TLS session is kept while there is none, and its lack is told from a
# bad certificate. MIT license; Copyright (c) 2026 the tenner authors

import asyncio
import unittest

from support import run
from tenner.net.http import Http
from tenner.net.shortage import SENTENCE, is_short
from tenner.net.tls_errors import explain
from tenner.net.tls_reserve import Reserve
from tenner.net.tls_semaphore import TlsSemaphore

SESSION = 23380


class Context:
    """Stands in for an SSLContext on a chip: a session takes memory until it is closed."""

    def __init__(self, free):
        self.free = self.least = free
        self.open = []

    def memory(self):
        return self.free, self.free, self.least

    def wrap_socket(self, sock, server_hostname=None, do_handshake_on_connect=True):
        if self.free < SESSION:
            raise OSError(12)
        self.free -= SESSION
        self.least = min(self.free, self.least)
        session = Session(self, sock, server_hostname, do_handshake_on_connect)
        self.open.append(session)
        return session


class Session:
    def __init__(self, context, sock, name, shakes):
        self.context = context
        self.sock = sock
        self.name = name
        self.shakes = shakes

    def close(self):
        self.context.open.remove(self)
        self.context.free += SESSION


class TestReserve(unittest.TestCase):
    def test_its_memory_is_that_of_the_next_session(self):
        context = Context(40000)
        reserve = Reserve(context, context.memory)
        self.assertTrue(reserve.take())
        self.assertTrue(reserve.take())
        self.assertEqual(context.free, 40000 - SESSION)
        # The one that is held never speaks, and reads nothing.
        held = context.open[0]
        self.assertFalse(held.shakes)
        self.assertEqual((held.sock.readinto(bytearray(1)), held.sock.write(b"-")), (None, None))
        session = reserve.wrap_socket("socket", server_hostname="a.example")
        self.assertEqual(context.open, [session])
        self.assertEqual(
            (session.sock, session.name, session.shakes), ("socket", "a.example", True)
        )
        self.assertEqual(context.free, 40000 - SESSION)
        second = reserve.wrap_socket("x") if context.free >= SESSION else None
        self.assertEqual(second, None)
        session.close()
        self.assertTrue(reserve.take())
        self.assertEqual(len(context.open), 1)

    def test_a_session_by_another_context_takes_the_memory_too(self):
        context = Context(40000)
        other = Context(40000)
        reserve = Reserve(context, context.memory)
        self.assertTrue(reserve.take())
        session = reserve.wrap_socket("socket", "b.example", False, other)
        self.assertEqual((context.open, other.open), ([], [session]))
        self.assertEqual(
            (session.sock, session.name, session.shakes), ("socket", "b.example", False)
        )

    def test_where_it_does_not_fit_nothing_is_held(self):
        context = Context(30000)
        reserve = Reserve(context, context.memory)
        self.assertFalse(reserve.take())
        self.assertEqual(context.open, [])
        # Enough by the figures, and not enough all the same.
        context.memory = lambda: (40000, 40000, 0)
        context.free = 100
        self.assertFalse(Reserve(context, context.memory).take())

    def test_the_semaphore_takes_it_when_the_last_session_ends(self):
        async def script():
            context = Context(60000)
            semaphore = TlsSemaphore(1)
            self.assertTrue(semaphore.has_room())
            semaphore.reserve = Reserve(context, context.memory)
            client = Http(None, semaphore)
            await semaphore.acquire(client)
            session = semaphore.reserve.wrap_socket("socket")
            session.close()
            self.assertEqual(context.open, [])
            semaphore.release(client)
            self.assertEqual(len(context.open), 1)
            self.assertTrue(semaphore.has_room())
            semaphore.reserve._give_up()
            context.free = 20000
            self.assertFalse(semaphore.has_room())

        run(script())


class TestShortage(unittest.TestCase):
    def test_numbers_that_mean_no_memory(self):
        # ENOMEM, EAI_MEMORY, SSL, X509, PK, ECP, and sums with big integers' and ASN.1's own.
        for number in (12, -203, -32512, -10368, -16256, -19840, -0x4290, -0x28EA, -0x3E90):
            self.assertTrue(is_short(OSError(number)), number)
            self.assertEqual(explain(OSError(number)), SENTENCE)
            self.assertIn("memory", SENTENCE)
        for number in (5, 104, 110, 113, -2, -202, -0x7780, -0x6880, -0x7200, -29312, -30592):
            self.assertFalse(is_short(OSError(number)), number)
        for other in (ValueError(12), OSError("12"), OSError(), asyncio.TimeoutError()):
            self.assertFalse(is_short(other))

    def test_a_good_certificate_is_not_blamed_for_want_of_memory(self):
        bad = ValueError("\nThe certificate is not correctly signed by the trusted CA\n")
        semaphore = TlsSemaphore(1)
        self.assertFalse(semaphore.lacked_memory(bad))
        self.assertIn("not in /certs", explain(bad))
        for free, least, lacked in (
            (60000, 30000, False),
            (31000, 9000, True),
            (60000, 900, True),
        ):
            context = Context(free)
            semaphore.shortages = 0
            semaphore.reserve = Reserve(context, context.memory)
            semaphore.reserve.wrap_socket("socket")
            context.least = least
            self.assertEqual(semaphore.lacked_memory(bad), lacked)
            self.assertEqual(semaphore.shortages, int(lacked))
        self.assertTrue(semaphore.lacked_memory(OSError(12)))
        self.assertFalse(semaphore.lacked_memory(OSError(113)))
        self.assertEqual(semaphore.shortages, 2)
        semaphore.lacked_memory(None)
        self.assertEqual(semaphore.shortages, 0)


if __name__ == "__main__":
    unittest.main()
