"""Print the test files that a change touches, nearest first, for `make test CHANGED=1`.

A test is near that imports a changed module, names its file, or bears its name; where none does,
the modules that import it are asked in its place. The change: that of the working tree, else the
last commit.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from scripts import check_imports
from tenner_host import FIRMWARE, ROOT

#: More would take minutes; `make test` runs all.
MOST = 12
_TESTS = ROOT / "tests"


def changed() -> list[str]:
    """Paths below the root, as git tells them."""
    found = _git("diff", "--name-only", "HEAD") + _git(
        "ls-files", "--others", "--exclude-standard"
    )
    return found or _git("diff", "--name-only", "HEAD~1", "HEAD")


def _git(*words: str) -> list[str]:
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def module_of(path: str) -> str:
    """`firmware/tenner/log.py` -> `tenner.log`; "" for no module of ours."""
    match = re.match(
        r"(?:firmware|host_tools)/((?:tenner|mpy)\w*/.+)\.py$|((?:tests|scripts)/.+)\.py$",
        path,
    )
    if not match:
        return ""
    return (match[1] or match[2]).removesuffix("/__init__").replace("/", ".")


def touched(paths: list[str], tests: dict[str, str], users: dict[str, set[str]]) -> list[str]:
    """
    The tests near these paths. `tests` has the text of each test file by its path below the root,
    `users` for each module those that import it.
    """
    found: dict[str, None] = {path: None for path in paths if path in tests}
    for path in sorted(set(paths) - set(found)):
        waiting, seen = [module_of(path) or path], set()
        near: list[str] = []
        while waiting and not near:
            near = [one for name in waiting for one in _near(name, tests)]
            seen.update(waiting)
            waiting = sorted({user for name in waiting for user in users.get(name, ())} - seen)
        found.update(dict.fromkeys(near))
    return list(found)


def _near(name: str, tests: dict[str, str]) -> list[str]:
    if "/" in name:
        # A file of data goes by its name.
        return [path for path, text in tests.items() if Path(name).name in text]
    package, _, last = name.rpartition(".")
    words = name.split(".")[1:]
    named = re.compile(rf"\b{re.escape(name)}\b|from {re.escape(package)} import [^\n]*\b{last}\b")
    own = f"test_{'_'.join(words)}.py"
    return [path for path, text in tests.items() if path.endswith(f"/{own}") or named.search(text)]


def importers() -> dict[str, set[str]]:
    users: dict[str, set[str]] = {}
    known: dict[str, ast.Module] = check_imports.modules(FIRMWARE)
    for package in check_imports.IN_HOST_TOOLS:
        known |= check_imports.modules(ROOT / "host_tools" / package, package)
    for name, tree in known.items():
        for node in ast.walk(tree):
            for target in check_imports.named(node):
                users.setdefault(target, set()).add(name)
            if isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    users.setdefault(f"{node.module}.{alias.name}", set()).add(name)
    return users


def main() -> None:
    places = [*sorted(_TESTS.glob("test_*.py")), *sorted(_TESTS.glob("host/test_*.py"))]
    tests = {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in places}
    paths = changed()
    found = touched(paths, tests, importers())
    chosen = found[:MOST]
    print(
        f"{len(paths)} changed files touch {len(found)} test files"
        + (f"; the nearest {MOST} run" if len(found) > MOST else "")
        + "; on CPython, `make test` runs all on each interpreter",
        file=sys.stderr,
    )
    print(" ".join(chosen))


if __name__ == "__main__":
    main()
