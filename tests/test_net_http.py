# tenner tests: HTTP exchanges with a server that misbehaves.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio
import gc
import unittest

from net_peer import Peer, reply
from support import run
from tenner.net.http import Http
from tenner.net.http_errors import HttpError
from tenner.net.url import parse_url
from tenner.port.compat import has_input


async def whole(response):
    """Read everything: (status, body)."""
    parts = []
    buf = bytearray(100)
    while True:
        count = await response.readinto(buf)
        if not count:
            return response.status, b"".join(parts)
        parts.append(bytes(buf[:count]))


def exchange(answers, **options):
    """Start a peer, make one exchange for each of `times`, return (results, peer)."""

    async def main():
        peer = await Peer(*answers).start()
        http = Http()
        results = []
        try:
            for _ in range(options.get("times", 1)):
                results.append(
                    await http.exchange(
                        options.get("method", "GET"),
                        peer.url + options.get("path", "/x?y=1"),
                        options.get("headers", []),
                        options.get("body"),
                        options.get("consume", whole),
                        options.get("timeout_s", 10),
                    )
                )
            peer.kept = http.stream is not None
        finally:
            await http.close()
            await peer.stop()
        return results, peer

    return run(main())


CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

# (answer, body, connection may be kept)
GOOD = (
    (reply(b"hello"), b"hello", True),
    (reply(b""), b"", True),
    (b"HTTP/1.1 204 No Content\r\n\r\n", b"", True),
    (b"HTTP/1.1 200\r\nContent-length:  2 \r\n\r\nhi", b"hi", True),
    (b"HTTP/1.1 200 OK\nContent-Length: 2\n\nhi", b"hi", True),
    (
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nLink: x\r\n\r\n" + reply(b"hi"),
        b"hi",
        True,
    ),
    (CHUNKED + b"5\r\nhello\r\n0\r\n\r\n", b"hello", True),
    (CHUNKED + b"0\r\n\r\n", b"", True),
    (CHUNKED + b'5;a=b;c="d"\r\nhello\r\n0;x\r\nTrailer: 1\r\nOther: 2\r\n\r\n', b"hello", True),
    (CHUNKED + b"00A\r\n0123456789\r\n1\r\nx\r\n0000\r\n\r\n", b"0123456789x", True),
    (CHUNKED.replace(b"chunked", b"Chunked") + b"1 \r\na\r\n0\r\n\r\n", b"a", True),
    (reply(b"hi", headers=b"Connection: close\r\n"), b"hi", False),
    (reply(b"hi").replace(b"HTTP/1.1", b"HTTP/1.0"), b"hi", False),
    (reply(b"hi", headers=b"X-Content-Length: 7\r\ncontent-LENGTH:2\r\n"), b"hi", True),
    (reply(b"hi", headers=b"X: 1\nY: 2\r\nConnection: close\n"), b"hi", False),
    (reply(b"hi", headers=b"X-Long: " + b"z" * 5000 + b"\r\n"), b"hi", True),
    (reply(b"hi", headers=b"Content-Length: 2\r\nX-Bytes: \xff\xfe\r\nno colon\r\n"), b"hi", True),
)

BAD = (
    b"SSH-2.0-OpenSSH\r\n",
    b"HTTP/2 200 OK\r\n\r\n",
    b"HTTP/1.1 20x OK\r\n\r\n",
    b"HTTP/1.1\r\n\r\n",
    b"HTTP/1.1 101 Switching Protocols\r\n\r\n",
    b"z" * 3000 + b"\r\n",
    b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nContent-Length: 1e3\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nhii",
    b"HTTP/1.1 200 OK\r\nContent-Length: 9999999999999\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n\r\nx",
    b"HTTP/1.1 200 OK\r\nContent-Length: 2147483648\r\n\r\nx",
    b"HTTP/1.1 200 OK\r\nContent-Length: 4294967297\r\n\r\nx",
    b"HTTP/1.1 200 OK\r\nContent-Length: \xc2\xb2\r\n\r\nhi",
    b"HTTP/1.1 200 OK\r\nContent-Length: +2\r\n\r\nhi",
    b"HTTP/1.1 200 OK\r\nContent-Length: 2\rx\r\n\r\nhi",
    b"HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\nhi",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nLocation: /" + b"z" * 3000 + b"\r\n\r\n",
    b"HTTP/1.1 200 OK\r\n" + b"X-Header: 1\r\n" * 65 + b"\r\n",
    b"HTTP/1.1 200 OK\r\nX: " + b"z" * 40000 + b"\r\n\r\n",
    CHUNKED + b"5\r\nhello!\r\n0\r\n\r\n",
    CHUNKED + b"-1\r\n",
    CHUNKED + b"0x5\r\nhello\r\n",
    CHUNKED + b"\r\n",
    CHUNKED + b"123456789\r\n",
    CHUNKED + b"40000000\r\nx",
    CHUNKED + b"7fffffff\r\nx",
    CHUNKED + b"80000000\r\nx",
    CHUNKED + b"ffffffff\r\nx",
    CHUNKED + b"0\r\n" + b"T: 1\r\n" * 70 + b"\r\n",
)

# Cut anywhere, these are never taken for complete.
CUT = (
    reply(b"hello"),
    CHUNKED + b"5;a\r\nhello\r\n3\r\nabc\r\n0\r\nTrailer: x\r\n\r\n",
)


class TestResponse(unittest.TestCase):
    def test_good_answers(self):
        for answer, body, kept in GOOD:
            with self.subTest(answer=answer[:60]):
                results, peer = exchange([answer])
                self.assertEqual(results[0][1], body)
                self.assertEqual(peer.kept, kept)

    def test_good_answers_split_at_every_byte(self):
        for answer, body, _ in GOOD[5:10]:
            answers = [[answer[:i], answer[i:]] for i in range(1, len(answer))]
            results, peer = exchange(answers, times=len(answers))
            self.assertEqual([result[1] for result in results], [body] * len(answers))
            self.assertEqual(peer.connections, 1)

    def test_bad_answers(self):
        for answer in BAD:
            with self.subTest(answer=answer[:60]):
                with self.assertRaises(HttpError):
                    exchange([[answer, Peer.CLOSE]])

    def test_cut_at_every_byte(self):
        for answer in CUT:
            for place in range(len(answer)):
                with self.subTest(place=place):
                    with self.assertRaises((EOFError, OSError)):
                        exchange([[answer[:place], Peer.CLOSE]])

    def test_body_until_the_connection_ends(self):
        results, peer = exchange([[b"HTTP/1.1 200 OK\r\n\r\nall", b" of it", Peer.CLOSE]])
        self.assertEqual(results[0][1], b"all of it")
        self.assertFalse(peer.kept)

    def test_headers_that_are_kept(self):
        async def consume(response):
            return [response.header(name) for name in ("retry-after", "mcp-session-id", "x-other")]

        answer = reply(b"", headers=b"RETRY-AFTER: 7\r\nMcp-Session-Id:abc \r\nX-Other: 1\r\n")
        self.assertEqual(exchange([answer], consume=consume)[0][0], ["7", "abc", None])

    def test_read_text_is_bounded_and_valid(self):
        async def consume(response):
            return await response.read_text(5)

        self.assertEqual(exchange([reply(b"abc\xff")], consume=consume)[0][0], "abc\ufffd")
        self.assertEqual(exchange([reply(b"abcdefgh")], consume=consume)[0][0], "abcde")


class TestRequest(unittest.TestCase):
    def test_what_is_sent(self):
        _, peer = exchange([reply(b"")], method="POST", headers=[("A", "b c")], body=b"data")
        head, body = peer.requests[0]
        lines = head.split(b"\r\n")
        self.assertEqual(lines[0], b"POST /x?y=1 HTTP/1.1")
        self.assertTrue(b"Host: 127.0.0.1:%d" % peer.port in lines)
        self.assertTrue(b"A: b c" in lines)
        self.assertTrue(b"Content-Length: 4" in lines)
        self.assertEqual(body, b"data")

    def test_no_body(self):
        _, peer = exchange([reply(b"")])
        self.assertFalse(b"Content-Length" in peer.requests[0][0])

    def test_pieces_of_any_size_arrive_as_one(self):
        for sizes in (
            (0,),
            (1,) * 50,
            (511, 1, 1),
            (512,),
            (513, 1023, 1025),
            (3000, 5, 0, 7),
            (512,) * 20,
        ):
            sent = []

            def body(sizes=sizes):
                for number, size in enumerate(sizes):
                    yield bytes((65 + number % 26,)) * size

            sent = b"".join(body())
            _, peer = exchange([reply(b"")], method="POST", body=body)
            self.assertEqual(peer.requests[0][1], sent)

    def test_body_that_changed_is_sent_again(self):
        lengths = [4, 5, 6, 5, 5, 5]

        def body():
            yield b"x" * lengths.pop(0)

        _, peer = exchange([reply(b"ok")], method="POST", body=body)
        self.assertEqual([body for head, body in peer.requests], [b"xxxxx"])
        self.assertEqual(peer.connections, 3)

    def test_body_that_never_stops_changing(self):
        lengths = []

        def body():
            lengths.append(1)
            yield b"x" * len(lengths)

        with self.assertRaises(OSError):
            exchange([reply(b"ok")], method="POST", body=body)
        self.assertEqual(len(lengths), 8)

    def test_forged_headers_are_refused(self):
        for header in (("A", "b\r\nC: d"), ("A", "b\nC: d"), ("A\r\nB", "c"), ("A", "\0")):
            with self.assertRaises(ValueError):
                exchange([], headers=[header])
        with self.assertRaises(ValueError):
            exchange([], path="/a b")
        with self.assertRaises(ValueError):
            exchange([], path="/\r\nX: y")

    def test_a_generator_is_closed_when_the_exchange_fails(self):
        closed = []

        def body():
            try:
                yield b"x" * 2000
                if closed:
                    raise ValueError("the file is broken")
                yield b"x"
            finally:
                closed.append(True)

        with self.assertRaises(ValueError):
            exchange([], method="POST", body=body)
        self.assertEqual(len(closed), 2)

    def test_a_generator_is_closed_when_the_exchange_is_cancelled(self):
        begun, closed = [], []

        def body():
            begun.append(True)
            try:
                for _ in range(2000):
                    yield b"x" * 512
            finally:
                closed.append(True)

        async def main():
            peer = await Peer([Peer.STALL]).start()
            http = Http()
            task = asyncio.create_task(http.exchange("POST", peer.url, [], body, whole, 10))
            while len(begun) < 2:
                await asyncio.sleep(0)
            task.cancel()
            try:
                await task
            except asyncio.CancelledError:
                pass
            await peer.stop()

        run(main())
        self.assertEqual(len(closed), 2)


class TestUrl(unittest.TestCase):
    def test_good_addresses_are_parsed(self):
        for url, expected in (
            ("http://a", ((False, "a", 80), "/")),
            ("HTTPS://Example.org/A?b#c", ((True, "example.org", 443), "/A?b")),
            ("https://a:8443/x:y@z", ((True, "a", 8443), "/x:y@z")),
            ("http://a?q=/", ((False, "a", 80), "/?q=/")),
            ("http://[::1]:81/", ((False, "::1", 81), "/")),
        ):
            self.assertEqual(parse_url(url), expected)

    def test_bad_addresses_are_refused(self):
        for url in (
            "",
            "a",
            "ftp://a/",
            "file:///etc/passwd",
            "//a/",
            "http://",
            "http:///x",
            "http://u:p@a/",
            "https://u@a/",
            "http://a:x/",
            "http://a:0/",
            "http://a:65536/",
            "http://a:-1/",
            "http://a /",
            "http://a/\n",
            "http://a/é",
        ):
            with self.subTest(url=url):
                with self.assertRaises(ValueError):
                    parse_url(url)


class TestConnection(unittest.TestCase):
    def test_is_kept(self):
        results, peer = exchange(
            [reply(b"1"), CHUNKED + b"1\r\n2\r\n0\r\n\r\n", reply(b"3")], times=3
        )
        self.assertEqual([body for status, body in results], [b"1", b"2", b"3"])
        self.assertEqual(peer.connections, 1)

    def test_is_kept_when_the_reader_had_enough(self):
        async def consume(response):
            buf = bytearray(3)
            await response.readinto(buf)
            return bytes(buf)

        answers = [[CHUNKED + b"3\r\nabc\r\n", b"0\r\n\r\n"], reply(b"def")]
        results, peer = exchange(answers, times=2, consume=consume)
        self.assertEqual(results, [b"abc", b"def"])
        self.assertEqual(peer.connections, 1)

    def test_is_not_kept_with_much_left_to_read(self):
        async def consume(response):
            return response.status

        _, peer = exchange([reply(b"x" * 5000), reply(b"")], times=2, consume=consume)
        self.assertEqual(peer.connections, 2)

    def test_found_dead_is_reopened_once(self):
        results, peer = exchange([[reply(b"1"), Peer.CLOSE], reply(b"2")], times=2)
        self.assertEqual([body for status, body in results], [b"1", b"2"])
        self.assertEqual(peer.connections, 2)
        with self.assertRaises((OSError, EOFError)):
            exchange([[reply(b"1"), Peer.CLOSE], Peer.CLOSE, reply(b"2")], times=2)

    def test_a_post_whose_answer_never_came_is_not_sent_again(self):
        """The server closes a kept connection when it has the request: it may have carried it
        out."""

        def pieces():
            yield b"x" * 512
            yield b"y"

        for method, repeats, count in (("GET", False, 3), ("POST", True, 3), ("POST", False, 2)):
            for body in (None, b"x" * 20, b"x" * 5000, pieces):
                self.assertEqual(run(self.dies(method, body, repeats)), count, (method, repeats))

    async def dies(self, method, body, repeats):
        peer = await Peer(reply(b"1"), Peer.CLOSE, reply(b"2")).start()
        http = Http()
        results = []
        try:
            for _ in range(2):
                more = (body, whole, 10, repeats)
                results.append((await http.exchange(method, peer.url, [], *more))[1])
        except (OSError, EOFError):
            results.append(None)
            self.assertTrue(http.is_sent)
        finally:
            await http.close()
            await peer.stop()
        count = len(peer.requests)
        self.assertEqual(results, [b"1", b"2" if count == 3 else None])
        return count

    def test_what_comes_on_an_idle_connection_is_no_answer(self):
        forged = reply(b"forged")

        async def main(late):
            peer = await Peer([reply(b"1"), Peer.STALL], reply(b"2")).start()
            http = Http()
            try:
                await http.exchange("GET", peer.url, [], None, whole, 10)
                for writer in peer.writers:
                    writer.write(late)
                    await writer.drain()
                while not has_input(http.stream):
                    await asyncio.sleep(0)
                result = await http.exchange("POST", peer.url, [], b"x", whole, 10)
            finally:
                await http.close()
                await peer.stop()
            self.assertEqual(result, (200, b"2"))
            self.assertEqual([peer.connections, len(peer.requests)], [2, 2])

        for late in (forged, forged[:1], b"\r\n", b"\0"):
            run(main(late))

    def test_that_died_in_an_answer_is_not_asked_again(self):
        with self.assertRaises((OSError, EOFError)):
            exchange([reply(b"1"), [b"HTTP", Peer.CLOSE], reply(b"2")], times=2)

    def test_a_new_one_that_is_closed_is_an_error(self):
        with self.assertRaises((OSError, EOFError)):
            exchange([Peer.CLOSE, reply(b"2")])

    def test_bytes_after_the_answer_end_it(self):
        _, peer = exchange([reply(b"1") + b"HTTP/1.1 200 OK\r\n", reply(b"2")], times=2)
        self.assertEqual(peer.connections, 2)

    def test_a_refused_connection_is_an_error_and_nothing_was_sent(self):
        for body in (None, b"x", b"x" * 5000):
            http = Http()
            with self.assertRaises(OSError):
                run(http.exchange("POST", "http://127.0.0.1:1/", [], body, whole, 5))
            self.assertFalse(http.is_sent)

    def test_https_without_certificates_sends_nothing(self):
        async def main():
            await Http().exchange("GET", "https://127.0.0.1:1/", [], None, whole, 5)

        with self.assertRaises(HttpError):
            run(main())


class TestEnd(unittest.TestCase):
    def end(self, answer, act):
        """Run `act(task)` once the server has the request; return its result, and the peer."""

        async def main(timeout_s):
            peer = await Peer(answer).start()
            http = Http()
            task = asyncio.create_task(http.exchange("GET", peer.url, [], None, whole, timeout_s))
            while not peer.requests and not task.done():
                await asyncio.sleep(0)
            if act:
                act(task)
            try:
                await task
                error = None
            except BaseException as caught:
                error = caught
            self.assertTrue(http.stream is None)
            if peer.requests:
                await asyncio.wait_for(peer.closed.wait(), 5)
                self.assertEqual(peer.open, 0)
            await peer.stop()
            return error, peer.requests

        # On a slow machine the shortest deadline strikes before the server has the request, and
        # shows nothing.
        for timeout_s in (10,) if act else (0.05, 1, 10):
            error, came = run(main(timeout_s))
            if came:
                return error
        raise AssertionError("the server got no request within 10 s")

    def test_deadline_closes_the_socket(self):
        for answer in (
            [Peer.STALL],
            [b"HTTP/1.1 200 OK\r\n", Peer.STALL],
            [reply(b"abc")[:-1], Peer.STALL],
        ):
            self.assertTrue(isinstance(self.end(answer, None), asyncio.TimeoutError))

    def test_cancelling_closes_the_socket_and_is_passed_on(self):
        error = self.end([Peer.STALL], lambda task: task.cancel())
        self.assertTrue(isinstance(error, asyncio.CancelledError))

    def test_an_error_of_the_reader_closes_the_socket(self):
        async def consume(response):
            raise KeyError("mine")

        with self.assertRaises(KeyError):
            exchange([reply(b"abc")], consume=consume)

    def test_one_exchange_at_a_time(self):
        async def main():
            peer = await Peer([Peer.STALL]).start()
            http = Http()
            task = asyncio.create_task(http.exchange("GET", peer.url, [], None, whole, 10))
            while not peer.requests:
                await asyncio.sleep(0)
            with self.assertRaises(RuntimeError):
                await http.exchange("GET", peer.url, [], None, whole, 10)
            task.cancel()
            try:
                await task
            except asyncio.CancelledError:
                pass
            await peer.stop()

        run(main())


_SIZE = 40000


class TestKnownServer(unittest.TestCase):
    def test_an_address_leads_to_the_same_whatever_was_asked_before(self):
        """The beginning of the last address is known; nothing else of the next one may be taken
        for it."""
        urls = (
            "http://a.com/x",
            "http://a.com/y#z",
            "http://a.comb/x",
            "http://a.comb",
            "http://a.com?q/r",
            "http://a.com?q/s",
            "http://a.com",
            "http://a.com:80/",
            "http://A.com/x?y=/z",
            "https://a.com/x",
            "https://b/",
            "http://b/x",
            "http://[::1]/x",
            "http://[::1]:8080/x",
        )
        asked = []

        class Asked(Http):
            async def _exchange(self, origin):
                asked.append((origin, self.work[0].split(b" ")[1].decode()))

        async def main():
            for first in urls:
                for second in urls:
                    http = Asked()
                    for url in (first, second):
                        await http.exchange("GET", url, [], None, None, 10)
                        self.assertEqual(asked[-1], parse_url(url), (first, second))

        run(main())

    def test_what_no_request_may_hold_is_refused_after_a_good_address_too(self):
        for wrong in (
            "",
            "/x",
            "a.com/x",
            "http://a.com/x y",
            "http://a.com/\r\nX: y",
            "http://a.com/\u00e9",
        ):
            for known in (("", None), ("http://a.com", (False, "a.com", 80))):
                http = Http()
                http._known = known
                with self.assertRaises(ValueError):
                    run(http.exchange("GET", wrong, [], None, whole, 10))


@unittest.skipUnless(hasattr(gc, "mem_alloc"), "CPython counts references")
class TestAfterwards(unittest.TestCase):
    def test_an_ended_exchange_keeps_nothing_alive(self):
        tasks = []

        async def once(http, url):
            sent, kept = bytearray(_SIZE), bytearray(_SIZE)

            async def consume(response):
                # As the queue of asyncio does for a while.
                tasks.append(http._task)
                await whole(response)
                return kept

            def body():
                yield bytes(sent[:9])

            self.assertEqual(len(await http.exchange("POST", url, [], body, consume, 10)), _SIZE)

        async def main():
            peer = await Peer(*[reply(b"hello")] * 3).start()
            gc.collect()
            before = gc.mem_alloc()
            http = Http()
            for _ in range(3):
                await once(http, peer.url)
            gc.collect()
            self.assertTrue(gc.mem_alloc() - before < _SIZE, gc.mem_alloc() - before)
            http.kept = bytearray(_SIZE)
            await http.close()
            http = None
            gc.collect()
            self.assertTrue(gc.mem_alloc() - before < _SIZE, gc.mem_alloc() - before)
            await peer.stop()

        run(main())


if __name__ == "__main__":
    unittest.main()
