# tenner test: where the agent's own files lie on Linux; no tool reaches them, with any of the
# owner's patterns. MIT license; Copyright (c) 2026 the tenner authors

import sys
import unittest

from fakes import FakeCtx
from support import read_bytes, run, temp_folder
from tenner.port import package
from tenner.port.linux.port import Port
from tenner.store import files

SETTINGS = b'{"telegram":{"allow":["7"]}}'


class TestPrivate(unittest.TestCase):
    def setUp(self):
        self.folder = temp_folder(self)
        for name in ("etc/config.json", "etc/config.json.bad", "etc/environment"):
            files.make_dirs(self.folder + "/etc")
            files.write_atomic(self.folder + "/" + name, SETTINGS)
        self.release = self.folder + "/opt/releases/a1b2/lib"
        files.make_dirs(self.release + "/tenner")
        files.write_atomic(self.release + "/tenner/app.py", "x = 1")
        files.write_atomic(self.folder + "/opt/trying", "a1b2")
        files.write_atomic(self.folder + "/etc/motd", "hello")
        # As a service is started: settings in one place, code in another, everything else in a
        # third.
        sys.path.insert(0, self.release)
        self.addCleanup(sys.path.remove, self.release)
        self.addCleanup(setattr, package, "_pack", package._pack)
        self.addCleanup(setattr, Port, "settings", Port.settings)
        Port.settings = self.folder + "/etc/config.json"
        files.make_dirs(self.folder + "/data")
        patterns = {"read_paths": ["/**"], "write_paths": ["/**"]}
        self.ctx = FakeCtx(self.folder + "/data", patterns, answers=[True] * 50)
        self.ctx.port = self.ctx.registry.port = Port(self.folder + "/data")

    def call(self, name, **args):
        return run(self.ctx.call(name, args))

    def test_settings_and_code_elsewhere_are_private(self):
        for name in (
            "etc/config.json",
            "etc/../etc/Config.json",
            "etc/config.json.bad",
            "etc/environment",
            "opt/releases/a1b2/lib/tenner/app.py",
            "opt/releases/a1b2/lib/new.py",
            "opt/trying",
            "opt/current/x",
            "data/state/x",
            "data/run/console",
            "data/asyncio.py",
        ):
            path = self.folder + "/" + name
            for tool, args in (
                ("read_file", {}),
                ("list_dir", {}),
                ("write_file", {"content": "{}"}),
                ("append_file", {"text": " "}),
                ("edit_file", {"old": "7", "new": "8"}),
            ):
                text = self.call(tool, path=path, **args)
                self.assertTrue(text.startswith("error: "), (tool, name, text))
                self.assertIn("private", text)
        self.assertEqual(read_bytes(self.folder + "/etc/config.json"), SETTINGS)
        self.assertIn("hello", self.call("read_file", path=self.folder + "/etc/motd"))

    def test_settings_in_the_workspace_are_as_private(self):
        """The workspace is a home folder, or the folder of the settings."""
        self.ctx.workspace = self.folder
        files.make_dirs(self.folder + "/.ssh")
        files.write_atomic(self.folder + "/.ssh/id_x", "a key")
        for name in (
            "etc/config.json",
            "ETC/config.json",
            "etc/environment",
            "opt/releases/a1b2/lib/new.py",
            "data/state/x",
            "data/certs/ca.pem",
            ".ssh/id_x",
        ):
            for tool, args in (("read_file", {}), ("write_file", {"content": "{}"})):
                text = self.call(tool, path=name, **args)
                self.assertTrue(text.startswith("error: "), (tool, name, text))
        self.assertEqual(read_bytes(self.folder + "/etc/config.json"), SETTINGS)
        self.assertIn("hello", self.call("read_file", path="etc/motd"))
        # The workspace is not private for lying in a folder with code.
        self.ctx.workspace = self.folder + "/opt/releases/work"
        files.make_dirs(self.ctx.workspace)
        self.assertIn("wrote", self.call("write_file", path="notes/a.md", content="x"))

    def test_how_it_is_started_is_private_too(self):
        for path in (
            "/etc/tenner/config.json",
            "/etc/tenner/environment",
            "/etc/systemd/system/tenner.service.d/more.conf",
            "/etc/systemd/system/tenner.service",
            "/etc/init.d/S90tenner",
            "/run/tenner/console",
        ):
            self.assertIn("private", self.call("write_file", path=path, content="x"))


if __name__ == "__main__":
    unittest.main()
