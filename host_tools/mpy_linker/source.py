"""The modules of a program as syntax trees, without the parts that a board does not need."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from mpy_linker.scopes import Scopes, resolve
from mpy_linker.syntax import OverlayError, children

#: The variable by which a type checker reads imports that nothing else runs.
_FOR_TYPES = "TYPE_CHECKING"


@dataclass(eq=False)
class Module:
    """One file of the package: `name` is `app.net.http`, `path` is `app/net/http.py`."""

    name: str
    path: str
    tree: ast.Module
    scopes: Scopes
    is_package: bool
    #: The names of the enclosing functions by line, such as `Http.get`.
    functions: dict[int, str] = field(default_factory=dict)

    def where(self, node: ast.AST) -> str:
        """`app/net/http.py:12` of a node."""
        return f"{self.path}:{getattr(node, 'lineno', 0)}"


def parse(source: bytes, path: str) -> ast.Module:
    """The syntax tree of a file."""
    for _ in range(20):
        try:
            # In a separate thread: CPython before 3.12 miscounts the parser's depth (its issue
            # 106905) when another parser runs, or a test tool moves the recursion limit.
            with ThreadPoolExecutor(1) as fresh:
                return fresh.submit(ast.parse, source).result()
        except (SystemError, RecursionError):
            continue
        except SyntaxError as exc:
            raise OverlayError(f"{path} does not compile: line {exc.lineno}: {exc.msg}") from exc
    raise OverlayError(f"{path}: the parser failed 20 times in a row: build again")


def module_name(path: str) -> str:
    """`app.net.http` for `app/net/http.py`, `app.net` for `app/net/__init__.py`."""
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def read_module(path: str, source: bytes) -> Module:
    """A file of the package, ready to be merged."""
    tree = parse(source, path)
    functions: dict[int, str] = {}
    _note_functions(tree, "", functions)
    _Strip().visit(tree)
    is_package = path.endswith("/__init__.py")
    return Module(module_name(path), path, tree, resolve(tree), is_package, functions)


def read_modules(sources: Mapping[str, bytes]) -> dict[str, Module]:
    """Modules by name, from files by path."""
    modules = [read_module(path, source) for path, source in sorted(sources.items())]
    return {module.name: module for module in modules}


def packages(names: Iterable[str]) -> set[str]:
    """Every package that contains one of these modules."""
    found: set[str] = set()
    for name in names:
        parts = name.split(".")
        found.update(".".join(parts[:size]) for size in range(1, len(parts)))
    return found


def _note_functions(node: ast.AST, outer: str, functions: dict[int, str]) -> None:
    for child in children(node):
        name = outer
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            name = f"{outer}.{child.name}" if outer else child.name
            if not isinstance(child, ast.ClassDef):
                for line in range(child.lineno, (child.end_lineno or child.lineno) + 1):
                    functions[line] = name
        _note_functions(child, name, functions)


def is_for_types(node: ast.AST) -> bool:
    """Is this `TYPE_CHECKING = False`, or `if TYPE_CHECKING:`, whose block no board runs?"""
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
        return node.targets[0].id == _FOR_TYPES
    return isinstance(node, ast.If) and getattr(node.test, "id", "") == _FOR_TYPES


class _Strip(ast.NodeTransformer):
    """Removes docstrings, annotations, the imports for them, and assertions; -O2 would remove the
    last too."""

    def _body(self, node: ast.AST) -> ast.AST:
        self.generic_visit(node)
        for name in ("body", "orelse", "finalbody"):
            body = getattr(node, name, None)
            if not isinstance(body, list):
                continue
            kept = [one for one in body if not _is_text(one)]
            if not kept and name == "body" and not isinstance(node, ast.Module):
                kept = [ast.copy_location(ast.Pass(), body[0] if body else node)]
            body[:] = kept
        return node

    def visit_Module(self, node: ast.Module) -> ast.AST:
        node.body[:] = [one for one in node.body if not is_for_types(one)]
        return self._body(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        return self._body(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        return self._body(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        node.returns = None
        return self._body(node)

    def visit_If(self, node: ast.If) -> ast.AST:
        return self._body(node)

    def visit_For(self, node: ast.For) -> ast.AST:
        return self._body(node)

    def visit_While(self, node: ast.While) -> ast.AST:
        return self._body(node)

    def visit_Try(self, node: ast.Try) -> ast.AST:
        self._body(node)
        if not node.handlers and not node.finalbody:
            node.finalbody = [ast.copy_location(ast.Pass(), node)]
        return node

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.AST:
        return self._body(node)

    def visit_With(self, node: ast.With) -> ast.AST:
        return self._body(node)

    def visit_AsyncWith(self, node: ast.AsyncWith) -> ast.AST:
        return self._body(node)

    def visit_Assert(self, node: ast.Assert) -> ast.AST | None:
        return None

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.annotation = None
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST | None:
        self.generic_visit(node)
        if node.value is None:
            return None
        return ast.copy_location(ast.Assign(targets=[node.target], value=node.value), node)


def _is_text(node: ast.stmt) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )
