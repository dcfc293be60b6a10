"""Leaves out the import of `const`, which the compiler does by itself.

`_LIMIT = const(5)` needs the import on CPython only. mpy-cross knows the name, and for it the import is a
name, a global and a dozen bytes of code in most modules.
"""

from __future__ import annotations

import ast

from host_tools.shorten.syntax import parsed

HOME = "tenner.port.compat"


def without_const_import(source: bytes, name: str) -> bytes:
    """The module `name` without the import of `const`, if it says `NAME = const(...)` and nothing else."""
    tree = parsed(source, name)
    folded = {
        node.value.func
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and isinstance(node.value, ast.Call)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id == "const" and node not in folded:
            return source
    lines = source.splitlines(keepends=True)
    for statement in tree.body:
        if isinstance(statement, ast.ImportFrom) and statement.module == HOME:
            names = [ast.unparse(name) for name in statement.names]
            if "const" in names:
                names.remove("const")
                last = statement.end_lineno or statement.lineno
                left = f"from {HOME} import {', '.join(names)}" if names else ""
                emptied = [b"\n"] * (last - statement.lineno)
                lines[statement.lineno - 1 : last] = [left.encode() + b"\n", *emptied]
    return b"".join(lines)
