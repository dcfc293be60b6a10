"""Files of the workspace that a sync leaves out: `.tennerignore`, with the patterns of
.gitignore."""

from __future__ import annotations

from pathlib import Path

from pathspec import GitIgnoreSpec

from tenner_host.errors import CommandError
from tenner_host.places import read_text

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
    """The later pattern decides; `!pattern` includes a file again, `name/` matches folders
    only."""

    def __init__(self, text: str = "") -> None:
        try:
            self._spec = GitIgnoreSpec.from_lines((DEFAULTS + text).splitlines())
        except ValueError as exc:
            raise CommandError(
                f"{FILE} of this project: {exc}; it takes the patterns of .gitignore"
            ) from exc

    @classmethod
    def load(cls, root: Path) -> Ignore:
        """The patterns of a project folder; without its file only the defaults."""
        path = root / FILE
        return cls(read_text(path)) if path.exists() else cls()

    def __call__(self, path: str) -> bool:
        """Is the file at this path, relative to the workspace, left out?"""
        return self._spec.match_file(path)
