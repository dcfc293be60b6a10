"""Check that the firmware's public functions say the types of their arguments and of their result.

A board's build drops annotations, so they cost nothing there; mypy checks that they are true
(`make lint`).
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from scripts import check_subset

ROOT = Path(__file__).resolve().parent.parent


def public_functions(
    body: list[ast.stmt], class_name: str = ""
) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """The functions that other modules may call, by name, and the methods of public classes; also
    those that a platform or a guard selects."""
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            if not node.name.startswith("_") or class_name and _is_special(node.name):
                yield f"{class_name}.{node.name}".lstrip("."), node
        elif isinstance(node, ast.ClassDef):
            if not node.name.startswith("_"):
                yield from public_functions(node.body, f"{class_name}.{node.name}".lstrip("."))
        elif isinstance(node, (ast.If, ast.Try)):
            handlers = node.handlers if isinstance(node, ast.Try) else []
            for block in (node.body, node.orelse, *(handler.body for handler in handlers)):
                yield from public_functions(block, class_name)


def _is_special(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


def _untyped(function: ast.FunctionDef | ast.AsyncFunctionDef, is_method: bool) -> list[str]:
    """The arguments without a type, and `return`."""
    given = function.args
    arguments = [*given.posonlyargs, *given.args, *given.kwonlyargs]
    if is_method and not any(
        isinstance(one, ast.Name) and one.id == "staticmethod" for one in function.decorator_list
    ):
        arguments = arguments[1:]
    arguments += [one for one in (given.vararg, given.kwarg) if one is not None]
    missing = [one.arg for one in arguments if one.annotation is None]
    return missing + ["return"] * (function.returns is None)


def check_source(path: Path, text: str) -> list[str]:
    """One `path:line: sentence` for each public function without types."""
    shown = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
    return [
        f"{shown}:{function.lineno}: {name} has no type for {', '.join(missing)}"
        for name, function in public_functions(ast.parse(text).body)
        if (missing := _untyped(function, "." in name))
    ]


def check() -> list[str]:
    return [
        row
        for path in check_subset.firmware_files()
        for row in check_source(path, path.read_text(encoding="utf-8"))
    ]


def main() -> int:
    problems = check()
    for row in problems:
        print(row)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
