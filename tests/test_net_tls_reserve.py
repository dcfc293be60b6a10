# tenner tests: memory for one TLS session is kept while there is none, and its lack is told from a
# bad certificate. MIT license; Copyright (c) 2026 the tenner authors

import asyncio
import unittest

from support import cancelled, run, temp_folder
from tenner.agent.message_queue import Queue
from tenner.channels.mqtt import connect as connect_module
from tenner.channels.mqtt.channel import Mqtt
from tenner.net.http import Http
from tenner.net.tls import SENTENCE, explain, is_short
from tenner.net.tls_reserve import Reserve, TlsSemaphore
from tenner.store import files
from test_channels_mqtt import Broker, Config, Port, until

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


def made(test, context, planned=46400):
    """A Reserve with a file of its own."""
    folder = temp_folder(test)
    return Reserve(context, context.memory, folder + "/tls", planned)


def connect(reserve, host="a.example", held=28000, error=None):
    """A session whose server's chain holds so many bytes; `error` ends it in the handshake."""
    context = reserve._context
    semaphore = TlsSemaphore(1)
    semaphore.reserve = reserve
    session = reserve.wrap_socket("socket", host)
    if error:
        session.close()
        found = Http(None, semaphore)._reason(error)
        return found, explain(found)
    context.free -= held - SESSION
    reserve.learn()
    context.free += held - SESSION
    session.close()
    return semaphore


BAD = ValueError("\nThe certificate is not correctly signed by the trusted CA\n")


class TestNeeds(unittest.TestCase):
    def text(self, reserve):
        with open(reserve._path) as file:
            return file.read()

    def test_a_host_is_learned_by_what_its_session_holds(self):
        for held, need in ((26300, 37400), (29500, 40600), (30300, 45500), (33200, 48400)):
            reserve = made(self, Context(60000))
            connect(reserve, "a.example", held)
            self.assertEqual(self.text(reserve), "a.example %d" % need)
            # A few packets more or less are not written again, much more is.
            connect(reserve, "a.example", held + 300)
            self.assertEqual(self.text(reserve), "a.example %d" % need)

    def test_hosts_are_kept_beside_each_other_and_the_oldest_leaves(self):
        reserve = made(self, Context(60000))
        for number in range(8):
            connect(reserve, "%d.example" % number)
        hosts = [line.split()[0] for line in self.text(reserve).split("\n")]
        self.assertEqual(hosts, ["%d.example" % number for number in range(2, 8)])

    def test_a_damaged_file_is_no_file(self):
        for text in ("", "\n\n", "a.example", "a.example x", "a.example -5", "\x00\x01 \x02"):
            reserve = made(self, Context(60000))
            with open(reserve._path, "w") as file:
                file.write(text)
            connect(reserve)
            self.assertIn("a.example 39100", self.text(reserve))

    def test_what_a_start_cannot_repair_is_said_with_host_and_amount(self):
        reserve = made(self, Context(40000))
        for error in (BAD, OSError(12), OSError(-0x4290)):
            _, sentence = connect(reserve, "t.example", error=error)
            self.assertIn("a connection to t.example takes 46 KB of memory, 6 KB more", sentence)
            self.assertNotIn("not in /certs", sentence)
        self.assertTrue(reserve.tell())
        self.assertFalse(reserve.tell())
        again = Reserve(reserve._context, reserve._memory, reserve._path, 46400)
        connect(again, "t.example", error=BAD)
        self.assertFalse(again.tell())
        self.assertTrue(again.sentence())

    def test_where_a_new_start_may_help_the_sentence_says_so(self):
        # This start has left less than the host is known to need.
        reserve = made(self, Context(40000), 35000)
        _, sentence = connect(reserve, error=BAD)
        self.assertEqual(sentence, SENTENCE)
        # There was room for it, before Python's heap took it.
        reserve = made(self, Context(60000))
        connect(reserve)
        reserve._context.free = 30000
        _, sentence = connect(reserve, "t.example", error=BAD)
        self.assertEqual(sentence, SENTENCE)

    def test_a_known_host_that_fails_all_the_same_needs_more(self):
        reserve = made(self, Context(60000))
        connect(reserve)
        reserve._context.free = 42000
        connect(reserve, error=OSError(12))
        self.assertEqual(self.text(reserve), "a.example 44000")

    def test_after_a_shortage_no_certificate_is_blamed(self):
        reserve = made(self, Context(60000))
        connect(reserve, error=OSError(12))
        _, sentence = connect(reserve, "b.example", error=BAD)
        self.assertNotIn("not in /certs", sentence)
        connect(reserve)
        connect(reserve, "b.example")
        _, sentence = connect(reserve, "b.example", error=BAD)
        self.assertIn("not in /certs", sentence)


class TestBroker(unittest.TestCase):
    """The channel to a broker learns as the HTTP client does, and explains as it does."""

    def connect(self, free, error=None):
        """Return (the channel's status, the text of the file) after one connection."""
        context = Context(free)
        reserve = made(self, context)
        semaphore = TlsSemaphore(1)
        semaphore.reserve = reserve
        host = "broker.example"
        config = Config(tls=True, host=host)
        mqtt = Mqtt(
            config, Port(), lambda: reserve, Queue(1), lambda name: semaphore, lambda: None, None
        )
        broker = Broker()

        async def opening(name, port, ssl, server_hostname):
            session = ssl.wrap_socket("socket", server_hostname=server_hostname)
            if error:
                session.close()
                raise error
            return await real("127.0.0.1", broker.port)

        async def scene():
            await broker.start()
            service = asyncio.create_task(mqtt.run())
            await until(lambda: mqtt.is_connected or "next try" in mqtt.status)
            await cancelled(service)
            broker.stop()

        real, connect_module.open_connection = connect_module.open_connection, opening
        try:
            run(asyncio.wait_for(scene(), 30))
        finally:
            connect_module.open_connection = real
        self.assertEqual(reserve._host, host)
        return mqtt.status, files.read_text(reserve._path)

    def test_the_need_of_a_broker_is_learned(self):
        self.assertEqual(self.connect(60000)[1], "broker.example %d" % (SESSION + 11100))

    def test_a_broker_that_can_never_fit_is_named(self):
        for error in (BAD, OSError(12), OSError(-0x4290)):
            status, text = self.connect(40000, error)
            self.assertIn("a connection to broker.example takes 46 KB of memory, 6 KB", status)
            self.assertEqual(text, "broker.example 46400")


class TestReserve(unittest.TestCase):
    def test_its_memory_is_that_of_the_next_session(self):
        context = Context(40000)
        reserve = made(self, context)
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
        reserve = made(self, context)
        self.assertTrue(reserve.take())
        session = reserve.wrap_socket("socket", "b.example", False, other)
        self.assertEqual((context.open, other.open), ([], [session]))
        self.assertEqual(
            (session.sock, session.name, session.shakes), ("socket", "b.example", False)
        )

    def test_where_it_does_not_fit_nothing_is_held(self):
        context = Context(30000)
        reserve = made(self, context)
        self.assertFalse(reserve.take())
        self.assertEqual(context.open, [])
        # Enough by the figures, and not enough all the same.
        context.memory = lambda: (40000, 40000, 0)
        context.free = 100
        self.assertFalse(made(self, context).take())

    def test_the_semaphore_takes_it_when_the_last_session_ends(self):
        async def script():
            context = Context(60000)
            semaphore = TlsSemaphore(1)
            self.assertTrue(semaphore.has_room())
            semaphore.reserve = made(self, context)
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
            semaphore.reserve = made(self, context)
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
