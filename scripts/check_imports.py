"""Check that the firmware imports at the top, that no imports are circular, and the order of the
packages. Imports for types alone count like all others.

The build merges modules into overlays and links each to its imports (firmware/layout.toml). An
import inside a function would hide a dependency, and a circle would have no order.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = "tenner"

#: Modules that choose another module at run time: for the platform or a setting, or from the
#: owner's files.
MAY_IMPORT_LATE = (
    "tenner.__main__",
    "tenner.overlay_loader",
    "tenner.port",
    "tenner.port.compat",
    "tenner.store.expose",
)

#: Each may import those before it. The last is not checked: tests may import everything.
HOST_ORDER = ("mpy_linker", "tenner_host", "tenner_sim", "scripts", "tests")
#: Those of HOST_ORDER that are not at the top.
IN_HOST_TOOLS = HOST_ORDER[:3]
#: The programs of a package: each may import every package, so each counts as a package of its
#: own.
_PROGRAM = re.compile(r".+\.(__main__|commands?)")
#: Modules of tenner_host that find the simulator by a name.
MAY_NAME_SIMULATOR = ("tenner_host.cli", "tenner_host.simulator")


def modules(
    folder: Path, package: str = "", suffixes: tuple[str, ...] = (".py", ".pyi")
) -> dict[str, ast.Module]:
    """The syntax trees of a folder of modules, by their full names; `package` is the folder's
    own. A .pyi is for types alone."""
    found = {}
    for path in sorted(path for path in folder.rglob("*") if path.suffix in suffixes):
        parts = [*filter(None, [package]), *path.relative_to(folder).with_suffix("").parts]
        above = parts[:-1]
        if parts[-1] == "__init__":
            parts = above
        if parts:
            tree = ast.parse(path.read_bytes(), str(path))
            _make_absolute(tree, above)
            found[".".join(parts)] = tree
    return found


def _make_absolute(tree: ast.Module, package: list[str]) -> None:
    """Give relative imports in a module of this package the full names of their modules."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level:
            above = package[: len(package) - node.level + 1]
            node.module = ".".join([*above, *filter(None, [node.module])])
            node.level = 0


def imported(node: ast.AST, known: dict[str, ast.Module]) -> Iterator[str]:
    """The modules among `known` that an import statement names."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names if alias.name in known)
    elif isinstance(node, ast.ImportFrom) and node.module:
        for alias in node.names:
            full = f"{node.module}.{alias.name}"
            if full in known:
                yield full
            elif node.module in known:
                yield node.module


def late_imports(known: dict[str, ast.Module]) -> Iterator[str]:
    """A sentence for each import of the package inside a function."""
    for name, tree in known.items():
        if not name.startswith(PACKAGE) or name in MAY_IMPORT_LATE:
            continue
        for function in ast.walk(tree):
            if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
                for node in ast.walk(function):
                    for target in imported(node, known):
                        line = getattr(node, "lineno", 0)
                        yield f"{name}:{line} imports {target} inside {function.name}()"


def circles(known: dict[str, ast.Module]) -> Iterator[str]:
    """A sentence for each group of modules that import each other, imports inside functions
    included."""
    edges = edges_of(known)
    for group in groups_of(edges):
        yield "circle of imports: " + ", ".join(group)


def package_circles(known: dict[str, ast.Module]) -> Iterator[str]:
    """A sentence for each group of packages whose modules import each other, with the imports."""
    edges = edges_of(known)
    packages: dict[str, set[str]] = {}
    for name, targets in edges.items():
        own = _package(name)
        packages.setdefault(own, set()).update({_package(target) for target in targets} - {own})
    for group in groups_of(packages):
        between = sorted(
            f"{name} -> {target}"
            for name, targets in edges.items()
            for target in targets
            if _package(name) != _package(target)
            and {_package(name), _package(target)} <= {*group}
        )
        yield f"circle of packages: {', '.join(group)} ({', '.join(between)})"


def _package(name: str) -> str:
    """The unit of order: a module or a folder below the top package; a program is one of its
    own."""
    return name if _PROGRAM.fullmatch(name) else ".".join(name.split(".")[:2])


def edges_of(known: dict[str, ast.Module]) -> dict[str, set[str]]:
    """The modules that each module imports."""
    return {
        name: {
            target for node in ast.walk(tree) for target in imported(node, known) if target != name
        }
        for name, tree in known.items()
    }


def groups_of(edges: dict[str, set[str]]) -> Iterator[list[str]]:
    """The groups whose members reach each other."""
    reach = {name: _reached(name, edges) for name in edges}
    seen: set[str] = set()
    for name in edges:
        group = sorted(other for other in reach[name] if name in reach[other])
        if name in reach[name] and name not in seen:
            seen.update(group)
            yield group


def _reached(start: str, edges: dict[str, set[str]]) -> set[str]:
    found: set[str] = set()
    waiting = [start]
    while waiting:
        for target in edges[waiting.pop()]:
            if target not in found:
                found.add(target)
                waiting.append(target)
    return found


def climbing(known: dict[str, ast.Module]) -> Iterator[str]:
    """A sentence for each import against HOST_ORDER, whether by a statement or by a name in a
    text."""
    for name, tree in known.items():
        above = HOST_ORDER[HOST_ORDER.index(name.partition(".")[0]) + 1 :]
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and name in MAY_NAME_SIMULATOR:
                continue
            for target in named(node):
                if target.partition(".")[0] in above:
                    yield (
                        f"{name}:{getattr(node, 'lineno', 0)} imports {target}, which is above it"
                    )


def named(node: ast.AST) -> Iterator[str]:
    """The modules that an import statement or a text names, of this project or not."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module:
        yield node.module
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        if re.fullmatch(r"\w+(\.\w+)+", node.value):
            yield node.value


def check(folder: Path = ROOT / "firmware", root: Path = ROOT) -> list[str]:
    known = modules(folder)
    host: dict[str, ast.Module] = {}
    for one in HOST_ORDER[:-1]:
        place = root / "host_tools" if one in IN_HOST_TOOLS else root
        host |= modules(place / one, one)
    return sorted(
        {
            *late_imports(known),
            *circles(known),
            *circles(host),
            *package_circles(host),
            *climbing(host),
        }
    )


def main() -> int:
    problems = check()
    for row in problems:
        print(row)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
