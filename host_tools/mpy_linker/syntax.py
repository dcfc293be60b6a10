"""The ground of this package: its error, and a walk through a syntax tree for a third of the time
of `ast.walk`, since a build does it for millions of nodes."""

from __future__ import annotations

import ast


class OverlayError(Exception):
    """A program cannot be merged safely; the text names the module, the line and the reason."""


FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)

#: Fields that hold no node whose kind anybody asks for: texts, and the marks of loads and stores.
_PLAIN = frozenset(
    {"ctx", "id", "attr", "arg", "kind", "type_comment", "lineno", "level", "module"}
)
#: The other fields, by the class of a node.
_FIELDS: dict[type[ast.AST], tuple[str, ...]] = {}


def children(node: ast.AST) -> list[ast.AST]:
    """The nodes right below this one, in the order of the text."""
    kind = type(node)
    fields = _FIELDS.get(kind)
    if fields is None:
        fields = _FIELDS[kind] = _fields(kind)
    found: list[ast.AST] = []
    for name in fields:
        value = getattr(node, name, None)
        if value.__class__ is list:
            found += [one for one in value if isinstance(one, ast.AST)]
        elif isinstance(value, ast.AST):
            found.append(value)
    return found


def _fields(kind: type[ast.AST]) -> tuple[str, ...]:
    if issubclass(kind, ast.Constant):
        return ()
    return tuple(name for name in kind._fields if name not in _PLAIN)


def walk(node: ast.AST) -> list[ast.AST]:
    """This node and all below it, the near ones first; `Load` and its like are left out."""
    found = [node]
    for one in found:
        found += children(one)
    return found
