# tenner tests: the semaphore lets one TLS session live, and long polls give way.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio
import unittest

from net_peer import Peer, reply
from support import run
from tenner.net.http import Http
from tenner.net.http_errors import Yielded
from tenner.net.tls_reserve import TlsSemaphore


class PlainHttp(Http):
    """Takes part in the semaphore as if its plain connection were a TLS session."""

    async def _connect(self, origin):
        await super()._connect((False,) + origin[1:])
        self._origin = origin


async def status(response):
    return response.status


async def settle():
    """Let every task run until it waits for something."""
    for _ in range(20):
        await asyncio.sleep(0)


async def outcome(task):
    try:
        return await task
    except Yielded:
        return "yielded"


class TestGate(unittest.TestCase):
    def scene(self, script, answers):
        """Run `script(semaphore, peer, get)`; `get(http)` starts an exchange with the peer."""

        async def main():
            peer = await Peer(*answers).start()
            self.clients = []

            def get(http):
                if http not in self.clients:
                    self.clients.append(http)
                url = "https" + peer.url[4:]
                return asyncio.create_task(http.exchange("GET", url, [], None, status, 10))

            try:
                await script(TlsSemaphore(1), peer, get)
            finally:
                for http in self.clients:
                    await http.close()
                await peer.stop()

        run(main())

    def test_long_poll_is_stopped_by_a_turn(self):
        async def script(semaphore, peer, get):
            poll, turn = PlainHttp(None, semaphore, True), PlainHttp(None, semaphore)
            polling = asyncio.create_task(outcome(get(poll)))
            while not peer.requests:
                await asyncio.sleep(0)
            self.assertEqual(await get(turn), 200)
            self.assertEqual(await polling, "yielded")
            # The poll comes back when the turn closes, and works.
            polling = get(poll)
            await settle()
            self.assertEqual(len(peer.requests), 2)
            await turn.close()
            self.assertEqual(await polling, 200)

        self.scene(script, [[Peer.STALL], reply(b""), reply(b"")])

    def test_polls_follow_each_other(self):
        async def script(semaphore, peer, get):
            first, second, third = [PlainHttp(None, semaphore, True) for _ in range(3)]
            polling = asyncio.create_task(outcome(get(first)))
            while not peer.requests:
                await asyncio.sleep(0)
            waiting = [get(second), get(third)]
            await settle()
            self.assertFalse(polling.done())
            # One that has waited long enough is no longer polite.
            second.yields = False
            self.assertEqual(await polling, "yielded")
            again = get(first)
            self.assertEqual(await waiting[0], 200)
            await second.close()
            self.assertEqual(await waiting[1], 200)
            self.assertFalse(again.done())
            await third.close()
            self.assertEqual(await again, 200)

        self.scene(script, [[Peer.STALL]] + [reply(b"")] * 3)

    def test_turn_is_not_stopped_by_a_poll_or_another_turn(self):
        for yields in (True, False):

            async def script(semaphore, peer, get, yields=yields):
                turn, other = PlainHttp(None, semaphore), PlainHttp(None, semaphore, yields)
                first = get(turn)
                while not peer.requests:
                    await asyncio.sleep(0)
                second = get(other)
                await settle()
                self.assertEqual(peer.connections, 1)
                first.cancel()
                try:
                    await first
                except asyncio.CancelledError:
                    pass
                self.assertEqual(await second, 200)

            self.scene(script, [[Peer.STALL], reply(b"")])

    def test_exchange_ends_when_its_memory_is_gone(self):
        async def script(semaphore, peer, get):
            turn = PlainHttp(None, semaphore)
            first = get(turn)
            while not peer.requests:
                await asyncio.sleep(0)
            semaphore.fail(OSError(12))
            try:
                number = await first
            except OSError as error:
                number = error.args[0]
            self.assertEqual((number, semaphore.shortages), (12, 1))
            self.assertEqual(await get(turn), 200)
            # None is running.
            semaphore.fail(OSError(12))
            self.assertEqual(await get(turn), 200)

        self.scene(script, [[Peer.STALL], reply(b""), reply(b"")])

    def test_idle_connection_goes_when_it_is_in_the_way(self):
        async def script(semaphore, peer, get):
            turn, tool = PlainHttp(None, semaphore), PlainHttp(None, semaphore)
            await get(turn)
            self.assertEqual(peer.open, 1)
            await get(tool)
            await get(turn)
            self.assertEqual(peer.connections, 3)

        self.scene(script, [reply(b"")] * 3)

    def test_idle_connection_goes_for_a_poll_only_after_a_while(self):
        async def script(semaphore, peer, get):
            turn, poll = PlainHttp(None, semaphore), PlainHttp(None, semaphore, True)
            await get(turn)
            await turn.give_way(True)
            self.assertTrue(turn.stream is not None)
            turn.idle_ms = -1
            self.assertEqual(await get(poll), 200)
            self.assertTrue(turn.stream is None)

        self.scene(script, [reply(b"")] * 2)

    def test_a_poll_goes_on_with_the_connection_of_a_sender(self):
        async def script(semaphore, peer, get):
            sender, poll = PlainHttp(None, semaphore), PlainHttp(None, semaphore, True)
            self.assertFalse(poll.take_over(sender))
            await get(sender)
            self.assertTrue(poll.take_over(sender))
            self.assertEqual(semaphore._holders, [poll])
            self.assertEqual(await get(poll), 200)
            self.assertEqual(peer.connections, 1)
            # The sender's client has nothing to close.
            await sender.close()
            self.assertEqual(await get(poll), 200)
            self.assertEqual(peer.connections, 1)
            # And back again.
            self.assertTrue(sender.take_over(poll))
            self.assertEqual(await get(sender), 200)
            self.assertEqual((peer.connections, len(semaphore._holders)), (1, 1))

        self.scene(script, [reply(b"")] * 4)

    def test_a_busy_connection_is_not_taken_over(self):
        async def script(semaphore, peer, get):
            sender, poll = PlainHttp(None, semaphore), PlainHttp(None, semaphore, True)
            sending = get(sender)
            while not peer.requests:
                await asyncio.sleep(0)
            self.assertFalse(poll.take_over(sender))
            sending.cancel()
            try:
                await sending
            except asyncio.CancelledError:
                pass
            await get(sender)
            waiting = get(poll)
            await settle()
            # It waits for its place already.
            self.assertFalse(poll.take_over(sender))
            await sender.close()
            self.assertEqual(await waiting, 200)
            self.assertEqual(semaphore._holders, [poll])

        self.scene(script, [[Peer.STALL], reply(b""), reply(b"")])

    def test_place_is_kept_with_the_connection(self):
        async def script(semaphore, peer, get):
            turn = PlainHttp(None, semaphore)
            for _ in range(3):
                await get(turn)
            self.assertEqual(len(semaphore._holders), 1)
            await turn.close()
            self.assertEqual(semaphore._holders, [])

        self.scene(script, [reply(b"")] * 3)

    def test_failure_frees_the_place(self):
        async def script(semaphore, peer, get):
            turn = PlainHttp(None, semaphore)
            with self.assertRaises((OSError, EOFError)):
                await get(turn)
            self.assertEqual(semaphore._holders, [])

        self.scene(script, [Peer.CLOSE])

    def test_who_stops_waiting_is_forgotten(self):
        async def script(semaphore, peer, get):
            turn, other, poll = (
                PlainHttp(None, semaphore),
                PlainHttp(None, semaphore),
                PlainHttp(None, semaphore, True),
            )
            first = get(turn)
            while not peer.requests:
                await asyncio.sleep(0)
            second = get(other)
            third = get(poll)
            await settle()
            second.cancel()
            try:
                await second
            except asyncio.CancelledError:
                pass
            self.assertEqual(semaphore._waiting, [poll])
            first.cancel()
            try:
                await first
            except asyncio.CancelledError:
                pass
            self.assertEqual(await third, 200)

        self.scene(script, [[Peer.STALL], reply(b"")])

    def test_one_more_while_the_memory_has_room_for_it(self):
        async def script(semaphore, peer, get):
            room = [True]
            semaphore = TlsSemaphore(1, lambda: room[0])
            poll, turn, tool = (
                PlainHttp(None, semaphore, True),
                PlainHttp(None, semaphore),
                PlainHttp(None, semaphore),
            )
            polling = asyncio.create_task(outcome(get(poll)))
            while not peer.requests:
                await asyncio.sleep(0)
            # Beside the poll, but a third one ends the poll, and without room the second does.
            self.assertEqual(await get(turn), 200)
            self.assertFalse(polling.done())
            self.assertEqual(await get(tool), 200)
            self.assertEqual(await polling, "yielded")
            await tool.close()
            await turn.close()
            polling = asyncio.create_task(outcome(get(poll)))
            while len(peer.requests) < 4:
                await asyncio.sleep(0)
            room[0] = False
            self.assertEqual(await get(turn), 200)
            self.assertEqual(await polling, "yielded")
            self.assertEqual(semaphore._waiting, [])

        ok = reply(b"")
        self.scene(script, [[Peer.STALL], ok, ok, [Peer.STALL], ok])

    def test_plain_http_needs_no_place(self):
        async def main():
            peer = await Peer(reply(b"")).start()
            semaphore = TlsSemaphore(0)
            http = Http(None, semaphore)
            self.assertEqual(await http.exchange("GET", peer.url, [], None, status, 10), 200)
            await http.close()
            await peer.stop()

        run(main())


if __name__ == "__main__":
    unittest.main()
