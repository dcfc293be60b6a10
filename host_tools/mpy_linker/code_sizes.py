"""Bytes of compiled code for each symbol of a build."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping

from mpy_linker.bundle import Bundle
from mpy_linker.source import module_name
from mpy_linker.split import MARK
from mpy_linker.syntax import FUNCTIONS, walk

#: The bytes of a file without code, beside its name.
_EMPTY = 20

#: Compiles sources by name.
Compile = Callable[[dict[str, bytes]], Mapping[str, bytes]]


def code_sizes(
    built: Bundle, sources: Mapping[str, bytes], compile_all: Compile
) -> dict[str, int]:
    """The bytes of .mpy by symbols such as `app.net.http:Http.close`; a symbol that the build
    omits has none."""
    places = {
        (path, line): f"{module_name(path)}{MARK}{name}"
        for path, source in sources.items()
        for line, name in _lines(ast.parse(source))
    }
    parts: dict[str, bytes] = {}
    for file in built.files.values():

        def symbol(node: ast.stmt, file=file) -> str:  # type: ignore[no-untyped-def]
            origin = file.lines[node.lineno - 1]
            return places.get((origin[0].path, origin[1]), "") if origin else ""

        for statement in ast.parse(file.text).body:
            name = symbol(statement)
            if isinstance(statement, ast.ClassDef):
                methods = {
                    one: found
                    for one in statement.body
                    if isinstance(one, FUNCTIONS) and (found := symbol(one))
                }
                parts.update({found: _text(one) for one, found in methods.items()})
                statement.body = [one for one in statement.body if one not in methods]
                statement.body = statement.body or [ast.Pass()]
            if name:
                parts[name] = parts.get(name, b"") + _text(statement)
    return {name: len(data) - len(name) - _EMPTY for name, data in compile_all(parts).items()}


def _text(node: ast.stmt) -> bytes:
    return ast.unparse(node).encode() + b"\n"


def _lines(tree: ast.Module) -> list[tuple[int, str]]:
    found = []
    for statement in tree.body:
        if isinstance(statement, (*FUNCTIONS, ast.ClassDef)):
            found.append((statement.lineno, statement.name))
            if isinstance(statement, ast.ClassDef):
                found += [
                    (one.lineno, f"{statement.name}.{one.name}")
                    for one in statement.body
                    if isinstance(one, FUNCTIONS)
                ]
        else:
            names = [
                node.id
                for node in walk(statement)
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
            ]
            found += [(statement.lineno, name) for name in names[:1]]
    return found
