"""Generated input for the parsers of foreign data: `make fuzz S=600`."""

import sys

# The tests' own modules are found by name, as pytest finds them.
sys.path[:0] = ["tests"]
