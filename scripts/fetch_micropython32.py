"""Fetch Debian's 32-bit MicroPython into the cache, without touching the system.

Its words and heap blocks are the size of an ESP32's, so a heap limit there is a real memory test.
The folder appears in the cache only if its interpreter works.
"""

from __future__ import annotations

import argparse
import platform
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tenner_host import debian, interpreters
from tenner_host.places import cache_folder


def check_machine() -> None:
    """Raise early, with the reason, where it cannot work."""
    if platform.system() != "Linux" or platform.machine() not in ("x86_64", "i686", "i386"):
        raise debian.CannotFetch(
            f"needs Linux on x86, this is {platform.system()} {platform.machine()}"
        )
    debian.check_tools()


def fetch() -> interpreters.Interpreter:
    """Download, unpack, test, and only then move into the cache."""
    cache = cache_folder()
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".fetch-", dir=cache) as work:
        stage = Path(work, "root")
        debian.unpack("i386", ["micropython"], stage)
        try:
            found = interpreters.probe("micropython32", interpreters.unpacked_argv(stage))
        except interpreters.InterpreterMissing as exc:
            raise debian.CannotFetch(f"it does not run here: {exc}") from exc
        target = cache / ("micropython32-" + ".".join(str(part) for part in found.version))
        if target.exists():
            shutil.rmtree(target)
        stage.rename(target)
    return interpreters.find_micropython32()


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument(
        "--if-possible",
        action="store_true",
        help="go on where it cannot be had, and say nothing where it is there",
    )
    wanted = not parser.parse_args(argv).if_possible
    try:
        try:
            found = interpreters.find_micropython32()
        except interpreters.InterpreterMissing:
            check_machine()
            print("Fetching the 32-bit MicroPython (about 4 MB) ...", flush=True)
            found = fetch()
            wanted = True
    except (debian.CannotFetch, interpreters.InterpreterMissing, OSError) as exc:
        after = "" if wanted else "; its tests are skipped"
        print(f"No 32-bit MicroPython: {exc}{after}", file=sys.stderr)
        return int(wanted)
    if wanted:
        version = ".".join(str(part) for part in found.version)
        print(f"micropython32 {version} ({found.bits} bit): {found.argv[-1]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
