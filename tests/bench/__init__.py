"""`make bench`: measure every figure that has a budget in the design; never part of a test's
verdict."""
