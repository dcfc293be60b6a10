# tenner tests: long polls on a connection that is kept.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio
import unittest

from net_peer import Peer, reply
from support import run
from tenner.net.http import Http
from tenner.net.http_errors import Yielded

QUIET = b'{"ok":true,"result":[]}'
NEWS = b'{"ok":true,"result":[{"update_id":7}]}'


async def whole(response):
    return response.status, await response.read_text(4000)


def poll(*answers):
    """Poll until the server has no answer left; return the results, the body of an answer where
    there is one, and the peer."""

    async def main():
        peer = await Peer(*answers).start()
        http = Http(yields=True)
        found = []
        try:
            for count in range(len(answers)):
                if http.stream is None or http.head is None:
                    await http.open("POST", peer.url + "/bot/getUpdates", [("A", "b")], 5)
                quiet = await http.poll(b'{"offset":%d}' % count, QUIET, 5)
                found.append(await http.answer(whole, 5) if quiet is False else quiet)
        finally:
            await http.close()
            await peer.stop()
        return found, peer

    return run(main())


class TestPoll(unittest.TestCase):
    def test_a_request_is_the_same_but_for_its_body(self):
        found, peer = poll(reply(QUIET), reply(QUIET))
        self.assertEqual(found, [True, True])
        self.assertEqual(peer.connections, 1)
        heads = [head for head, _ in peer.requests]
        self.assertEqual(heads[0], heads[1])
        for part in (
            b"POST /bot/getUpdates HTTP/1.1\r\n",
            b"\r\nA: b\r\n",
            b"\r\nHost: 127.0.0.1:",
        ):
            self.assertTrue(part in heads[0], part)
        self.assertEqual([body for _, body in peer.requests], [b'{"offset":0}', b'{"offset":1}'])

    def test_what_is_no_quiet_reply_is_there_for_answer(self):
        text = NEWS.decode()
        chunked = (
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n17\r\n"
            + QUIET
            + b"\r\n0\r\n\r\n"
        )
        for answer, expected in (
            (reply(NEWS), (200, text)),
            (reply(b""), (200, "")),
            (reply(QUIET + b" "), (200, QUIET.decode() + " ")),
            (reply(b"x" * 2000), (200, "x" * 2000)),
            (
                b"HTTP/1.1 409 Conflict\r\nContent-Length: 23\r\n\r\n" + QUIET,
                (409, QUIET.decode()),
            ),
            (
                b"HTTP/1.1 200 OK\r\nX: %s\r\nContent-Length: 2\r\n\r\nhi" % (b"y" * 900),
                (200, "hi"),
            ),
            (chunked, (200, QUIET.decode())),
        ):
            found, peer = poll(answer, reply(QUIET))
            self.assertEqual(found, [expected, True])
            self.assertEqual(peer.connections, 1)

    def test_a_reply_comes_in_pieces_of_any_size(self):
        for whole_reply, expected in ((reply(QUIET), True), (reply(NEWS), (200, NEWS.decode()))):
            for size in (1, 7, 40):
                pieces = [whole_reply[i : i + size] for i in range(0, len(whole_reply), size)]
                found, _ = poll(pieces, reply(QUIET))
                self.assertEqual(found, [expected, True])

    def test_a_connection_that_the_server_closed_is_opened_again(self):
        found, peer = poll(reply(QUIET), [Peer.CLOSE], reply(QUIET))
        self.assertEqual(found, [True, None, True])
        self.assertEqual(peer.connections, 2)

    def test_a_new_connection_without_an_answer_is_an_error(self):
        # Where it was not told apart, nobody learned why, and it was tried again every second.
        with self.assertRaises(EOFError):
            poll([Peer.CLOSE])

    def test_a_reply_that_is_cut_is_an_error(self):
        for cut in (b"HTTP/1.1 200 OK\r\nCont", reply(NEWS)[:-3]):
            with self.assertRaises((OSError, EOFError)):
                poll([cut, Peer.CLOSE])

    def test_an_exchange_does_not_take_the_reply_of_a_poll_for_its_own(self):
        async def main():
            peer = await Peer(reply(NEWS), reply(b"mine")).start()
            http = Http(yields=True)
            await http.open("POST", peer.url, [], 5)
            self.assertEqual(await http.poll(b"", QUIET, 5), False)
            found = await http.exchange("GET", peer.url, [], None, whole, 5)
            await http.close()
            await peer.stop()
            return found

        self.assertEqual(run(main()), (200, "mine"))

    def test_somebody_who_needs_the_semaphore_ends_it(self):
        async def main():
            peer = await Peer([Peer.STALL]).start()
            http = Http(yields=True)
            await http.open("POST", peer.url, [], 5)
            task = asyncio.create_task(http.poll(b"", QUIET, 20))
            while not peer.requests:
                await asyncio.sleep(0)
            await http.give_way(False)
            try:
                await task
            except Yielded:
                return http.stream is None
            finally:
                await peer.stop()

        self.assertTrue(run(main()))

    def test_a_server_that_says_nothing_has_so_long(self):
        async def main():
            peer = await Peer([Peer.STALL]).start()
            http = Http(yields=True)
            await http.open("POST", peer.url, [], 5)
            try:
                await http.poll(b"", QUIET, 0.05)
            except asyncio.TimeoutError:
                return http.stream is None
            finally:
                await peer.stop()

        self.assertTrue(run(main()))


if __name__ == "__main__":
    unittest.main()
