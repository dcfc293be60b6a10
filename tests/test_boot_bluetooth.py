# tenner test: the setting power.free_bluetooth, and its order to the next start.
# MIT license; Copyright (c) 2026 the tenner authors

import unittest

from support import temp_folder
from tenner.runtime import boot
from tenner.store import files


class App:
    """The app, its port and its settings."""

    def __init__(self, state, kind="esp32", wanted=True):
        self.config = self.port = self
        self.state = state
        self.kind = kind
        self.wanted = wanted

    def get(self, key):
        assert key == "power.free_bluetooth"
        return self.wanted


class TestBluetooth(unittest.TestCase):
    def setUp(self):
        self.folder = temp_folder(self)
        self.path = self.folder + "/bluetooth"

    def after(self, text=None, **app):
        """Return the file after a start that finds `text` in it; None: no file."""
        files.remove(self.path)
        if text is not None:
            files.write_atomic(self.path, text)
        boot._want_bluetooth(App(self.folder, **app))
        return files.read_text(self.path) if files.exists(self.path) else None

    def test_the_next_start_is_told(self):
        self.assertEqual(self.after(), "on")
        # The power failed while the start wrote it.
        self.assertEqual(self.after(""), "on")

    def test_the_outcome_stays(self):
        for text in ("on 15000", "useless 0", "crashed"):
            self.assertEqual(self.after(text), text)

    def test_switched_off_it_is_forgotten_and_may_be_tried_again(self):
        for text in (None, "on", "on 15000", "useless 0", "crashed"):
            self.assertEqual(self.after(text, wanted=False), None)

    def test_linux_has_none_of_it(self):
        self.assertEqual(self.after(kind="linux"), None)


if __name__ == "__main__":
    unittest.main()
