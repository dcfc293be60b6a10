# tenner vectors: runs tables of cases against the firmware, on CPython and on MicroPython.
# MIT license; Copyright (c) 2026 the tenner authors
"""
    python tests/vectors.py FILE.json ...        micropython tests/vectors.py FILE.json ...

tests/vectors/README.md describes the tables. Prints a line per failing case, closes with
`N passed, N failed`, and exits non-zero when a case failed or a file could not be run.
"""

import sys

_HERE = __file__.replace("\\", "/").rsplit("/", 1)[0] if "/" in __file__ else "."

for _folder in (_HERE, _HERE + "/../firmware"):
    if _folder not in sys.path:
        sys.path.insert(0, _folder)


def main(paths):
    # The logic is in a module of another name: on MicroPython `vectors` is the folder beside this
    # file.
    from tables import TableError, run_table

    if not paths:
        print("usage: tests/vectors.py FILE.json ...")
        return 2
    passed = failed = 0
    for path in paths:
        try:
            good, failures = run_table(path)
        except TableError as exc:
            good, failures = 0, [str(exc)]
        passed += good
        failed += len(failures)
        for line in failures:
            print("FAIL " + line)
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
