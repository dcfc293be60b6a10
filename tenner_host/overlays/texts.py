"""Keep short texts out of RAM: MicroPython turns each of up to ten bytes into a name, which stays
forever.

The short texts of an overlay go into one tuple, `TEXTS = ("ok", "failed: ")`, whose items are
evicted with it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

#: The tuple's name, of rom_names.STATIC, which takes the least flash.
TEXTS = "isspace"

_LONGEST = 10  # MICROPY_ALLOC_PARSE_INTERN_STRING_LEN
_SHORTEST = 2
_BY_NAME = ("getattr", "setattr", "hasattr", "delattr", "__import__")


def words(tree: ast.AST) -> Iterator[str]:
    """Yield every name and text of a file that MicroPython keeps as a name."""
    for node in ast.walk(tree):
        for field in ("id", "attr", "name", "arg", "module", "asname"):
            name = getattr(node, field, None)
            if isinstance(name, str):
                yield name
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def pool(statements: list[ast.stmt], kept: set[str]) -> ast.stmt | None:
    """Move short texts out of an overlay's statements, but those that are names anyway; return the
    tuple's statement."""
    names = {one for statement in statements for one in words(statement)} - {
        node.value
        for statement in statements
        for node in ast.walk(statement)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    mover = _Mover(kept | names)
    for statement in statements:
        mover.visit(statement)
    if not mover.found:
        return None
    value = ast.Tuple(elts=[ast.Constant(one) for one in mover.found], ctx=ast.Load())
    return ast.Assign(targets=[ast.Name(id=TEXTS, ctx=ast.Store())], value=value)


class _Mover(ast.NodeTransformer):
    def __init__(self, kept: set[str]) -> None:
        self.kept = kept
        self.found: dict[str, int] = {}

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        text = node.value
        if not isinstance(text, str) or text in self.kept:
            return node
        if not _SHORTEST <= len(text.encode()) <= _LONGEST:
            return node
        place = self.found.setdefault(text, len(self.found))
        made = ast.Subscript(
            value=ast.Name(id=TEXTS, ctx=ast.Load()), slice=ast.Constant(place), ctx=ast.Load()
        )
        for part in ast.walk(made):
            ast.copy_location(part, node)
        return made

    def visit_Tuple(self, node: ast.Tuple) -> ast.expr:
        # The compiler makes one object of a tuple of constants; its texts are no names.
        if not all(isinstance(one, ast.Constant) for one in node.elts):
            self.generic_visit(node)
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        if isinstance(node.func, ast.Name) and node.func.id in _BY_NAME:
            node.args = [
                one if isinstance(one, ast.Constant) else self.visit(one) for one in node.args
            ]
            return node
        self.generic_visit(node)
        return node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.expr:
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                part.value = self.visit(part.value)
        return node
