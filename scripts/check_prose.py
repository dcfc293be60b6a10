"""Count the marks of hard-to-read prose in comments, docstrings, texts and docs, against a budget
that only falls.

`python scripts/check_prose.py [PATH ...]` prints every finding of these files or folders; without
a path the counts of each area. The measure is deliberately simple, so that anyone can predict it:

* clause: `what`, `whatever`, `whoever`, `whichever` outside of questions, and sentences that begin with
  `Who` or `That which`
* passive: a sentence with three or more passives
* long: a sentence of more than 30 words

Words in backquotes do not count, nor do tables' head rows and code.
"""  # noqa: E501

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent

#: (area, files, findings allowed). Lower a number when it can be; never raise one.
AREAS = [
    ("firmware", "firmware/**/*.py", 1),
    ("mpy_linker", "host_tools/mpy_linker/**/*.py", 1),
    ("mpy_linker's README", "host_tools/mpy_linker/*.md", 0),
    ("tenner_host", "host_tools/tenner_host/**/*.py", 0),
    ("tenner_sim", "host_tools/tenner_sim/**/*.py", 1),
    ("tests", "tests/**/*.py", 6),
    ("scripts", "scripts/*.py", 1),
    ("docs", "docs/**/*.md", 0),
    ("README", "*.md", 0),
]
#: Their texts are bad examples, or pages of others.
NOT_COUNTED = ("scripts/check_prose.py", "tests/host/test_prose.py", "tests/host/web_pages.py")
MAX_WORDS = 30
MAX_PASSIVES = 2

_CLAUSE = re.compile(
    r"\b(?:what|whatever|whoever|whichever)\b(?! to\b)|(?:^|[.:;] )(?:Who|That which)\b", re.I
)
_IRREGULAR = (
    "put|kept|sent|told|read|written|taken|made|done|held|lost|left|said|found|given|known|seen"
    "|set|run|cut|built"
)
_PASSIVE = re.compile(
    rf"\b(?:is|are|was|were|be|been|being)(?: not| never| only)? (?:\w+ed|{_IRREGULAR})\b", re.I
)
_CODE = re.compile(r"`[^`]*`|\[([^\]]*)\]\([^)]*\)|https?://\S+|\{[^{}]*\}|%[-\d.]*[a-z]")
#: A text with many of these signs is a program, a list of names or a page's markup.
_PROGRAM = re.compile(r"[={}<>|]|\w[_/]\w|\w\(|,\w|\b[A-Z]{2,}\s[A-Z]{2,}")
_MAX_SIGNS = 3
#: The end of a sentence, or of a row's cell.
_END = re.compile(r"(?<=[.!?:;])\s+|(?<=\S) {2,}(?=\S)|\s\|\s|\n\s*\n|\n\s*(?:[-*|#>]|\d+\.)\s*")
_WORD = re.compile(r"[A-Za-z']+")
#: A text for people has this many words at least; shorter constants are names and formats.
_TEXT_WORDS = 4


class Finding(NamedTuple):
    path: Path
    line: int
    kind: str
    text: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.kind}: {' '.join(self.text.split())[:160]}"


def _comments(source: str) -> Iterator[tuple[int, str]]:
    """Comments, those of neighboring lines as one text."""
    start, column = 0, -1
    lines: list[str] = []
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type != tokenize.COMMENT or token.string.startswith(("#!", "# noqa", "# type:")):
            continue
        text = token.string.lstrip("#: ")
        if lines and token.start == (start + len(lines), column):
            lines.append(text)
            continue
        if lines:
            yield start, "\n".join(lines)
        start, column = token.start
        lines = [text]
    if lines:
        yield start, "\n".join(lines)


def _strings(source: str) -> Iterator[tuple[int, str]]:
    """Docstrings and texts for people."""
    inner: set[ast.AST] = set()
    # Breadth first: a formatted text comes before its parts.
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.JoinedStr):
            inner.update(node.values)
            parts = [part.value for part in node.values if isinstance(part, ast.Constant)]
            yield node.lineno, " x ".join(str(part) for part in parts)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in inner:
            yield node.lineno, node.value


def _paragraphs(text: str) -> Iterator[tuple[int, str]]:
    """A page's text without its code, a paragraph or a row each."""
    code = False
    start = 1
    lines: list[str] = []
    for number, line in enumerate(text.split("\n"), 1):
        if line.lstrip().startswith("```"):
            code = not code
            line = ""
        row = line.lstrip().startswith("|")
        if code or not line.strip() or row:
            if lines:
                yield start, "\n".join(lines)
            lines = []
            if row and not code:
                yield number, line.strip()
            continue
        if not lines:
            start = number
        lines.append(line)
    if lines:
        yield start, "\n".join(lines)


def texts(path: Path) -> Iterator[tuple[int, str]]:
    """(line, text) of all prose in a file."""
    source = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        yield from _paragraphs(source)
        return
    yield from _comments(source)
    for line, text in _strings(source):
        if len(_WORD.findall(text)) >= _TEXT_WORDS and " " in text.strip():
            yield line, text


def findings(path: Path) -> Iterator[Finding]:
    for line, text in texts(path):
        bare = _CODE.sub(lambda found: found[1] or "X", text)
        for sentence in _END.split(bare):
            if not sentence:
                continue
            if not sentence.rstrip().endswith("?"):
                for _ in _CLAUSE.finditer(sentence):
                    yield Finding(path, line, "clause", sentence)
            if len(_PASSIVE.findall(sentence)) > MAX_PASSIVES:
                yield Finding(path, line, "passive", sentence)
            if len(_WORD.findall(sentence)) > MAX_WORDS:
                if len(_PROGRAM.findall(sentence)) > _MAX_SIGNS:
                    continue
                yield Finding(path, line, "long", sentence)


def main(arguments: list[str]) -> int:
    """Print findings of paths, or counts of areas; 1 when an area is over its budget."""
    if arguments:
        for name in arguments:
            place = Path(name)
            files = (
                sorted([*place.rglob("*.py"), *place.rglob("*.md")]) if place.is_dir() else [place]
            )
            for path in files:
                for finding in findings(path):
                    print(finding)
        return 0
    problems = over_budget(show=True)
    for problem in problems:
        print(problem)
    return 1 if problems else 0


def over_budget(*, show: bool = False) -> list[str]:
    """A sentence for each area with more findings than it may have."""
    problems = []
    for area, pattern, allowed in AREAS:
        found: Counter[str] = Counter()
        lines = 0
        for path in ROOT.glob(pattern):
            if path.relative_to(ROOT).as_posix() in NOT_COUNTED:
                continue
            lines += path.read_text(encoding="utf-8").count("\n")
            found.update(finding.kind for finding in findings(path))
        total = sum(found.values())
        if show:
            each = ", ".join(
                f"{kind} {1000 * found[kind] / lines:.1f}"
                for kind in ("clause", "passive", "long")
            )
            print(
                f"{area:12} {lines:6} lines, {total:5} of {allowed} findings; per 1,000 lines: "
                f"{each}"
            )
        if total > allowed:
            problems.append(
                f"{area}: {total} findings, {allowed} allowed: python scripts/check_prose.py "
                f"{pattern.partition('/')[0]}"
            )
    return problems


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
