# Files that people send on Telegram: which the agent takes, and in which size.
import unittest

from channels_fakes import OWNER, Bench
from support import run


def size(id, width, height, bytes):
    return {"file_id": id, "width": width, "height": height, "file_size": bytes}


#: As Telegram makes them of one photo, though not in this order.
SIZES = [
    size("x", 800, 600, 90000),
    size("s", 90, 67, 1500),
    size("y", 1280, 960, 180000),
    size("m", 320, 240, 20000),
]


class TestMedia(unittest.TestCase):
    def taken(self, caption=None, config=None, **extra):
        """Return (file, text) of the one message to the agent, or the one sentence to its
        writer."""
        bench = Bench(**(config or {}))
        if caption:
            extra["caption"] = caption
        bench.server.say(None, **extra)
        found = run(bench.step())
        self.assertEqual(len(found) + len(bench.said), 1)
        if bench.said:
            return bench.said[0][1]
        return found[0].file, found[0].text

    def test_the_smallest_size_of_a_photo_that_serves(self):
        self.assertEqual(self.taken(photo=SIZES), (("photo", "x", 90000), "[a photo]\n"))
        self.assertEqual(
            self.taken("Is this leaf sick?", photo=SIZES),
            (("photo", "x", 90000), "[a photo]\nIs this leaf sick?"),
        )
        self.assertEqual(self.taken(photo=SIZES[1:2])[0], ("photo", "s", 1500))
        narrow = [size("a", 40, 767, 9), size("b", 50, 768, 10), size("c", 60, 900, 11)]
        self.assertEqual(self.taken(photo=narrow)[0], ("photo", "b", 10))

    def test_a_limit_makes_it_take_a_smaller_size(self):
        self.assertEqual(self.taken(photo=SIZES, config={"photo_kb": 64})[0][1], "m")
        self.assertEqual(
            self.taken(photo=SIZES, config={"photo_kb": 1}),
            "This picture has 2 KB, and I take 1 KB at most (telegram.photo_kb).",
        )

    def test_a_reply_cut_at_every_byte(self):
        for piece in (1, 2, 3, 7):
            bench = Bench()
            bench.server.piece = piece
            bench.server.say(None, photo=SIZES, caption="x")
            self.assertEqual([one.file for one in run(bench.step())], [("photo", "x", 90000)])

    def picture(self, **fields):
        known = {
            "file_id": "d",
            "mime_type": "image/png",
            "file_size": 7000,
            "thumbnail": size("t", 90, 90, 100),
        }
        known.update(fields)
        return known

    def test_a_picture_sent_as_a_file(self):
        file, text = self.taken("what is it?", document=self.picture())
        self.assertEqual((file, text), (("photo", "d", 7000), "[a photo]\nwhat is it?"))

    def test_a_picture_that_is_too_big_or_of_a_wrong_type(self):
        text = self.taken("look", document=self.picture(file_size=10 * 1024 * 1024))
        self.assertEqual(
            text,
            "This picture has 10240 KB, and I take 512 KB at most (telegram.photo_kb): send it as "
            "a photo, not as a file.",
        )
        text = self.taken(document=self.picture(mime_type="image/heic"))
        self.assertEqual(text, "I look at pictures in JPEG, PNG, WebP and GIF only.")

    def test_without_photos_captions_are_answered(self):
        off = {"photo_kb": 0}
        file, text = self.taken("look", off, photo=SIZES)
        self.assertEqual((file, text), (None, "(with a photo, which you cannot see)\nlook"))
        text = self.taken(config=off, photo=SIZES)
        self.assertEqual(text, "I look at no photos: telegram.photo_kb is 0.")

    def test_an_old_photo_is_not_fetched(self):
        old = {"photo": SIZES, "date": 1800000000 - 4000}
        text = self.taken(**old)
        self.assertEqual(text, "This photo came over an hour late: please send it again.")
        file, text = self.taken("look", **old)
        self.assertEqual(file, None)
        self.assertTrue("which you cannot see" in text)

    def test_of_an_album_only_the_first_is_looked_at(self):
        bench = Bench()
        for caption in ({"caption": "look"}, {}, {}):
            bench.server.say(None, photo=SIZES, media_group_id="77", **caption)
        (found,) = run(bench.step())
        self.assertEqual(
            found.text, "[a photo, the first of several; the others are not shown]\nlook"
        )
        self.assertEqual(bench.said, [])

    def test_a_photo_of_a_stranger_stays_at_telegram(self):
        bench = Bench()
        bench.server.say(None, who=3000, photo=SIZES, caption="look")
        self.assertEqual(run(bench.step()), [])
        self.assertEqual([one[0] for one in bench.said], [str(OWNER)])
        self.assertFalse("getFile" in [name for name, _ in bench.server.calls])

    def test_a_forwarded_photo_is_not_the_owners(self):
        bench = Bench()
        bench.server.say(None, photo=SIZES, forward_date=1)
        (found,) = run(bench.step())
        self.assertTrue(found.file and found.text.startswith("(forwarded by me"), found.text)
        self.assertFalse(found.by_owner)

    def test_a_voice_note(self):
        note = {"file_id": "v", "duration": 3, "mime_type": "audio/ogg", "file_size": 9000}
        on = {"voice_url": "https://llm.example/v1"}
        file = ("voice note", "v", 9000)
        self.assertEqual(self.taken(None, on, voice=note), (file, "[a voice note]\n"))
        self.assertEqual(self.taken("x", on, voice=note), (file, "[a voice note]\nx"))
        self.assertEqual(self.taken(None, on, audio=note)[0], file)
        self.assertEqual(
            self.taken(None, on, voice=dict(note, duration=1200, file_size=3000000)),
            "This voice note has 2930 KB, and I take 64 KB at most (voice.max_kb).",
        )
        self.assertEqual(
            self.taken(None, on, voice=note, date=1800000000 - 4000),
            "This voice note came over an hour late: please send it again.",
        )

    def test_a_voice_note_where_they_are_off(self):
        self.assertEqual(
            self.taken(voice={"file_id": "v"}),
            "I listen to no voice notes: set voice.url to a transcription service.",
        )
        file, text = self.taken("look", voice={"file_id": "v"})
        self.assertEqual((file, text), (None, "(with a voice, which you cannot see)\nlook"))

    def test_malformed_sizes(self):
        for photo in (None, [{"width": 3}], [{"file_id": 5}], [1], "x"):
            text = self.taken(photo=photo)
            self.assertTrue("I cannot read" in text or "voice notes only" in text, text)
        many = [size("n%d" % n, n, n, 1) for n in range(50)]
        self.assertEqual(self.taken(photo=many)[0], ("photo", "n7", 1))


if __name__ == "__main__":
    unittest.main()
