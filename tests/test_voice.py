# A voice note: its way to a transcription service, and the words that come back.
import asyncio
import unittest

from channels_fakes import FakeResponse, parts_of
from support import run, temp_folder
from tenner.agent.message_queue import Message
from tenner.channels import incoming
from test_incoming import Api, App

SOUND = b"OggS" + bytes(range(256)) * 12 + b"\r\n--tenner\r\n"


class Service(Api):
    """Telegram with a voice note, and the service that transcribes it."""

    def __init__(self, status=200, reply=b'{"text":" Switch the pump on. "}', **more):
        super().__init__(SOUND, **more)
        self.place = b"voice/file_3.oga"
        self.reply = status, reply
        self.error = None
        self.body = b""
        self.headers = {}

    async def exchange(self, method, url, headers, body, consume, timeout_s, phases=None):
        if not url.endswith("/audio/transcriptions"):
            return await super().exchange(method, url, headers, body, consume, timeout_s)
        self.urls.append((method, url))
        self.headers = dict(headers)
        counted = sum([len(piece) for piece in body()])
        self.body = b"".join([bytes(piece) for piece in body()])
        assert counted == len(self.body)
        if self.error:
            raise self.error
        return await consume(FakeResponse(self.reply[0], self.reply[1], self.piece, {}))


class VoiceApp(App):
    def __init__(self, state, api, **settings):
        super().__init__(state, api)
        self.config.values.update(
            {
                "voice.url": "https://hear.example/v1/",
                "voice.key": "key-of-hear",
                "voice.model": "whisper-1",
                "voice.language": "",
                "llm.base_url": "https://llm.example/v1",
                "llm.api_key": "key-of-llm",
            }
        )
        for name in settings:
            self.config.values[name.replace("__", ".")] = settings[name]
        self.delivered = []

    def deliver(self, channel, chat, text, alert, id, reply_to):
        self.delivered.append((channel, chat, text, id, reply_to))


class TestVoice(unittest.TestCase):
    def setUp(self):
        self.state = temp_folder(self)

    def hear(self, api, text="[a voice note]\n", **settings):
        """Return the App and the Message after the fetch of a voice note."""
        app = VoiceApp(self.state, api, **settings)
        message = Message("telegram", "1000", text, "1000")
        message.reply_to = 7
        message.file = ("voice note", "f", 0)
        taken = run(incoming.fetch(app, message))
        self.assertEqual(taken, not app.replies)
        run(incoming.clear(app))
        return app, message

    def refused(self, api, **settings):
        app, _ = self.hear(api, **settings)
        self.assertEqual(app.delivered, [])
        return app.replies[0][0]

    def test_its_words_are_the_message(self):
        for piece in (1, 3, 300):
            api = Service(piece=piece)
            app, message = self.hear(api)
            self.assertEqual(message.text, "Switch the pump on.")
            self.assertEqual(message.image, None)
            self.assertEqual(
                app.delivered,
                [("telegram", "1000", "\u201cSwitch the pump on.\u201d", "heard-1000-7", 7)],
            )
        # The download and the request have a connection each, one after the other.
        self.assertEqual(api.closed, 2)
        self.assertEqual(api.urls[-1], ("POST", "https://hear.example/v1/audio/transcriptions"))
        self.assertEqual(api.headers["Authorization"], "Bearer key-of-hear")

    def test_the_form(self):
        api = Service()
        self.hear(api, voice__language="de")
        boundary = api.headers["Content-Type"].split("boundary=")[1].encode()
        self.assertEqual(api.body.count(b"--" + boundary), 5)
        head, _, rest = api.body.partition(b'filename="voice.ogg"')
        self.assertTrue(rest.partition(b"\r\n\r\n")[2].startswith(SOUND + b"\r\n--" + boundary))
        fields = parts_of(head + b'"\r\n\r\n--' + boundary + b"--\r\n")
        self.assertEqual(fields["model"], "whisper-1")
        self.assertEqual(fields["response_format"], "json")
        self.assertEqual(fields["language"], "de")

    def test_a_caption_and_a_mark_stay(self):
        _, message = self.hear(Service(), "(forwarded by me)\n[a voice note]\nplease")
        self.assertEqual(message.text, "(forwarded by me)\nSwitch the pump on.\nplease")

    def test_the_key_of_the_model_goes_to_its_own_address_only(self):
        api = Service()
        self.hear(api, voice__key="")
        self.assertFalse("Authorization" in api.headers)
        self.hear(api, voice__key="", voice__url="https://llm.example/v1/")
        self.assertEqual(api.headers["Authorization"], "Bearer key-of-llm")

    def test_each_failure_is_a_sentence(self):
        start = "I could not transcribe this voice note: "
        for status, reply, says in (
            (
                401,
                b'{"error":{"message":"Incorrect\nkey"}}',
                "401 (Incorrect key): check voice.key.",
            ),
            (404, b"<html>", "answered 404: check voice.url and voice.model."),
            (413, b"", "answered 413: send a shorter one."),
            (500, b'{"detail":"out of memory"}', "answered 500 (out of memory)."),
            (200, b"<html>", "voice.url sent no transcription: check it."),
            (200, b'{"words":[]}', "voice.url sent no transcription: check it."),
            (200, b'{"text":"cut', "voice.url sent no transcription: check it."),
        ):
            text = self.refused(Service(status, reply))
            self.assertTrue(text.startswith(start) and text.endswith(says), text)
        for error, says in (
            (asyncio.TimeoutError(), "did not answer within 120 s."),
            (OSError(104), "voice.url: "),
            (EOFError("the server closed the connection"), "closed the connection."),
        ):
            api = Service()
            api.error = error
            text = self.refused(api)
            self.assertTrue(text.startswith(start) and says in text, text)

    def test_a_note_without_words(self):
        for reply in (b'{"text":""}', b'{"text":" "}'):
            self.assertTrue("I heard no words" in self.refused(Service(200, reply)))

    def test_a_note_that_is_too_long_or_cut(self):
        text = self.refused(Service(size=99000000))
        self.assertEqual(
            text, "This voice note has over 64 KB (voice.max_kb): send a smaller one."
        )
        api = Service()
        api.cut = OSError(104)
        self.assertTrue("could not fetch this voice note" in self.refused(api))
        self.assertEqual(len(api.urls), 2)

    def test_a_transcript_without_end(self):
        words = b'{"text":"' + b"so " * 9000 + b'"}'
        _, message = self.hear(Service(200, words))
        self.assertTrue(4000 < len(message.text) <= 4096, len(message.text))


if __name__ == "__main__":
    unittest.main()
