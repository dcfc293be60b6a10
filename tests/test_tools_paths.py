# tenner test: tools stay in the workspace with any path.
# MIT license; Copyright (c) 2026 the tenner authors

import os
import unittest

from support import temp_folder
from tenner.store import files
from tenner.tools import ToolError
from tenner.tools.paths import matches, relative, resolve


def link(target, path):
    """Make a link; MicroPython has no call for it."""
    if hasattr(os, "symlink"):
        os.symlink(target, path)
    else:
        os.system("ln -s '%s' '%s'" % (target, path))


class TestResolve(unittest.TestCase):
    def setUp(self):
        # The folder itself may be reached through a link, so compare with where it really is.
        self.root = temp_folder(self)
        self.home = self.root + "/workspace"
        files.make_dirs(self.home + "/notes")
        files.make_dirs(self.root + "/state")
        files.make_dirs(self.root + "/workspace2")
        for name in ("config.json", "state/runs.jsonl", "workspace/notes/a.md", "workspace2/x"):
            files.write_atomic(self.root + "/" + name, "x")
        self.links = []

    def tearDown(self):
        for path in self.links:
            os.remove(path)

    def link(self, target, name):
        self.links.append(self.home + "/" + name)
        link(target, self.home + "/" + name)

    def allowed(self, path, write=False, patterns=()):
        try:
            resolve(self.home, path, write, patterns)
            return True
        except ToolError as error:
            self.assertTrue(len(str(error)) > 20)
            return False

    def test_what_stays_inside_is_allowed(self):
        for path in (
            "HEARTBEAT.md",
            "./notes/a.md",
            "notes/../HEARTBEAT.md",
            "/workspace/x.md",
            "/workspace",
            ".",
            "notes//a.md",
            "/etc/../workspace/x.md",
            "new/folder/deep.md",
            "gr\u00fcn.md",
            "..notes/...a",
            "state/x",
            "config.json",
            "lib/x",
        ):
            self.assertTrue(self.allowed(path), path)
            self.assertTrue(self.allowed(path, True), path)

    def test_what_leads_out_is_refused(self):
        for path in (
            "",
            "..",
            "../config.json",
            "/config.json",
            "/workspace/../config.json",
            "notes/../../state/runs.jsonl",
            "/workspace2/x",
            "../workspace2/x",
            "/WORKSPACE/x.md",
            "/",
            "/etc/passwd",
            "a\x00b",
            "a\nb",
            "..\\config.json",
            "notes\\a.md",
            "config.json.",
            "a. ",
            "notes./a",
            "x" * 200,
            "\u00fc" * 70,
        ):
            self.assertFalse(self.allowed(path), path)
            self.assertFalse(self.allowed(path, True), path)

    def test_settings_of_the_machine_are_none_of_the_model_s(self):
        # Beside /workspace it knows config.json, and another program may have one at the root of a
        # machine.
        for path in ("/config.json", "../config.json", "/Config.json.bad", "//config.json/x"):
            with self.assertRaises(ToolError) as caught:
                resolve(self.home, path, False, ["**"])
            self.assertIn("is private", str(caught.exception))

    def test_links_are_followed_before_deciding(self):
        self.link("/", "link_out")
        self.link("notes", "link_in")
        self.link("../state", "link_state")
        self.link("../config.json", "link_file")
        self.link("nowhere", "dangling")
        self.assertTrue(self.allowed("link_in/a.md"))
        self.assertTrue(self.allowed("link_in/new.md", True))
        self.assertEqual(relative(self.home, resolve(self.home, "link_in/a.md")), "notes/a.md")
        for path in (
            "link_out",
            "link_out/config.json",
            "link_out/etc/passwd",
            "link_state/runs.jsonl",
            "link_state/new",
            "link_state",
            "link_file",
            "link_in/../../config.json",
        ):
            self.assertFalse(self.allowed(path), path)
            self.assertFalse(self.allowed(path, True), path)

    def test_the_working_folder_is_left_alone(self):
        here = os.getcwd()
        self.allowed("notes/a.md")
        self.allowed("../config.json")
        self.assertEqual(os.getcwd(), here)

    def test_the_real_path_is_returned(self):
        self.assertTrue(resolve(self.home, "notes/a.md").endswith("/workspace/notes/a.md"))
        self.assertTrue(files.exists(resolve(self.home, "./notes/../notes/a.md")))
        self.assertEqual(
            resolve(self.home, self.home + "/notes/a.md"), resolve(self.home, "notes/a.md")
        )
        self.assertEqual(relative(self.home, resolve(self.home, "new/x.md")), "new/x.md")
        self.assertEqual(relative(self.home, resolve(self.home, ".")), ".")

    def test_patterns_add_places_but_never_the_agents_own_files(self):
        outside = self.root + "/workspace2/*"
        self.assertTrue(self.allowed(self.root + "/workspace2/x", False, (outside,)))
        self.assertFalse(self.allowed(self.root + "/workspace2/sub/x", False, (outside,)))
        for name in (
            "config.json",
            "CONFIG.JSON",
            "config.json.tmp",
            "config.json.bad1",
            "state/runs.jsonl",
            "STATE/x",
            "certs/a.der",
            "lib/tenner/app.mpy",
        ):
            for patterns in (("**",), (self.root + "/**",), (self.root + "/" + name,)):
                self.assertFalse(self.allowed(self.root + "/" + name, False, patterns), name)

    def test_the_settings_are_private_when_the_workspace_is_elsewhere(self):
        agent = temp_folder(self)
        files.write_atomic(agent + "/config.json", "x")
        with self.assertRaises(ToolError) as caught:
            resolve(self.home, agent + "/config.json", False, ("**",), agent)
        self.assertIn("private", str(caught.exception))
        self.assertTrue(resolve(self.home, agent + "/other", False, ("**",), agent))

    def test_what_is_private_elsewhere_is_so_whatever_the_patterns_say(self):
        etc = temp_folder(self)
        for name in ("config.json", "environment", "release/tenner/app.py", "other"):
            files.make_dirs((etc + "/" + name).rpartition("/")[0])
            files.write_atomic(etc + "/" + name, "x")
        own = (etc + "/config.json", etc + "/environment", etc + "/release")
        for name, allowed in (
            ("config.json", False),
            ("Config.JSON", False),
            ("environment", False),
            ("release/tenner/app.py", False),
            ("release/new", False),
            ("release", False),
            ("other", True),
            ("releases", True),
        ):
            for write in (False, True):
                try:
                    resolve(self.home, etc + "/" + name, write, ("/**",), None, own)
                    self.assertTrue(allowed, name)
                except ToolError as error:
                    self.assertFalse(allowed, (name, error))

    def test_keys_are_out_of_reach_by_their_names(self):
        for path in (
            "/root/.ssh/id_ed25519",
            "/srv/me/.SSH/authorized_keys",
            "/etc/shadow",
            "/etc/ssh/ssh_host_rsa_key",
            "/etc/ssl/private/site.key",
            "/etc/ssl/site.PEM",
            "/proc/self/environ",
            "/proc/1/mem",
            "/proc/thread-self/environ",
        ):
            self.assertFalse(self.allowed(path, False, ("/**", "/proc/**")), path)
        self.assertTrue(self.allowed("/proc/meminfo", False, ("/proc/*",)))

    def test_code_and_pins_of_a_board_are_private(self):
        for name in ("main.py", "asyncio.py", "x.MPY", "pins.csv", "run/console", "lib/x/y"):
            self.assertFalse(
                self.allowed(self.root + "/" + name, True, (self.root + "/**",)), name
            )
        self.assertTrue(self.allowed(self.root + "/notes.txt", True, (self.root + "/**",)))

    def test_temporary_names_are_not_written(self):
        self.assertFalse(self.allowed("a.tmp", True))
        self.assertFalse(self.allowed("a.TMP", True))
        self.assertTrue(self.allowed("a.tmp"))

    def test_patterns_of_paths(self):
        for pattern, text, expected in (
            ("/a/b", "/a/b", True),
            ("/a/b", "/a/bc", False),
            ("/a/*", "/a/b", True),
            ("/a/*", "/a/", True),
            ("/a/*", "/a/b/c", False),
            ("/a/*.txt", "/a/b.txt", True),
            ("/a/*.txt", "/a/b.md", False),
            ("/*/t*/x", "/s/temp/x", True),
            ("/a/**", "/a/b/c", True),
            ("/a/**.txt", "/a/b/c.txt", True),
            ("/a/**", "/b/c", False),
            ("", "", True),
        ):
            self.assertEqual(matches(pattern, text), expected, pattern + " " + text)


if __name__ == "__main__":
    unittest.main()
