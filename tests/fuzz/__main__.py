"""`python -m tests.fuzz [--seconds S] [--on INTERPRETER] [NAME ...]`: fuzz the parsers, one after
the other."""

from __future__ import annotations

import argparse
import sys

from tenner_host.interpreters import find_micropython, find_micropython32
from tests.fuzz.parsers import PARSERS
from tests.fuzz.run import Elsewhere, fuzz_for
from tests.fuzz.targets import TARGETS

_ON = {"micropython": find_micropython, "micropython32": find_micropython32}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60, help="for each target")
    parser.add_argument("--on", choices=("cpython", *_ON), default="cpython")
    parser.add_argument("names", nargs="*", choices=[[], *TARGETS], help="all of them by default")
    options = parser.parse_args()
    there = Elsewhere(_ON[options.on]()) if options.on in _ON else None
    for name in options.names or (PARSERS if there else TARGETS):
        count = fuzz_for(name, options.seconds, there.target(name) if there else None)
        print(f"{options.on}: {name:14} {count} inputs without a finding", flush=True)
    if there:
        there.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
