# tenner tests: a right line with one edit is the same rule, or off with a sentence.
# MIT license; Copyright (c) 2026 the tenner authors

import sys
import unittest

import near_rules

# A chip's interpreter is slow.
_CASES = 4000 if sys.implementation.name == "cpython" else 200


class NearRules(unittest.TestCase):
    def test_no_edit_makes_a_paid_task_or_a_silent_line(self):
        known = near_rules.known()
        state = [20261127]

        def choose(count):
            # The same numbers on every interpreter.
            state[0] = (state[0] * 1103515245 + 12345) & 0x7FFFFFFF
            return (state[0] >> 8) % count

        for _ in range(_CASES):
            line, right = near_rules.edited(choose)
            verdict = near_rules.verdict(line, right, known)
            self.assertTrue(verdict in ("same", "off"), (verdict, line))


if __name__ == "__main__":
    unittest.main()
