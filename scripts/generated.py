"""A generated file of the repository: `make lint` checks it, `make format` writes it."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path


def stale(target: Path, text: str) -> str:
    """The problem with the file, or ""."""
    if target.exists() and target.read_text(encoding="utf-8") == text:
        return ""
    return f"{target.name} does not match its sources; run `make format`"


def with_block(target: Path, begin: str, block: str, end: str = "<!-- end -->\n") -> str:
    """Return the page `target` with `block` between its marks; SystemExit when the marks are
    gone."""
    return replaced(target.read_text(encoding="utf-8"), begin, block, str(target), end)


def replaced(text: str, begin: str, block: str, name: str, end: str = "<!-- end -->\n") -> str:
    """The same for the text of the page `name`."""
    before, found_begin, rest = text.partition(begin)
    _, found_end, after = rest.partition(end)
    if not found_begin or not found_end:
        raise SystemExit(f"{name}: the marks of the generated part are gone")
    return f"{before}{begin}\n{block}\n{end}{after}"


def main(target: Path, make: Callable[[], str], description: str | None) -> int:
    """The command line of a generator: check the file, or write it with --write."""
    return main_of_many(lambda: {target: make()}, description)


def main_of_many(make: Callable[[], dict[Path, str]], description: str | None) -> int:
    """The same for a generator of several files."""
    parser = argparse.ArgumentParser(description=(description or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--write", action="store_true", help="write it instead of checking it")
    if parser.parse_args().write:
        for target, text in make().items():
            target.write_text(text, encoding="utf-8")
    problems = [problem for target, text in make().items() if (problem := stale(target, text))]
    for problem in problems:
        print(problem)
    return 1 if problems else 0
