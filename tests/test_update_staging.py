import os
import unittest

import update_fakes as fakes
from support import run
from tenner.store import files
from tenner.update.download import read_manifest
from tenner.update.manifest import LIMIT, Refused
from tenner.update.staging import Staging

DATA = fakes.sign(fakes.lines())
CONTENT = fakes.content()


class Body:
    """A body that arrives in pieces of `size` bytes, and repeats `endless` for ever."""

    def __init__(self, data, size=300, endless=b""):
        self.data = data
        self.size = size
        self.endless = endless
        self.read = 0

    async def readinto(self, view):
        if not self.data:
            self.data = self.endless
        count = min(len(view), self.size, len(self.data))
        view[:count] = self.data[:count]
        self.data = self.data[count:]
        self.read += count
        return count


def make_board(root):
    os.mkdir(root + "/lib/tenner")
    files.write_atomic(root + "/lib/tenner/pins.csv", "A0,GPIO0\n")
    return Staging(root)


class TestStaging(unittest.TestCase):
    def receive(self, staging, data, present=0, **options):
        body = Body(data, **options)
        run(staging.receive(body.readinto, present))
        return body

    def test_a_release_is_staged_and_switched_to(self):
        with fakes.Board() as root:
            staging = make_board(root)
            self.assertEqual(staging.resume(DATA), len(CONTENT))
            self.receive(staging, CONTENT)
            self.assertEqual(staging.resume(DATA), 0)
            run(staging.verify())
            self.assertFalse(files.exists(root + "/lib/next"))
            staging.switch()
            for path, data in fakes.FILES:
                with open(root + "/lib/tenner.new/" + path, "rb") as file:
                    self.assertEqual(file.read(), data)
            self.assertEqual(files.read_text(root + "/lib/tenner.new/pins.csv"), "A0,GPIO0\n")
            self.assertEqual(
                files.read_text(root + "/lib/next"),
                "{0}/lib/tenner.new>{0}/lib/tenner>{0}/lib/tenner.old\n{0}/lib/trial\n".format(
                    root
                ),
            )
            self.assertEqual(files.read_text(root + "/lib/trial.new")[:8], "0 0.9.0 ")

    def test_it_goes_on_after_a_cut_anywhere(self):
        for cut in (0, 1, 299, 16383, 16384, 16385, 27001, 27002, 27003, len(CONTENT) - 1):
            for ranges in (True, False):
                with fakes.Board() as root:
                    staging = make_board(root)
                    staging.resume(DATA)
                    self.assertRaises(EOFError, self.receive, staging, CONTENT[:cut])
                    staging = Staging(root)
                    present = len(CONTENT) - staging.resume(DATA)
                    self.assertEqual(present, cut)
                    if ranges:
                        self.receive(staging, CONTENT[present:])
                    else:
                        self.receive(staging, CONTENT, present)
                    run(staging.verify())

    def test_files_for_other_boards_are_passed_over(self):
        app, x, z = fakes.FILES
        of_page = (("page/app.mpy", b"page" * 5000), ("page/page.pack", b"q" * 700))
        every = (app,) + of_page + (x, z)
        data, content = fakes.sign(fakes.lines(every)), fakes.content(every)
        plain = {"app.mpy": app[1], "port/x.mpy": x[1], "z.tsv": z[1]}
        with_page = {"app.mpy": of_page[0][1], "page.pack": of_page[1][1], "port/x.mpy": x[1]}
        start = len(app[1])
        middle = start + len(of_page[0][1])
        cuts = (0, start - 1, start, start + 9000, middle, middle + 9, len(content) - 2)
        for has_page, wanted in ((False, plain), (True, with_page)):
            for cut in cuts:
                for ranges in (True, False):
                    with fakes.Board() as root:
                        staging = make_board(root)
                        if has_page:
                            files.write_atomic(root + "/lib/tenner/page.pack", "old")
                        first = len(content) - staging.resume(data)
                        self.assertEqual(first, start if has_page else 0)
                        part = content[first : max(first, cut)]
                        self.assertRaises(EOFError, self.receive, staging, part)
                        staging = Staging(root)
                        present = len(content) - staging.resume(data)
                        # Nothing that is for other boards comes twice.
                        self.assertTrue(present >= cut)
                        if ranges:
                            self.receive(staging, content[present:])
                        else:
                            self.receive(staging, content, present)
                        run(staging.verify())
                        self.assertEqual(staging.resume(data), 0)
                        for path in wanted:
                            with open(root + "/lib/tenner.new/" + path, "rb") as file:
                                self.assertEqual(file.read(), wanted[path])
                        self.assertFalse(files.exists(root + "/lib/tenner.new/page"))
                        here = files.exists(root + "/lib/tenner.new/page.pack")
                        self.assertEqual(here, has_page)

    def test_another_release_does_not_go_on_with_it(self):
        with fakes.Board() as root:
            staging = make_board(root)
            staging.resume(DATA)
            self.assertRaises(EOFError, self.receive, staging, CONTENT[:5000])
            newer = fakes.sign(fakes.lines(version="0.9.1"))
            self.assertEqual(staging.resume(newer), len(CONTENT))

    def test_swapped_and_changed_content_is_refused_and_removed(self):
        swapped = CONTENT[512:1024] + CONTENT[:512] + CONTENT[1024:]
        changed = CONTENT[:-1] + b"?"
        for wrong in (swapped, changed, bytes(len(CONTENT))):
            with fakes.Board() as root:
                staging = make_board(root)
                staging.resume(DATA)
                self.receive(staging, wrong)
                with self.assertRaises(Refused) as caught:
                    run(staging.verify())
                self.assertIn("is not as the release's manifest says", str(caught.exception))
                self.assertEqual(sorted(os.listdir(root + "/lib")), ["release.keys", "tenner"])

    def test_a_body_without_end_fills_no_flash(self):
        with fakes.Board() as root:
            staging = make_board(root)
            staging.resume(DATA)
            body = self.receive(staging, CONTENT, endless=b"more")
            self.assertEqual(body.read, len(CONTENT))
            run(staging.verify())

    def test_a_flash_without_room_is_a_sentence(self):
        with fakes.Board() as root:
            staging = make_board(root)
            huge = [("f%02d" % number, 1048576) for number in range(64)]
            lines = ["file %d %s %s" % (size, "0" * 64, path) for path, size in huge]
            data = fakes.sign(fakes.lines(files=(), extra=lines))
            stat = os.statvfs(root)
            if stat[0] * stat[3] < 64 * 1048576:
                with self.assertRaises(Refused) as caught:
                    staging.resume(data)
                self.assertIn("the flash is too full", str(caught.exception))


class TestManifestOnTheWire(unittest.TestCase):
    def test_it_is_read_to_its_end_and_no_further(self):
        for size in (1, 7, 300):
            body = Body(DATA + CONTENT, size)
            self.assertEqual(run(read_manifest(body.readinto)), DATA)
            self.assertEqual(body.read, len(DATA))

    def test_what_is_none_ends(self):
        for data, endless in ((b"", b""), (b"<html>\n", b""), (DATA[:-1], b""), (b"", b"x\n")):
            body = Body(data, endless=endless)
            self.assertRaises(Refused, run, read_manifest(body.readinto))
            self.assertTrue(body.read <= LIMIT)


if __name__ == "__main__":
    unittest.main()
