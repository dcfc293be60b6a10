# The parser of requests to the page, the checks of their heads, and the sessions.
import json
import unittest

from support import run, temp_folder, write_bytes
from tenner.agent.message_queue import Queue
from tenner.page import access, conversation, request
from tenner.page.access import Access, TooManyTries
from tenner.page.request import GUEST, Refused
from tenner.store import files

GOOD = (
    b"GET /api/v1/now?hours=2&name=a%20b&name=c+d HTTP/1.1\r\n"
    b"Host: 10.0.0.7:8767\r\nX-A:  b \r\n\r\n"
)


class Pieces:
    """A connection that brings its data in pieces of a size, then its end."""

    def __init__(self, data, size=1000000):
        self.data = data
        self.size = size

    async def read(self, count):
        count = min(count, self.size)
        piece, self.data = self.data[:count], self.data[count:]
        return piece


def whole(data, size=1000000):
    """Read a request with its body."""

    async def read():
        connection = Pieces(data, size)
        found = await request.read_head(connection)
        if found:
            await request.read_body(connection, found, request.body_size(found))
        return found

    return run(read())


class TestParser(unittest.TestCase):
    def refused(self, data, status):
        with self.assertRaises(Refused) as caught:
            whole(data)
        self.assertEqual(caught.exception.status, status, data[:80])

    def test_a_request_in_pieces_of_every_size(self):
        data = b"PUT /x HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello more"
        for size in range(1, len(data) + 1):
            found = whole(data, size)
            self.assertEqual((found.method, found.path), ("PUT", "/x"))
            self.assertEqual(found.headers, {"host": "a", "content-length": "5"})
            self.assertEqual(found.body, b"hello")

    def test_the_query_is_decoded_and_the_path_is_not(self):
        found = whole(GOOD)
        self.assertEqual(found.path, "/api/v1/now")
        self.assertEqual(found.asked("hours"), ["2"])
        self.assertEqual(found.asked("name"), ["a b", "c d"])
        self.assertEqual(found.asked("other"), [])
        self.assertEqual(found.headers["x-a"], "b")
        self.assertEqual(whole(b"GET /%2e%2e/a HTTP/1.1\r\n\r\n").path, "/%2e%2e/a")
        for wrong in (b"%", b"%4", b"%zz", b"%ff"):
            found = whole(b"GET /?a=" + wrong + b" HTTP/1.1\r\n\r\n")
            with self.assertRaises(Refused):
                found.asked("a")

    def test_nothing_at_all_is_no_request(self):
        self.assertEqual(whole(b""), None)

    def test_the_end_in_the_middle_is_refused(self):
        data = b"POST /x HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc"
        for end in range(1, len(data)):
            self.refused(data[:end], 400)

    def test_first_lines_that_are_none(self):
        for line in (
            b"GET /",
            b"GET  / HTTP/1.1",
            b"GET / HTTP/1.1 x",
            b"GET / HTTP/2",
            b"G(T / HTTP/1.1",
            b" / HTTP/1.1",
            b"GET http://a/ HTTP/1.1",
            b"GET /\x00 HTTP/1.1",
            b"GET /\xff HTTP/1.1",
            b"GET /\t HTTP/1.1",
            b"GET * HTTP/1.1",
            b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
            b"GET / HTTP/1.1\nHost: a",
        ):
            self.refused(line + b"\r\n\r\n", 400)

    def test_headers_that_two_programs_read_differently(self):
        for line in (
            b"no colon",
            b"Content-Length : 3",
            b" folded: a",
            b": a",
            b"A: b\nC: d",
            b"A: b\rC: d",
            b"A: b\x00",
            b"A: \x7f",
            b"A: \xe9",
            b"Host: a\r\nhost: b",
            b"Content-Length: 3\r\nContent-Length: 4",
        ):
            self.refused(b"GET / HTTP/1.1\r\n" + line + b"\r\n\r\n", 400)

    def test_heads_and_bodies_are_bounded(self):
        self.refused(b"GET / HTTP/1.1\r\nA: " + b"x" * 9000, 431)
        self.refused(b"GET /" + b"x" * 9000 + b" HTTP/1.1\r\n\r\n", 431)
        self.refused(
            b"GET / HTTP/1.1\r\n" + b"".join([b"A%d: b\r\n" % n for n in range(65)]) + b"\r\n", 431
        )
        for length, status in (
            (b"65537", 413),
            (b"9" * 30, 413),
            (b"-1", 400),
            (b"+1", 400),
            (b"1.0", 400),
            (b"0x10", 400),
            (b"", 400),
            (b"1, 1", 400),
        ):
            self.refused(b"POST / HTTP/1.1\r\nContent-Length: " + length + b"\r\n\r\n", status)
        self.refused(b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 411)

    def test_bodies_that_are_no_object_with_a_text(self):
        def text(body, kind="application/json; charset=utf-8"):
            made = request.Request("POST", "/", "", {"content-type": kind})
            made.body = body
            return made.text("text", 4)

        self.assertEqual(text(b'{"text": "a\\n\xc3\xa9"}'), "a\n\u00e9")
        for body in (
            b"",
            b"{",
            b"[]",
            b"1" * 5000,
            b"[" * 60000,
            b"\xff\xfe",
            b'{"text": 5}',
            b'{"text": "12345"}',
            b'{"text": "\\u0003"}',
            b'{"text": "\\u202e"}',
        ):
            with self.assertRaises(Refused) as caught:
                text(body)
            self.assertEqual(caught.exception.status, 400)
        with self.assertRaises(Refused):
            text(b'{"text": "a"}', "text/plain")

    def test_cookies(self):
        made = request.Request("GET", "/", "", {"cookie": "a=1; tenner_session=xy=z;b=2"})
        self.assertEqual(made.cookie("tenner_session"), "xy=z")
        self.assertEqual(made.cookie("session"), "")


class TestGuard(unittest.TestCase):
    def status(self, headers, is_secure=False):
        made = {"host": "127.0.0.1:8767"}
        made.update(headers)
        try:
            request.check(request.Request("GET", "/", "", made), is_secure, ["kitchen.local"])
        except Refused as error:
            return error.status
        return None

    def test_only_names_of_this_board_and_addresses(self):
        for host in (
            "127.0.0.1:8767",
            "LOCALHOST:8767",
            "localhost",
            "192.168.1.5:8767",
            "[::1]:8767",
            "[fe80::1]",
            "Kitchen.Local:8767",
        ):
            self.assertEqual(self.status({"host": host}), None, host)
        for host in (
            "",
            "evil.example",
            "evil.example:8767",
            "127.0.0.1.evil.example:8767",
            "127.0.0.1:8767.evil.example",
            "kitchen.local.evil.example",
            "1.2.3",
            "1.2.3.4.5",
            "1.2.3.256",
            "1.2.3.",
            "2130706433",
            "[evil.example]",
            "[::1",
            "a@127.0.0.1",
        ):
            self.assertEqual(self.status({"host": host}), 421, host)

    def test_only_pages_of_this_server(self):
        self.assertEqual(self.status({"origin": "http://127.0.0.1:8767"}), None)
        self.assertEqual(self.status({"origin": "https://127.0.0.1:8767"}, True), None)
        for origin in (
            "http://evil.example",
            "http://127.0.0.1:3000",
            "http://127.0.0.1",
            "https://127.0.0.1:8767",
            "http://localhost:8767",
            "null",
            "",
        ):
            self.assertEqual(self.status({"origin": origin}), 403, origin)
        for site in ("cross-site", "same-site"):
            self.assertEqual(self.status({"sec-fetch-site": site}), 403)
        for site in ("none", "same-origin"):
            self.assertEqual(self.status({"sec-fetch-site": site}), None)


class TestAccess(unittest.TestCase):
    def setUp(self):
        self.now = 1000
        self.state = temp_folder(self)

    def door(self):
        return Access(self.state, lambda: self.now)

    def test_a_code_serves_once_and_for_ten_minutes(self):
        door = self.door()
        self.assertEqual(door.pair(""), None)
        code = door.offer()
        session, token = door.pair(" %s-%s " % (code[:5].upper(), code[5:]))
        self.assertTrue(door.allows(session, token))
        self.assertEqual(door.pair(code), None)
        code = door.offer()
        self.now += 601
        self.assertEqual(door.pair(code), None)
        old = door.offer()
        door.offer()
        self.assertEqual(door.pair(old), None)

    def test_a_session_needs_both_of_its_halves(self):
        door = self.door()
        one = door.pair(door.offer())
        two = door.pair(door.offer())
        for halves in (
            (one[0], ""),
            ("", one[1]),
            (one[0], two[1]),
            ("", ""),
            (one[0] + " ", one[1]),
        ):
            self.assertFalse(door.allows(*halves))
        door.end(*one)
        self.assertFalse(door.allows(*one))
        self.assertTrue(door.allows(*two))

    def test_sessions_outlive_a_restart_and_the_file_lets_nobody_in(self):
        door = self.door()
        one = door.pair(door.offer())
        self.assertTrue(self.door().allows(*one))
        with open(self.state + "/browsers.json") as file:
            text = file.read()
        self.assertFalse(one[0] in text or one[1] in text)
        self.assertFalse(self.door().allows(json.loads(text)[0], json.loads(text)[0]))
        write_bytes(self.state + "/browsers.json", b'["x", 5')
        self.assertFalse(self.door().allows(*one))

    def test_a_guest_stays_one(self):
        door = self.door()
        code = door.offer(True)
        self.assertTrue(code.startswith(GUEST))
        self.assertEqual(door.pair(code[len(GUEST) :]), None)
        session, token = door.pair(code)
        owner = door.pair(door.offer())
        self.assertEqual(
            [one[0].startswith(GUEST) for one in ((session, token), owner)], [True, False]
        )
        for known in (door, self.door()):
            self.assertTrue(known.allows(session, token))
            # Neither without the mark nor with another's half.
            for halves in ((session[len(GUEST) :], token), (owner[0], token), (session, owner[1])):
                self.assertFalse(known.allows(*halves))

    def test_an_unused_session_ends(self):
        door = self.door()
        one = door.pair(door.offer())
        self.now += 7 * 86400
        self.assertTrue(door.allows(*one))
        self.now += 7 * 86400 + 1
        self.assertFalse(door.allows(*one))
        self.assertFalse(self.door().allows(*one))

    def test_wrong_codes_are_slowed_down(self):
        door = self.door()
        code = door.offer()
        for _ in range(access.TRIES):
            self.assertEqual(door.pair("aaaa"), None)
        for _ in range(10):
            with self.assertRaises(TooManyTries) as caught:
                door.pair("aaaa")
        self.assertTrue(0 < caught.exception.args[0] <= access.A_TRY_S)
        # A stranger's wrong codes do not lock the owner out.
        self.assertTrue(door.pair(code))
        self.assertEqual(door.pair("aaaa"), None)

    def test_sessions_are_bounded_and_the_least_used_one_goes(self):
        door = self.door()
        pairs = []
        for _ in range(access.MAX_SESSIONS):
            self.now += 1
            pairs.append(door.pair(door.offer()))
        self.now += 1
        self.assertTrue(door.allows(*pairs[0]))
        pairs.append(door.pair(door.offer()))
        self.assertEqual([door.allows(*one) for one in pairs].count(False), 1)
        self.assertFalse(door.allows(*pairs[1]))


class TestFullFlash(unittest.TestCase):
    def test_words_that_flash_refuses_are_no_message(self):
        class Page:
            name, chat, count, waits = "page", "owner", None, False

        class Clock:
            now = staticmethod(lambda: 0)

        class App:
            clock = Clock
            state = temp_folder(self)
            inbox = Queue(1)

        Page.app = App

        def full(file, piece):
            raise OSError(28)

        put, files.put = files.put, full
        try:
            with self.assertRaises(Refused) as caught:
                conversation.say(Page, "hello")
        finally:
            files.put = put
        self.assertEqual((caught.exception.status, len(App.inbox), Page.waits), (507, 0, False))
        conversation.say(Page, "hello")
        self.assertEqual((len(App.inbox), Page.waits), (1, True))
        Page.waits = False
        with self.assertRaises(Refused) as caught:
            conversation.say(Page, "more")
        self.assertEqual((caught.exception.status, Page.count), (503, 1))


if __name__ == "__main__":
    unittest.main()
