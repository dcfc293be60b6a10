"""Write or check the list of modules for owners' tools and drivers in docs/api.md."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from mpy_linker import read_table
from scripts import generated
from tenner_host import FIRMWARE, ROOT, RULES

TARGET = ROOT / "docs" / "api.md"
_BEGIN = "<!-- made by scripts/api_page.py from firmware/layout.toml and the modules -->\n"


def modules() -> list[str]:
    """Names of the modules that owners' code may import."""
    return read_table(FIRMWARE / RULES).api


def public(module: str) -> Iterator[tuple[str, str]]:
    """(name with arguments and types, first sentence of the docstring) of each public name in a
    module."""
    path = FIRMWARE / (module.replace(".", "/") + ".py")
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        text = ast.get_docstring(node)
        if node.name.startswith("_") or not text:
            continue
        shown = node.name if isinstance(node, ast.ClassDef) else _signature(node)
        yield shown, " ".join(text.split("\n\n")[0].split())


def _signature(function: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    for one in [*function.args.args, *function.args.kwonlyargs]:
        one.annotation = _unquoted(one.annotation)
    shown = f"{function.name}({ast.unparse(function.args)})"
    result = _unquoted(function.returns)
    if result is not None:
        shown += f" -> {ast.unparse(result)}"
    # A bar would end the table's cell.
    return shown.replace(" | ", " or ")


def _unquoted(annotation: ast.expr | None) -> ast.expr | None:
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        return ast.Name(annotation.value)
    return annotation


def page() -> str:
    """The page, with its list renewed."""
    lines = []
    for module in modules():
        lines += [f"### {module}\n", "| | |", "|---|---|"]
        lines += [f"| `{name}` | {text} |" for name, text in public(module)]
        lines.append("")
    return generated.with_block(TARGET, _BEGIN, "\n".join(lines))


if __name__ == "__main__":
    sys.exit(generated.main(TARGET, page, __doc__))
