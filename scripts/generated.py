"""A file of the repository that a script makes from others: checked by `make lint`, written by `make format`."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path


def stale(target: Path, text: str) -> str:
    """What is wrong with the file, or nothing."""
    if target.exists() and target.read_text(encoding="utf-8") == text:
        return ""
    return f"{target.name} is not what it is made from says; run `make format`"


def main(target: Path, make: Callable[[], str], description: str | None) -> int:
    """The command line of such a script: check, or with --write make the file anew."""
    parser = argparse.ArgumentParser(description=(description or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--write", action="store_true", help="write it instead of checking it")
    if parser.parse_args().write:
        target.write_text(make(), encoding="utf-8")
    problem = stale(target, make())
    if problem:
        print(problem)
    return 1 if problem else 0
