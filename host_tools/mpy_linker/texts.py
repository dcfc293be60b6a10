"""Keep texts out of RAM. MicroPython turns each of up to ten bytes into a name, which stays
forever; the short texts of an overlay go into one tuple, `TEXTS = ("ok", "failed: ")`, whose items
are evicted with it. Long texts stay on flash.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator

from mpy_linker.syntax import FUNCTIONS, walk

#: The tuple's name, of micropython_names.STATIC, which takes the least flash.
TEXTS = "isspace"

_LONGEST = 10  # MICROPY_ALLOC_PARSE_INTERN_STRING_LEN
_SHORTEST = 2
_LONG = 24
_LONGEST_READ = 256  # the length is in a byte
#: Texts with these are for programs, which use them again and again.
_PROTOCOL = '\r\n{}<="'
_BY_NAME = ("getattr", "setattr", "hasattr", "delattr", "__import__")


def words(tree: ast.AST) -> Iterator[str]:
    """Yield every name and text of a file that MicroPython keeps as a name."""
    for node in walk(tree):
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
        for node in walk(statement)
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
        return _item(ast.Name(id=TEXTS, ctx=ast.Load()), place, node)

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

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.stmt:
        if not any(TEXTS in _bound(one) for one in node.body):
            self.generic_visit(node)
            return node
        # The class has an attribute of the tuple's name, and its body looks there first: only the
        # bodies of its methods see the tuple.
        for method in node.body:
            if isinstance(method, FUNCTIONS):
                method.body = [self.visit(one) for one in method.body]
        return node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.expr:
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                part.value = self.visit(part.value)
        return node


def _bound(statement: ast.stmt) -> set[str]:
    """The names that a statement of a class body binds."""
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return {statement.name}
    return {
        node.id
        for node in walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }


class Shelf:
    """The long texts of a build, which stay in the file of its overlays until code needs one: in
    memory each takes 40 to 100 bytes, and most are errors that do not happen."""

    def __init__(self) -> None:
        self.data = b""
        self._known: dict[str, int] = {}

    def number(self, text: str) -> int:
        """The number by which the loader finds a text: the distance of
        its first byte from the end of the file, and its length in the lowest eight bits."""
        if text not in self._known:
            data = text.encode()
            self.data = data + self.data
            self._known[text] = len(self.data) << 8 | len(data)
        return self._known[text]


def _is_long(node: ast.AST) -> bool:
    """Whether a text is of words and so long that it takes more memory than its number."""
    return (
        isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and _LONG <= len(node.value.encode()) < _LONGEST_READ
        and " " in node.value.strip()
        and not set(_PROTOCOL) & set(node.value)
    )


def shelve(statements: list[ast.stmt], shelf: Shelf, loaded: ast.expr) -> None:
    """Replace the long texts inside of functions by `loaded[number]`."""
    for statement in statements:
        for node in walk(statement):
            if isinstance(node, FUNCTIONS):
                node.body = [_Shelver(shelf, loaded).visit(one) for one in node.body]


class _Shelver(ast.NodeTransformer):
    def __init__(self, shelf: Shelf, loaded: ast.expr) -> None:
        self.shelf = shelf
        self.loaded = loaded

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        if not _is_long(node):
            return node
        number = self.shelf.number(str(node.value))
        return _item(copy.deepcopy(self.loaded), number, node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.stmt:
        return node  # `shelve` comes to it

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.stmt:
        return node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.expr:
        return node


def _item(holder: ast.expr, number: int, text: ast.Constant) -> ast.expr:
    """`holder[number]` in the place of a text."""
    made = ast.Subscript(value=holder, slice=ast.Constant(number), ctx=ast.Load())
    for part in walk(made):
        ast.copy_location(part, text)
    return made
