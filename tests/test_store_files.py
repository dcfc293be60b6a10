# tenner test: files are replaced whole or not at all.
# MIT license; Copyright (c) 2026 the tenner authors

import os
import sys
import unittest

from support import read_bytes, temp_folder
from tenner.agent import history
from tenner.agent.agent import Session
from tenner.port import package
from tenner.sensors import ring
from tenner.store import files, quarantine
from tenner.store.appendlog import AppendLog
from tenner.store.two_slot import TwoSlots


class TestWriteAtomic(unittest.TestCase):
    def setUp(self):
        self.folder = temp_folder(self)
        self.path = self.folder + "/x.md"

    def test_bytes_text_and_pieces(self):
        for data, expected in (
            (b"\x00abc", b"\x00abc"),
            ("grün", "grün".encode()),
            ((piece for piece in (b"a", "ü", b"", memoryview(b"c"))), b"a\xc3\xbcc"),
            (b"", b""),
        ):
            files.write_atomic(self.path, data)
            self.assertEqual(read_bytes(self.path), expected)
        self.assertEqual(os.listdir(self.folder), ["x.md"])

    def test_no_writer_follows_a_link_that_came_later(self):
        if not hasattr(os, "system") or sys.platform != "linux":
            self.skipTest("needs links")
        # Each link leads to a file of this test.
        for name, write in (
            ("x.md", lambda path: files.write_atomic(path, "new")),
            ("x.md.tmp", lambda path: files.write_atomic(path[:-4], "new")),
            ("s.a", lambda path: TwoSlots(path[:-2]).save({"n": 1})),
            ("s.a", lambda path: TwoSlots(path[:-2]).load()),
            ("log", lambda path: AppendLog(path, 4096).append(("new",))),
            ("h/1", lambda path: history.append(Session(path, 4096), [b'["u","new"]\n'])),
            ("r.0", lambda path: ring._append(path, b"new")),
            ("a.part", lambda path: files.open_own(path, "ab").close()),
            ("b.part", lambda path: files.open_own(path, "wb").close()),
        ):
            folder = temp_folder(self)
            files.make_dirs(folder + "/h")
            with open(folder + "/theirs", "w") as file:
                file.write("theirs\n")
            place = folder + "/" + name
            self.assertEqual(os.system("ln -s %s/theirs %s" % (folder, place)), 0)
            write(place)
            self.assertEqual(read_bytes(folder + "/theirs"), b"theirs\n", name)
            # The link is gone, and the next one is new, too.
            write(place)
            self.assertEqual(read_bytes(folder + "/theirs"), b"theirs\n", name)

    def test_a_link_to_nothing_makes_no_file_there(self):
        if not hasattr(os, "system") or sys.platform != "linux":
            self.skipTest("needs links")
        os.system("ln -s %s/elsewhere %s/x.md.tmp" % (self.folder, self.folder))
        files.write_atomic(self.path, "new")
        self.assertEqual(os.listdir(self.folder), ["x.md"])

    def test_a_failing_writer_leaves_the_old_file_and_no_stray(self):
        files.write_atomic(self.path, "old")

        def failing():
            yield b"new " * 500
            raise OSError(28, "no space left")

        with self.assertRaises(OSError):
            files.write_atomic(self.path, failing())
        self.assertEqual(read_bytes(self.path), b"old")
        self.assertEqual(os.listdir(self.folder), ["x.md"])

    def test_an_interrupt_is_passed_on(self):
        def interrupted():
            yield b"new"
            raise KeyboardInterrupt

        with self.assertRaises(KeyboardInterrupt):
            files.write_atomic(self.path, interrupted())
        self.assertEqual(os.listdir(self.folder), [])

    def test_a_target_that_is_a_folder_is_refused(self):
        os.mkdir(self.path)
        with self.assertRaises(OSError):
            files.write_atomic(self.path, "x")
        self.assertEqual(os.listdir(self.folder), ["x.md"])

    def test_a_file_that_takes_less_than_it_was_given_is_a_full_disk(self):
        class Full:
            def write(self, data):
                return len(data) - 1

        with self.assertRaises(OSError):
            files.put(Full(), b"abc")


class TestChores(unittest.TestCase):
    def setUp(self):
        self.folder = temp_folder(self)

    def test_size_exists_remove(self):
        path = self.folder + "/a"
        self.assertEqual(files.size(path), -1)
        self.assertFalse(files.exists(path))
        files.remove(path)
        files.write_atomic(path, b"123")
        self.assertEqual(files.size(path), 3)
        self.assertTrue(files.exists(path))
        self.assertTrue(files.is_folder(self.folder))
        self.assertFalse(files.is_folder(path))
        files.remove(path)
        self.assertFalse(files.exists(path))

    def test_a_link_to_itself_is_no_file(self):
        path = self.folder + "/a"
        if not hasattr(os, "symlink"):
            return
        os.symlink("a", path)
        self.assertFalse(files.exists(path))
        self.assertFalse(files.is_folder(path))
        self.assertEqual(files.size(path), -1)
        files.write_atomic(path, b"123")
        self.assertEqual(files.size(path), 3)

    def test_make_dirs(self):
        path = self.folder + "/a/b/c"
        files.make_dirs(path)
        files.make_dirs(path)
        self.assertTrue(files.is_folder(path))
        files.write_atomic(self.folder + "/file", b"")
        with self.assertRaises(OSError):
            files.make_dirs(self.folder + "/file/under")

    def test_a_short_text_takes_little_room_whatever_the_limit(self):
        path = self.folder + "/short"
        files.write_atomic(path, "short")
        # So much would not fit any heap.
        self.assertEqual(files.read_text(path, 1 << 30), "short")

    def test_read_text(self):
        path = self.folder + "/a"
        files.write_atomic(path, "grün")
        self.assertEqual(files.read_text(path), "grün")
        self.assertEqual(files.read_text(path, 5), "grün")
        with self.assertRaises(ValueError) as caught:
            files.read_text(path, 4)
        self.assertIn("over 4 bytes", str(caught.exception))
        files.write_atomic(path, b"\xff\xfe")
        with self.assertRaises(ValueError) as caught:
            files.read_text(path)
        self.assertIn("UTF-8", str(caught.exception))
        with self.assertRaises(OSError):
            files.read_text(self.folder + "/none")

    def test_lines_over_block_borders(self):
        path = self.folder + "/a"
        expected = [b"x" * count for count in (0, 1, 510, 511, 512, 513, 1300, 0, 7)]
        for end in (b"", b"\n"):
            files.write_atomic(path, b"\n".join(expected) + end)
            with open(path, "rb") as file:
                self.assertEqual(list(files.lines(file)), expected)

    def test_clean_strays_goes_down_and_touches_nothing_else(self):
        files.make_dirs(self.folder + "/sub/folder.tmp")
        for name in ("keep.md", "a.tmp", "sub/b.tmp", "sub/keep.tmp.md", "sub/folder.tmp/c.tmp"):
            with open(self.folder + "/" + name, "wb") as file:
                file.write(b"x")
        self.assertEqual(quarantine.clean_strays(self.folder), 3)
        self.assertEqual(sorted(os.listdir(self.folder)), ["keep.md", "sub"])
        self.assertEqual(sorted(os.listdir(self.folder + "/sub")), ["folder.tmp", "keep.tmp.md"])
        self.assertEqual(quarantine.clean_strays(self.folder + "/none"), 0)

    def test_clean_strays_follows_no_link_and_stops_at_nothing(self):
        if not hasattr(os, "symlink"):
            self.skipTest("needs os.symlink")
        outside = temp_folder(self)
        home = self.folder + "/home"
        for path in (outside + "/theirs.tenner.tmp", outside + "/theirs.tmp"):
            files.write_atomic(path, "x")
        files.make_dirs(home + "/deep")
        files.make_dirs(home + "/shut")
        os.symlink(outside, home + "/photos")
        os.symlink(outside + "/theirs.tenner.tmp", home + "/one.tenner.tmp")
        os.symlink(".", home + "/deep/loop")
        files.write_atomic(home + "/draft.tmp", "the owner's")
        files.write_atomic(home + "/deep/note.md.tenner.tmp", "half")
        os.chmod(home + "/shut", 0)
        scandir = package.os.scandir

        def refuse(folder):
            # Root may go everywhere.
            if folder.endswith("/shut"):
                raise OSError(13, "Permission denied")
            return scandir(folder)

        self.addCleanup(setattr, package.os, "scandir", scandir)
        package.os.scandir = refuse
        self.assertEqual(quarantine.clean_strays(home, files.WORKSPACE_TEMP), 1)
        self.assertEqual(sorted(os.listdir(outside)), ["theirs.tenner.tmp", "theirs.tmp"])
        self.assertEqual(
            sorted(os.listdir(home)), ["deep", "draft.tmp", "one.tenner.tmp", "photos", "shut"]
        )
        self.assertEqual(os.listdir(home + "/deep"), ["loop"])

    def test_very_deep_folders_are_no_end(self):
        path = self.folder
        for _ in range(120):
            path += "/d"
            os.mkdir(path)
        files.write_atomic(path + "/a.tmp", "x")
        self.assertEqual(quarantine.clean_strays(self.folder), 1)

    def test_quarantine_never_replaces_an_older_one_silently(self):
        path = self.folder + "/a.json"
        names = []
        for number in range(3):
            files.write_atomic(path, str(number))
            names.append(quarantine.quarantine(path))
            self.assertFalse(files.exists(path))
        self.assertEqual(names, [path + ".bad", path + ".bad1", path + ".bad2"])
        self.assertEqual([read_bytes(name) for name in names], [b"0", b"1", b"2"])

    def test_blocks_of_any_range(self):
        path = self.folder + "/a"
        data = bytes(range(256)) * 5
        files.write_atomic(path, data)
        for start, end in ((0, 1280), (0, 0), (3, 515), (700, 1280)):
            self.assertEqual(b"".join(files.blocks(path, start, end)), data[start:end])
        with self.assertRaises(OSError):
            list(files.blocks(path, 0, 1281))

    def test_parts_of_files_are_read_in_their_order(self):
        one, two = self.folder + "/one", self.folder + "/two"
        files.write_atomic(one, "0123456789")
        files.write_atomic(two, "x" * 500)
        places = [(one, 2, 4), (one, 7, 8), (one, 5, 5), (two, 0, 400), (one, 0, 1)]
        parts = files.together(places)
        self.assertEqual(parts, [(one, 2, 4, 7, 8, 5, 5), (two, 0, 400), (one, 0, 1)])
        found = [(first, len(block), block[:1]) for first, block in files.blocks_of(parts)]
        self.assertEqual(
            found,
            [
                (True, 2, b"2"),
                (True, 1, b"7"),
                (True, 256, b"x"),
                (False, 144, b"x"),
                (True, 1, b"0"),
            ],
        )
        self.assertEqual(list(files.blocks_of(files.together(()))), [])
        with self.assertRaises(OSError):
            list(files.blocks_of([(one, 9, 11)]))


if __name__ == "__main__":
    unittest.main()
