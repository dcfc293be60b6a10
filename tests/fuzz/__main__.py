"""`python -m tests.fuzz [--seconds S] [NAME ...]`: fuzz the parsers, one after the other."""

from __future__ import annotations

import argparse
import sys

from tests.fuzz.run import fuzz_for
from tests.fuzz.targets import TARGETS


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60, help="for each target")
    parser.add_argument("names", nargs="*", choices=[[], *TARGETS], help="all of them by default")
    options = parser.parse_args()
    for name in options.names or TARGETS:
        count = fuzz_for(name, options.seconds)
        print(f"{name:10} {count} inputs without a finding", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
