"""Fewer lines for the same code: MicroPython keeps a byte or two in memory for each line of a
function."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from mpy_linker.source import Module

#: The module and the lines of its source, from the first to the last, of a line; None for new
#: ones.
Origin = tuple[Module, int, int] | None

#: More simple statements than this make a traceback too vague.
_MOST = 4
#: The first words of statements that have a block.
_BLOCKS = ("if", "elif", "else:", "for", "while", "try:", "except", "except:", "finally:", "with")
_NEVER = ("def", "class", "async")


def joined(text: str, origins: Sequence[Origin]) -> tuple[str, list[Origin]]:
    """Join simple statements of a block, and a block of one such line with the line before it;
    `origins` has one for each line of `text`, which is of `ast.unparse`."""
    lines = [
        _Line(line, origin)
        for line, origin in zip(text.splitlines(), origins, strict=True)
        if line
    ]
    lines = _join_statements(lines)
    lines = _join_blocks(lines)
    return "\n".join([line.text for line in lines]) + "\n", [line.origin for line in lines]


class _Line:
    def __init__(self, text: str, origin: Origin) -> None:
        self.text = text
        self.origin = origin
        bare = text.lstrip(" ")
        self.depth = len(text) - len(bare)
        word = bare.partition(" ")[0].partition("(")[0]
        self.has_block = word in _BLOCKS
        self.is_simple = not self.has_block and word not in _NEVER and not word.startswith("@")

    def add(self, other: _Line, between: str) -> None:
        self.text += between + other.text.lstrip(" ")
        mine, its = self.origin, other.origin
        if mine is None:
            self.origin = its
        elif its is not None and its[0] is mine[0]:
            self.origin = (mine[0], min(mine[1], its[1]), max(mine[2], its[2]))


def _join_statements(lines: list[_Line]) -> list[_Line]:
    made: list[_Line] = []
    for (_, is_simple), run in groupby(lines, lambda line: (line.depth, line.is_simple)):
        for number, line in enumerate(run):
            if is_simple and number % _MOST:
                made[-1].add(line, ";")
            else:
                made.append(line)
    return made


def _join_blocks(lines: list[_Line]) -> list[_Line]:
    made: list[_Line] = []
    for line, after in zip(lines, [*lines[1:], None], strict=False):
        before = made[-1] if made else None
        if (
            before is not None
            and before.has_block
            and before.text.endswith(":")
            and line.is_simple
            and line.depth > before.depth
            and (after is None or after.depth < line.depth)
        ):
            before.add(line, "")
        else:
            made.append(line)
    return made
