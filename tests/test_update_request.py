# The answer to `/update` when it cannot be done.

import unittest

from support import run
from tenner.update import install, request


class FakeApp:
    """An application on a board without a finished update; it keeps the texts for people."""

    def __init__(self):
        self.port = self
        self.told = []

    def path(self, name):
        return "/nowhere/" + name

    def deliver(self, channel, chat, text):
        self.told.append((channel, chat, text))


class TestAnswer(unittest.TestCase):
    def answer(self, error):
        async def update(app, wanted):
            raise error

        real = install.update
        self.addCleanup(setattr, install, "update", real)
        install.update = update
        app = FakeApp()
        run(request.answer(app, "telegram", 1000, "0.9.0"))
        ((channel, chat, text),) = app.told
        self.assertEqual((channel, chat), ("telegram", 1000))
        return text

    def test_the_owner_hears_of_a_lack_of_memory(self):
        text = self.answer(MemoryError("memory allocation failed, allocating 512 bytes"))
        self.assertEqual(
            text,
            "No update: the board is short of memory. Restart it, then send /update again.",
        )

    def test_the_owner_hears_the_reason_of_a_failure(self):
        self.assertEqual(self.answer(OSError("no Wi-Fi")), "No update: no Wi-Fi.")


if __name__ == "__main__":
    unittest.main()
