"""Files of the workspace that a sync leaves out: `.tennerignore`, with the patterns of .gitignore."""

from __future__ import annotations

import re
from pathlib import Path

FILE = ".tennerignore"

#: Leftovers of editors and interpreters, and halves of unfinished writes.
DEFAULTS = """
.*
__pycache__/
*.pyc
*~
*.swp
*.tmp
Thumbs.db
"""


class Ignore:
    """The later pattern decides; `!pattern` includes a file again, `name/` matches folders only."""

    def __init__(self, text: str = "") -> None:
        self._rules: list[tuple[bool, bool, re.Pattern[str]]] = []
        for line in (DEFAULTS + text).splitlines():
            pattern = line.rstrip()
            if not pattern or pattern.startswith("#"):
                continue
            again = pattern.startswith("!")
            pattern = pattern.removeprefix("!")
            folders = pattern.endswith("/")
            self._rules.append((not again, folders, _compile(pattern.rstrip("/"))))

    @classmethod
    def load(cls, root: Path) -> Ignore:
        """The patterns of a project folder; without its file only the defaults."""
        try:
            return cls((root / FILE).read_text(encoding="utf-8"))
        except FileNotFoundError:
            return cls()

    def __call__(self, path: str) -> bool:
        """Is the file at this path, relative to the workspace, left out?"""
        parts = path.split("/")
        for depth in range(1, len(parts) + 1):
            # An ignored folder ignores all files in it.
            if self._matches("/".join(parts[:depth]), folder=depth < len(parts)):
                return True
        return False

    def _matches(self, path: str, *, folder: bool) -> bool:
        out = False
        for verdict, folders, pattern in self._rules:
            if (folder or not folders) and pattern.fullmatch(path):
                out = verdict
        return out


def _compile(pattern: str) -> re.Pattern[str]:
    anchored = "/" in pattern
    text = "" if anchored else "(?:.*/)?"
    pattern = pattern.lstrip("/")
    at = 0
    while at < len(pattern):
        if pattern.startswith("**/", at):
            text, at = text + "(?:.*/)?", at + 3
        elif pattern.startswith("**", at):
            text, at = text + ".*", at + 2
        elif pattern[at] == "*":
            text, at = text + "[^/]*", at + 1
        elif pattern[at] == "?":
            text, at = text + "[^/]", at + 1
        elif pattern[at] == "[" and "]" in pattern[at + 2 :]:
            end = pattern.index("]", at + 2)
            inside = pattern[at + 1 : end].replace("\\", "\\\\")
            inside = "^" + inside[1:] if inside.startswith("!") else inside
            text, at = f"{text}[{inside}]", end + 1
        else:
            text, at = text + re.escape(pattern[at]), at + 1
    return re.compile(text)
