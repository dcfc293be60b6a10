# The server of the page on a real socket: slow and sleeping clients, and those that leave.
import asyncio
import json
import os
import unittest

from support import run, temp_folder
from tenner import log, overlay
from tenner.agent.message_queue import Queue
from tenner.page import chip
from tenner.page.channel import Page
from tenner.page.connection import Connection
from tenner.page.request import Refused
from tenner.page.server import Server

LIMIT_S = 30


class App:
    """The parts of the agent that the requests of this file need."""

    def __init__(self, state):
        self.state = state
        self.clock = self
        self.inbox = Queue(2)

        #: The names of web.hosts.
        self.config = {"web.hosts": ()}

    def mono_s(self):
        return 1000

    now = mono_s


class Browser:
    """A connection to the server."""

    def __init__(self, reader, writer):
        self.reader = reader
        self.writer = writer

    async def send(self, text):
        self.writer.write(text.encode())
        await self.writer.drain()

    async def read(self):
        """Return an answer, or all up to the end of the connection; "" for one that was cut
        off."""
        data = b""
        try:
            while not self.is_whole(data):
                block = await asyncio.wait_for(self.reader.read(1024), LIMIT_S)
                if not block:
                    break
                data += block
        except OSError:
            pass
        return data.decode()

    def is_whole(self, data):
        head, found, body = data.partition(b"\r\n\r\n")
        length = head.partition(b"Content-Length: ")[2].partition(b"\r\n")[0]
        return found and length and len(body) >= int(length)

    async def close(self):
        if hasattr(self.writer, "transport"):
            self.writer.transport.abort()
        else:
            await self.writer.wait_closed()


class Case(unittest.TestCase):
    def serve(self, check, **limits):
        """Run `check(self)` while a server with these limits runs."""
        write = log.write
        self.addCleanup(lambda: setattr(log, "write", write))
        log.write = lambda line: None

        async def work():
            self.page = Page(App(temp_folder(self)), None)
            self.server = Server(self.page, False, [])
            for name in limits:
                setattr(self.server, name, limits[name])
            for _ in range(50):
                self.port = 20000 + int.from_bytes(os.urandom(2), "big") % 40000
                try:
                    listening = await asyncio.start_server(
                        self.accept, "127.0.0.1", self.port, backlog=50
                    )
                    break
                except OSError:
                    continue
            try:
                await check()
            finally:
                listening.close()

        run(work())

    async def accept(self, reader, writer):
        await self.server.serve(reader, writer)

    async def browser(self, text=""):
        made = Browser(*await asyncio.open_connection("127.0.0.1", self.port))
        if text:
            await made.send(text)
        return made

    async def ask(self, text):
        """Send a request and return (status, the JSON of the answer)."""
        browser = await self.browser(text)
        answer = await browser.read()
        await browser.close()
        head, _, body = answer.partition("\r\n\r\n")
        return int(head.split(" ")[1]), json.loads(body)

    def get(self, path, **headers):
        lines = ["GET %s HTTP/1.1" % path, "Host: localhost"]
        lines += ["%s: %s" % (name.replace("_", "-"), headers[name]) for name in headers]
        return "\r\n".join(lines) + "\r\n\r\n"

    async def reach(self, is_so):
        for _ in range(LIMIT_S * 100):
            if is_so():
                return
            await asyncio.sleep(0.01)
        self.fail("%d connections are open" % self.server.open)

    async def quiet(self):
        """Wait until the server has no connection any more."""
        await self.reach(lambda: not self.server.open)

    def be_quiet(self):
        """Streams say nothing while there is no event, so that no write notices a closed one."""
        wait = self.page.events.wait
        self.page.events.wait = lambda number, limit_s, woken: wait(number, 1000, woken)

    def paired(self, is_guest=False):
        session, token = self.page.access.pair(self.page.access.offer(is_guest))
        return {"Cookie": "tenner_session=" + session, "X_Tenner_Token": token}


class TestServer(Case):
    def test_a_request_is_answered_and_its_connection_closed(self):
        async def check():
            self.assertEqual((await self.ask(self.get("/api/v1/chat")))[0], 401)
            status, found = await self.ask(self.get("/api/v1/chat", **self.paired()))
            self.assertEqual((status, found["messages"]), (200, []))
            await self.quiet()

        self.serve(check)

    def test_a_wrong_request_is_a_sentence(self):
        async def check():
            for text, expected in (
                ("GARBAGE\r\n\r\n", 400),
                (self.get("/api/v1/chat").replace("localhost", "evil.example"), 421),
                (self.get("/api/v1/chat", Origin="http://evil.example"), 403),
                (self.get("/" + "x" * 9000), 431),
                (self.get("/api/v1/chat", Content_Length="70000"), 413),
                (self.get("/api/v1/chat", Transfer_Encoding="chunked"), 411),
                (self.get("/api/v1/nothing"), 404),
                (self.get("/api/v1/pair"), 405),
            ):
                status, found = await self.ask(text)
                self.assertEqual((status, list(found)), (expected, ["error"]), text[:60])
            await self.quiet()

        self.serve(check)

    def test_one_who_sends_no_request_is_cut_off(self):
        async def check():
            self.assertEqual(await (await self.browser()).read(), "")
            half = await self.browser("GET / HTTP/1.1\r\nHost: lo")
            self.assertTrue(" 408 " in await half.read())
            slow = self.get("/api/v1/chat", Content_Length="10", **self.paired())
            slow = await self.browser(slow)
            self.assertTrue(" 408 " in await slow.read())
            await self.quiet()

        self.serve(check, read_s=0.1)

    def test_sleepers_keep_nobody_out(self):
        async def check():
            sleepers = []
            for number in range(20):
                sleepers.append(await self.browser("GET / HT" * (number % 2)))
            for _ in range(20):
                self.assertEqual((await self.ask(self.get("/api/v1/chat")))[0], 401)
                # Room for the next one is made at the cost of the oldest.
                sleepers.append(await self.browser())
            self.assertTrue(self.server.open <= 6, self.server.open)
            for one in sleepers:
                await one.close()
            await self.quiet()

        self.serve(check, connections=4, read_s=LIMIT_S)

    def flood(self, text, count=60, connections=6):
        """Strangers send `text` and go on waiting; the owner is answered all the while."""

        async def check():
            headers = self.paired()
            self.be_quiet()
            stream = await self.browser(self.get("/api/v1/events", **headers))
            await stream.reader.read(15)
            strangers = []
            for number in range(count):
                strangers.append(await self.browser(text))
                if not number % 10:
                    status, _ = await self.ask(self.get("/api/v1/chat", **headers))
                    self.assertEqual(status, 200)
                    code = '{"code": "%s"}' % self.page.access.offer()
                    status, _ = await self.ask(self.post("/api/v1/pair", code))
                    self.assertEqual(status, 200)
            # Those that are cut off have yet to end.
            await self.reach(lambda: self.server.open <= connections)
            self.assertEqual(self.page.streams, 1)
            for one in strangers + [stream]:
                await one.close()
            await self.quiet()

        self.serve(check, connections=connections, read_s=LIMIT_S)

    def post(self, path, body):
        return (
            "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            "Content-Length: %d\r\n\r\n%s" % (path, len(body), body)
        )

    def test_a_head_without_its_body_keeps_nobody_out(self):
        head = "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: 900\r\n\r\n"
        self.flood(head % "/api/v1/pair")
        self.flood(head % "/api/v1/settings")
        self.flood(head % "/api/v1/pair" + '{"code": ')
        self.flood((head % "/api/v1/pair").replace("900", "60000"))

    def test_many_requests_in_one_keep_nobody_out(self):
        self.flood(self.get("/api/v1/chat") * 20)
        self.flood(self.post("/api/v1/pair", '{"code": "aaaa"}') * 5)

    def test_a_stranger_has_no_long_body(self):
        async def check():
            status, found = await self.ask(self.post("/api/v1/pair", "x" * 1025))
            self.assertEqual((status, list(found)), (413, ["error"]))
            status, _ = await self.ask(self.post("/api/v1/chat", "x" * 900))
            self.assertEqual(status, 401)
            await self.quiet()

        self.serve(check)

    def test_the_address_with_the_most_strangers_makes_room(self):
        cut = []

        class Task:
            def __init__(self, name):
                self.name = name

            def cancel(self):
                cut.append(self.name)

        async def check():
            self.server._strangers = [
                ["10.0.0.5", Task("owner"), None], ["10.0.0.6", Task("first"), None],
                ["10.0.0.6", Task("second"), None],
            ]  # fmt: skip
            new = ["10.0.0.5", Task("new"), None]
            self.server._strangers.insert(0, new)
            self.server._strangers.append(["10.0.0.6", Task("third"), None])
            self.server._make_room(new)
            self.assertEqual(cut, ["first"])
            self.server._strangers = [new]
            with self.assertRaises(OSError):
                self.server._make_room(new)

        self.serve(check)

    def test_one_who_takes_nothing_is_cut_off(self):
        async def check():
            headers = self.paired()
            sleeper = await self.browser(self.get("/api/v1/events", **headers))
            await sleeper.reader.read(15)
            Connection.send_s = 0.1
            while self.page.streams:
                self.page.events.publish("log", {"text": "x" * 5000})
                await asyncio.sleep(0.01)
            # Not before: the limit is too short for a busy machine.
            Connection.send_s = before
            self.assertEqual((await self.ask(self.get("/api/v1/chat", **headers)))[0], 200)
            await self.quiet()
            await sleeper.close()

        before = Connection.send_s
        self.addCleanup(lambda: setattr(Connection, "send_s", before))
        self.serve(check)

    def test_one_who_leaves_is_forgotten(self):
        async def check():
            headers = self.paired()
            self.be_quiet()
            for _ in range(3):
                leaver = await self.browser(self.get("/api/v1/events", **headers))
                await leaver.reader.read(15)
                await leaver.close()
                half = await self.browser("GET /")
                await half.close()
            await self.quiet()
            self.assertEqual(self.page.streams, 0)

        self.serve(check)

    def test_streams_are_bounded(self):
        async def check():
            headers = self.paired()
            self.be_quiet()
            made = []
            for _ in range(8):
                made.append(await self.browser(self.get("/api/v1/events", **headers)))
                await made[-1].reader.read(15)
            self.assertEqual((await self.ask(self.get("/api/v1/events", **headers)))[0], 503)
            # The place of a closed tab is free at once.
            await made.pop(0).close()
            await self.reach(lambda: self.page.streams == 7)
            made.append(await self.browser(self.get("/api/v1/events", **headers)))
            self.assertTrue(" 200 " in (await made[-1].reader.read(15)).decode())
            for one in made:
                await one.close()

        self.serve(check)

    def test_a_new_start_has_a_new_word_for_its_numbers(self):
        words = []

        async def check():
            headers = self.paired()
            for _ in range(2):
                browser = await self.browser(self.get("/api/v1/events", **headers))
                head = ""
                while "\r\n\r\n" not in head:
                    head += (await browser.reader.read(256)).decode()
                words.append(head.partition("Tenner-Start: ")[2].partition("\r\n")[0])
                await browser.close()

        self.serve(check)
        self.serve(check)
        self.assertEqual([len(one) for one in words], [16] * 4)
        self.assertEqual((words[0], words[2]), (words[1], words[3]))
        self.assertNotEqual(words[0], words[2])

    def test_a_stream_goes_on_behind_the_last_event(self):
        async def check():
            headers = self.paired()
            for number in range(400):
                self.page.events.publish("log", {"text": str(number)})
            headers["Last_Event_ID"] = "398"
            browser = await self.browser(self.get("/api/v1/events", **headers))
            text = ""
            while '"text": "399"' not in text:
                text += (await browser.reader.read(1024)).decode()
            self.assertEqual(text.count("data: "), 2)
            await browser.close()

        self.serve(check)

    def test_a_guest_gets_no_line_of_the_log(self):
        async def check():
            headers = self.paired(True)
            for number in range(4):
                kind = "chat" if number == 2 else "log"
                self.page.events.publish(kind, {"text": "event %d" % number})
            headers["Last_Event_ID"] = "0"
            browser = await self.browser(self.get("/api/v1/events", **headers))
            text = ""
            while "event 2" not in text:
                text += (await browser.reader.read(1024)).decode()
            self.page.events.publish("log", {"text": "event 4"})
            self.page.events.publish("chat", {"text": "event 5"})
            while "event 5" not in text:
                text += (await browser.reader.read(1024)).decode()
            self.assertEqual(text.count("data: "), 2)
            await browser.close()

        self.serve(check)


class Both:
    """Reader and writer as one, as on MicroPython."""

    def __init__(self, reader, writer):
        self.read = reader.read
        self.write = writer.write
        self.drain = writer.drain


class TestFaults(Case):
    """An unexpected fault is a sentence and a line of the log, and no lost connection."""

    def asked(self, error, serve=None, name="send_chat"):
        """Return (status, sentence, log) for a request that meets a fault; both None when the
        connection ended in the answer."""
        lines = []
        found = []

        async def fail(*args):
            raise error

        async def fail_late(connection, status):
            await connection.start(status, "application/json")
            raise error

        async def check():
            log.write = lines.append
            headers = self.paired()
            if serve:
                self.server.serve = serve
            if name == "allows":
                self.page.access.allows = lambda *args: 1 // 0
            else:
                self.page.send_chat = fail_late if name == "late" else fail
            browser = await self.browser(self.get("/api/v1/chat", **headers))
            found.append(await browser.read())
            await browser.close()
            await self.quiet()

        self.serve(check)
        head, _, body = found[0].partition("\r\n\r\n")
        status = int(head.split(" ")[1])
        return status, json.loads(body)["error"] if body else "", "\n".join(lines)

    def check_all(self, serve=None):
        status, sentence, lines = self.asked(ValueError("x"), serve)
        self.assertEqual((status, sentence), (500, "the agent has a fault; its log shows it"))
        self.assertTrue("a request of the page failed: ValueError: x" in lines, lines)
        status, sentence, lines = self.asked(OSError(28), serve)
        self.assertEqual(status, 500)
        self.assertTrue(sentence.startswith("a file of the agent cannot be read"), sentence)
        self.assertTrue("28" in sentence and "failed: OSError" in lines, sentence)
        for error in (MemoryError("y"), overlay.OutOfMemory("y")):
            status, sentence, lines = self.asked(error, serve)
            self.assertEqual((status, sentence), (503, "too little memory: try again"))
        self.assertEqual(self.asked(Refused(422, "no such"), serve)[:2], (422, "no such"))
        status, sentence, lines = self.asked(ValueError("x"), serve, "late")
        self.assertEqual((status, sentence), (200, ""))
        self.assertTrue("a request of the page failed: ValueError: x" in lines, lines)
        status, sentence, lines = self.asked(None, serve, "allows")
        self.assertEqual((status, sentence), (500, "the agent has a fault; its log shows it"))
        self.assertTrue("ZeroDivisionError" in lines, lines)

    def test_on_linux(self):
        self.check_all()

    def test_on_a_chip(self):
        async def serve_one(reader, writer):
            try:
                await chip.serve(self.page, Both(reader, writer), [b""])
            finally:
                # close() of MicroPython does nothing.
                writer.close()
                await writer.wait_closed()

        self.check_all(serve_one)


class Lane:
    """A turn of the page's owner, whose answer is being written."""

    text = ""

    def draft(self, who):
        assert who == "page:owner"
        return self.text


class TestChat(Case):
    def test_a_draft_has_no_part_of_a_secret(self):
        async def check():
            page = self.page
            page.app.agent = page.app
            page.app.lane = lane = Lane()
            log.hide("qzx-123456")
            self.assertEqual(page.draft(), None)
            page.say("hello")
            for text, shown in (
                ("", ""),
                ("It is qz", "It is "),
                ("It is qzx-12345", "It is "),
                ("It is qzx-123456", "It is ***"),
                ("It is q: no", "It is q: no"),
                ("q", ""),
            ):
                lane.text = text
                self.assertEqual(page.draft(), shown)
            page.show("owner", "It is.")
            self.assertEqual(page.draft(), None)

        self.serve(check)

    def test_words_become_messages_and_an_answer_ends_the_wait(self):
        async def check():
            page = self.page
            page.say("hello")
            self.assertEqual((await page.app.inbox.get()).channel, "page")
            self.assertTrue(page.as_json()["waiting"])
            page.show("alerts", "It is warm.")
            self.assertTrue(page.as_json()["waiting"])
            page.fail()
            page.show("owner", "no\x1b way")
            found = page.as_json()
            self.assertFalse(found["waiting"])
            self.assertEqual(
                [(one["who"], one["text"], one["failed"]) for one in found["messages"]],
                [
                    ("you", "hello", False),
                    ("agent", "It is warm.", False),
                    ("agent", "no\\x1b way", True),
                ],
            )

        self.serve(check)

    def test_a_question_waits_for_the_answer(self):
        async def check():
            asking = asyncio.create_task(self.page.ask("May I?"))
            await asyncio.sleep(0)
            self.assertEqual(self.page.as_json()["question"], "May I?")
            self.page.answer(True)
            self.assertTrue(await asking)
            self.assertEqual(self.page.as_json()["question"], None)
            self.assertFalse(await self.page.ask("And now?", 0.01))

        self.serve(check)


if __name__ == "__main__":
    unittest.main()
