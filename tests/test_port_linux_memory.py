# tenner test: an agent on Linux lets go of what only its start needed, and loads late what is seldom used.
# MIT license; Copyright (c) 2026 the tenner authors

import sys
import unittest

from support import temp_folder
from tenner.port import linux_pages
from tenner.store import files

# As the kernel writes them, of each but the fields that count.
SMAPS = """\
55d0c0000000-55d0c0010000 r--p 00000000 08:01 1  /opt/kit/micropython
Rss:                  64 kB
Private_Dirty:        64 kB
Anonymous:             0 kB
Swap:                  0 kB
55d0c0010000-55d0c0030000 r-xp 00010000 08:01 1  /opt/kit/a name with spaces
Anonymous:             0 kB
Swap:                  0 kB
55d0c0030000-55d0c0040000 r--p 00030000 08:01 1  /opt/kit/micropython
Anonymous:             4 kB
Swap:                  0 kB
55d0c0040000-55d0c0050000 r--p 00040000 08:01 1  /opt/kit/micropython
Anonymous:             0 kB
Swap:                  8 kB
55d0c0050000-55d0c0060000 rw-p 00050000 08:01 1  /opt/kit/micropython
Anonymous:             0 kB
Swap:                  0 kB
7f0000000000-7f0000010000 r--p 00000000 00:00 0
Anonymous:             0 kB
7fff00000000-7fff00010000 r-xp 00000000 00:00 0  [vdso]
Anonymous:             0 kB
"""


def resident_kb():
    with open("/proc/self/status") as file:
        for line in file:
            if line.startswith("VmRSS:"):
                return int(line.split()[1])


class TestPages(unittest.TestCase):
    def test_only_what_is_as_in_its_file_is_let_go(self):
        path = temp_folder(self) + "/smaps"
        files.write_atomic(path, SMAPS)
        expected = [(0x55D0C0000000, 0x10000), (0x55D0C0010000, 0x20000)]
        if sys.maxsize > 0x7FFFFFFF:
            self.assertEqual(linux_pages._clean(path), expected)

    def test_nothing_is_let_go_where_nothing_is_told(self):
        path = temp_folder(self) + "/smaps"
        files.write_atomic(path, SMAPS.replace("64 kB", " 0 kB"))
        self.assertEqual(linux_pages._clean(path), [])

    def test_the_memory_is_given_back_and_the_program_goes_on(self):
        try:
            linux_pages._madvise()
        except OSError as error:
            self.skipTest(str(error))
        if not linux_pages._clean():
            self.skipTest("/proc/self/smaps tells nothing here")
        before = resident_kb()
        linux_pages.let_go()
        self.assertTrue(resident_kb() < before)
        self.assertEqual(sorted("%d" % number for number in (2, 1)), ["1", "2"])

    def test_an_interpreter_without_the_call_stays_as_it_is(self):
        def without():
            raise OSError("no ffi")

        self.addCleanup(setattr, linux_pages, "_madvise", linux_pages._madvise)
        linux_pages._madvise = without
        linux_pages.let_go()


@unittest.skipIf(sys.implementation.name == "micropython", "CPython imports more than it needs")
class TestLater(unittest.TestCase):
    def test_a_module_is_loaded_when_it_is_used(self):
        from tenner.port.linux_later import later

        sys.modules.pop("colorsys", None)
        later("colorsys", "sys")
        import colorsys

        self.assertNotIn("ONE_THIRD", vars(colorsys))
        self.assertEqual(colorsys.rgb_to_hsv(0, 0, 0), (0.0, 0.0, 0))
        self.assertIn("ONE_THIRD", vars(colorsys))
        self.assertTrue(sys.modules["sys"] is sys)
        import colorsys as again

        self.assertEqual(again.ONE_THIRD, colorsys.ONE_THIRD)
        later("no_such_module_of_ours")
        import no_such_module_of_ours

        with self.assertRaises(ImportError):
            print(no_such_module_of_ours.anything)


if __name__ == "__main__":
    unittest.main()
