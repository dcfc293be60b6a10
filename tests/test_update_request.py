# The answers to `/update`, and to an approved one that fails.

import os
import unittest

from support import run, temp_folder
from tenner.store import files
from tenner.update import install, request


class FakeApp:
    """An application that keeps the texts for people."""

    updating = False

    def __init__(self, folder):
        self.told = []
        self.state = folder
        self.port = self

    def deliver(self, channel, chat, text, id=None):
        # An outbox has one message of an id.
        self.told.append((channel, chat, text))

    def owner(self):
        return "telegram", 1000

    def path(self, name):
        return self.state + "/" + name.replace("/", "-")


class TestRequest(unittest.TestCase):
    def setUp(self):
        self.app = FakeApp(temp_folder(self))

    def told(self, result, name, work, *args):
        """Return the text to the owner after install.`name` returned or raised `result`."""

        async def fake(app, *args):
            if isinstance(result, BaseException):
                raise result
            return result

        self.addCleanup(setattr, install, name, getattr(install, name))
        setattr(install, name, fake)
        app = self.app
        self.assertIsNone(run(work(app, "telegram", 1000, *args)))
        (channel, chat, text) = app.told.pop()
        self.assertEqual((app.told, os.listdir(app.state)), ([], []))
        self.assertEqual((channel, chat), ("telegram", 1000))
        return text

    def test_the_owner_hears_of_a_lack_of_memory(self):
        short = MemoryError("memory allocation failed, allocating 512 bytes")
        text = "No update: the board is short of memory. Restart it, then send /update again."
        self.assertEqual(self.told(short, "look", request.look), text)
        self.assertEqual(self.told(short, "download", request.run, "0.9.0"), text)

    def test_the_owner_hears_the_reason_of_a_failure(self):
        self.assertEqual(
            self.told(OSError("no Wi-Fi"), "download", request.run, "0.9.0"),
            "No update: no Wi-Fi.",
        )

    def test_the_owner_hears_why_a_release_is_none_for_this_board(self):
        found = None, None, "the release is 0.2.0, and 0.2.0 runs: only a newer one is installed"
        self.assertEqual(self.told(found, "look", request.look), "No update: %s." % found[2])

    def test_the_owners_computer_finds_the_reason_in_a_file(self):
        async def fake(app, version, computer):
            self.assertEqual((version, computer, app.updating), ("0.9.0", ("here",), True))
            raise OSError("no Wi-Fi")

        self.addCleanup(setattr, install, "download", install.download)
        install.download = fake
        app = self.app
        run(request.run(app, None, None, "0.9.0", ("here",)))
        self.assertEqual((app.told, app.updating), ([], False))
        with open(app.state + "/update.txt") as file:
            self.assertEqual(file.read(), "No update: no Wi-Fi.")

    def test_one_update_at_a_time(self):
        app = self.app
        app.updating = True
        run(request.run(app, "telegram", 1000, "0.9.0"))
        self.assertEqual(app.told[0][2], "No update: another update is running.")
        self.assertTrue(app.updating)

    def test_a_newer_release_is_returned_with_its_question(self):
        async def fake(app, etag=None):
            return '"e"', "0.9.0", "Version 0.9.0 is there"

        self.addCleanup(setattr, install, "look", install.look)
        install.look = fake
        app = self.app
        found = run(request.look(app, "telegram", 1000))
        self.assertEqual((found, app.told), (("0.9.0", "Version 0.9.0 is there"), []))
        self.assertEqual(os.listdir(app.state), [])

    def test_a_look_beside_an_update_leaves_its_mark(self):
        async def fake(app, *args):
            run_beside = await request.look(app, "telegram", 1000)
            self.assertEqual((run_beside, os.listdir(app.state)), (None, ["update.run"]))
            raise OSError("no Wi-Fi")

        async def none(app):
            return None, None, "0.9.0 runs"

        for name, made in (("download", fake), ("look", none)):
            self.addCleanup(setattr, install, name, getattr(install, name))
            setattr(install, name, made)
        run(request.run(self.app, "telegram", 1000, "0.9.0"))
        self.assertEqual(os.listdir(self.app.state), [])

    def test_an_order_that_a_restart_ends_is_told_once(self):
        class Cut(BaseException):
            pass

        for name, work, *args in (
            ("look", request.look),
            ("download", request.run, "0.9.0"),
        ):
            with self.assertRaises(Cut):
                self.told(Cut(), name, work, *args)
            self.assertEqual(os.listdir(self.app.state), ["update.run"])
            run(request.look_back(self.app))
            self.assertTrue("send /update again" in self.app.told.pop()[2])
            self.assertEqual((self.app.told, os.listdir(self.app.state)), ([], []))
            # Its last step is the restart into the trial.
            for entry in ("update.run", "lib-trial"):
                files.write_atomic(self.app.state + "/" + entry, "")
            run(request.look_back(self.app))
            self.assertEqual((self.app.told, os.listdir(self.app.state)), ([], ["lib-trial"]))
            os.remove(self.app.state + "/lib-trial")


if __name__ == "__main__":
    unittest.main()
