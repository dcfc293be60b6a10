# tenner tests: every table of cases, the project's own and those beside the checkout.
# MIT license; Copyright (c) 2026 the tenner authors

import os
import unittest

import tables
from support import ROOT


def paths_in(folder):
    """Paths of the tables in a folder, in order; none where there is no such folder."""
    try:
        names = os.listdir(folder)
    except OSError:
        return []
    return [folder + "/" + name for name in sorted(names) if name.endswith(".json")]


class TestTables(unittest.TestCase):
    def check(self, folder):
        kinds = set()
        for path in paths_in(folder):
            kinds.add(tables.Cases(path).kind)
            with self.subTest(path):
                self.assertEqual(tables.run_table(path)[1], [])
        return kinds

    def test_own_tables_pass(self):
        kinds = self.check(ROOT + "/tests/vectors")
        self.assertGreater(len(kinds), 8)

    def test_tables_beside_the_checkout_pass(self):
        if not self.check(ROOT + "/../shared/vectors"):
            self.skipTest("no tables beside the checkout")

    def test_a_wrong_case_is_seen_in_every_kind(self):
        for path in paths_in(ROOT + "/tests/vectors"):
            cases = tables.Cases(path)
            kind = cases.kind
            first = next(iter(cases))
            if not tables.expectation(kind, first):
                continue
            case = dict(first)
            for key in tables.KINDS[kind][1]:
                if key in case:
                    case[key] = "something else"
            if case != first:
                expected, got = tables.check(kind, case)
                self.assertNotEqual(expected, got, path)


if __name__ == "__main__":
    unittest.main()
