# tenner test: on CPython an agent loads rarely used modules late.
# MIT license; Copyright (c) 2026 the tenner authors

import sys
import unittest


@unittest.skipIf(sys.implementation.name == "micropython", "CPython imports more than it needs")
class TestLater(unittest.TestCase):
    def test_a_module_is_loaded_when_it_is_used(self):
        from tenner.port.linux.lazy_import import later

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
