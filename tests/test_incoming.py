# The file of a person's message: fetched to flash, of a known type, and gone after the turn.
import os
import unittest

from channels_fakes import Bench, FakeResponse, refusal
from support import read_bytes, run, temp_folder
from tenner.agent.message_queue import Message
from tenner.channels import incoming
from tenner.store import files

JPEG = b"\xff\xd8\xff\xe0" + bytes(range(256)) * 9


class Api:
    """Telegram's side: one file, whose reply comes in pieces of `piece` bytes."""

    def __init__(self, data=JPEG, size=None, piece=300):
        self.data = data
        self.size = len(data) if size is None else size
        self.piece = piece
        self.place = b"photos/f.jpg"
        self.plan = None
        self.urls = []
        self.status = 200
        self.cut = None  # raised behind the data
        self.closed = 0

    async def exchange(self, method, url, headers, body, consume, timeout_s, phases=None):
        self.urls.append((method, url))
        if url.endswith("/getFile"):
            reply = b'{"ok":true,"result":{"file_id":"f","file_size":%d,"file_path":"%s"}}'
            status, data = self.plan or (200, reply % (self.size, self.place))
            if isinstance(status, Exception):
                raise status
            return await consume(FakeResponse(status, data, self.piece, {}))
        response = FakeResponse(self.status, self.data, self.piece, {})
        if self.cut:
            whole = response.readinto

            async def readinto(buf):
                count = await whole(buf)
                if not count:
                    raise self.cut
                return count

            response.readinto = readinto
        return await consume(response)

    async def close(self):
        self.closed += 1


class App:
    def __init__(self, state, api, photo_kb=8):
        self.state = state
        self.telegram = Bench(photo_kb=photo_kb).bot
        self.config = self.telegram.config
        self.api = api
        self.replies = []

    def http(self):
        return self.api

    def reply(self, message, text, failed=False, lines=()):
        self.replies.append((text, failed))


class TestIncoming(unittest.TestCase):
    def setUp(self):
        self.state = temp_folder(self)

    def fetch(self, api, size=0, **options):
        app = App(self.state, api, **options)
        message = Message("telegram", "1000", "[a photo]\n", "1000")
        message.file = ("photo", "f", size)
        taken = run(incoming.fetch(app, message))
        self.assertEqual(api.closed, 1)
        self.assertEqual(taken, not app.replies)
        self.assertEqual(taken, message.image is not None)
        return message.image if taken else app.replies[0][0]

    def test_a_picture_comes_to_flash(self):
        for piece in (1, 2, 11, 511, 512, 4000):
            api = Api(piece=piece)
            kind, path = self.fetch(api)
            self.assertEqual(kind, "image/jpeg")
            self.assertEqual(read_bytes(path), JPEG)
        self.assertEqual(
            api.urls,
            [
                ("POST", "https://api.telegram.org/bot77:secret-token/getFile"),
                ("GET", "https://api.telegram.org/file/bot77:secret-token/photos/f.jpg"),
            ],
        )

    def test_it_is_gone_after_the_turn_and_after_a_restart(self):
        app = App(self.state, Api())
        _, path = self.fetch(app.api)
        # The ending of files that the next start removes.
        self.assertTrue(path.endswith(files.TEMP))
        run(incoming.clear(app))
        self.assertEqual(os.listdir(self.state), [])
        run(incoming.clear(app))

    def test_the_types_by_the_first_bytes(self):
        for data, kind in (
            (b"\x89PNG\r\n\x1a\n" + bytes(9), "image/png"),
            (b"GIF89a" + bytes(9), "image/gif"),
            (b"RIFF\0\0\0\0WEBPVP8 ", "image/webp"),
            (b"\xff\xd8\xff", "image/jpeg"),
        ):
            self.assertEqual(self.fetch(Api(data))[0], kind)
        for data in (
            b"RIFF\0\0\0\0WAVEfmt ",
            b"<svg>",
            b"%PDF-1.7 and more",
            b"\xff\xd8",
            b"xxxxxxxxWEBP",
        ):
            self.assertTrue("JPEG, PNG, WebP and GIF only" in self.fetch(Api(data)))

    def test_a_file_that_is_too_big(self):
        text = "This photo has over 8 KB (telegram.photo_kb): send a smaller one."
        self.assertEqual(self.fetch(Api(size=9000)), text)
        # A server that names no size, or a wrong one.
        for size in (0, 100):
            self.assertEqual(self.fetch(Api(JPEG * 5, size=size)), text)

    def test_a_download_that_breaks_off(self):
        api = Api()
        for cut in (OSError(104), EOFError("the reply was cut off")):
            api = Api(JPEG[:700], size=len(JPEG))
            api.cut = cut
            text = self.fetch(api)
            self.assertTrue(text.startswith("I could not fetch this photo ("), text)
            self.assertTrue(text.endswith("): please send it again."), text)
        # A cut that looks like a clean end.
        text = self.fetch(Api(JPEG[:700], size=len(JPEG)))
        self.assertTrue("the file was cut off" in text, text)
        self.assertTrue("was cut off" in self.fetch(Api(b"", size=0)))

    def test_what_telegram_refuses(self):
        api = Api()
        api.plan = refusal(400, "Bad Request: file is too big")
        text = self.fetch(api)
        self.assertEqual(
            text,
            "I could not fetch this photo (Telegram answers 400 Bad Request: file is too big): "
            "please send it again.",
        )
        api = Api()
        api.status = 404
        text = self.fetch(api)
        self.assertTrue("Telegram answers 404" in text and "secret" not in text, text)

    def test_a_full_flash(self):
        class Full:
            def statvfs(self, path):
                return (4096, 4096, 100, 17, 17, 0, 0, 0, 0, 255)

        real = incoming.os
        incoming.os = Full()
        try:
            app = App(self.state, Api())
            message = Message("telegram", "1000", "x", "1000")
            message.file = ("photo", "f", 5000)
            self.assertFalse(run(incoming.fetch(app, message)))
            self.assertTrue("no room for this photo" in app.replies[0][0])
            self.assertEqual(app.api.urls, [])
            self.assertEqual(self.fetch(app.api, 4000)[0], "image/jpeg")
        finally:
            incoming.os = real


if __name__ == "__main__":
    unittest.main()
