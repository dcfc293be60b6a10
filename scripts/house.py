"""The house in figures, and the budgets that they may not pass.

`make house` prints the figures beside their budgets (scripts/budgets.toml). `make lint` fails when
one is passed; `make format` lowers budgets to the figures, and never raises one: that takes a
commit that says why.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from mpy_linker import read_table
from mpy_linker.place import gone, read_layout, symbols_of, unplaced
from scripts import check_imports
from tenner_host import FIRMWARE, LAYOUT, ROOT, RULES, build

BUDGETS = ROOT / "scripts" / "budgets.toml"
#: The folders whose packages have budgets, by the name of their section.
PLACES = {"firmware": "firmware", "host": "host_tools"}
_TABLE = FIRMWARE / RULES
_HEAD = """\
# Upper limits for the figures of `make house`: lines and modules by package, and the marks of
# the whole house. `make lint` fails above one. `make format` lowers them. To raise one
# takes a commit that says why.
"""
#: A budget of lines leaves room for a small change.
_GRAIN = 50

Figures = dict[str, dict[str, int]]


def figures(root: Path = ROOT) -> Figures:
    """All figures, by section and name."""
    found: Figures = {"house": dict(marks(root))}
    for section, folder in PLACES.items():
        modules: Counter[str] = Counter()
        lines: Counter[str] = Counter()
        for path in sorted((root / folder).rglob("*.py")):
            package = _package(path.relative_to(root / folder))
            modules[package] += 1
            lines[package] += path.read_text(encoding="utf-8").count("\n")
        found[section + ".modules"] = dict(modules)
        found[section + ".lines"] = dict(lines)
    return found


def _package(path: Path) -> str:
    """`tenner/page/now.py` is of `tenner.page`; a file of the top is of its folder."""
    return ".".join(path.parts[:2] if len(path.parts) > 2 else path.parts[:-1]) or "(top)"


def marks(root: Path = ROOT) -> Iterator[tuple[str, int]]:
    """Yield the names and values of the figures for the whole house."""
    known = check_imports.modules(root / "firmware")
    groups = list(check_imports.groups_of(check_imports.edges_of(known)))
    yield "circles_with_types", len(groups)
    yield "modules_in_the_largest_circle", max(map(len, groups), default=0)
    takers = [(name, one) for name, tree in known.items() for one in _taking(tree, "App", "app")]
    yield "functions_that_take_the_app", len(takers)
    yield "modules_that_take_the_app", len({name for name, _ in takers})
    types = sorted((root / "firmware").rglob("*.pyi"))
    yield "files_of_types", len(types)
    yield "lines_of_types", sum(path.read_text("utf-8").count("\n") for path in types)
    protocols = [one for tree in known.values() for one in _protocols(tree)]
    yield "members_of_the_largest_protocol", max(map(_members, protocols), default=0)
    calls = [(name, call) for name, tree in known.items() for call in _overlay_calls(name, tree)]
    yield "overlay_calls", len(calls)
    yield "modules_with_overlay_calls", len({name for name, _ in calls})
    yield "loose_modules", len(list((root / "firmware" / "tenner").glob("*.py")))
    yield from _table_marks((root / _TABLE.relative_to(ROOT)).read_text(encoding="utf-8"))


def _taking(tree: ast.Module, type_name: str, parameter: str) -> Iterator[str]:
    """Yield the functions with a parameter of this type, or with this one without a type."""
    wanted = re.compile(rf"\b{type_name}\b")
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            for one in node.args.args:
                if (
                    wanted.search(ast.unparse(one.annotation))
                    if one.annotation
                    else (one.arg == parameter)
                ):
                    yield node.name
                    break


def _protocols(tree: ast.Module) -> Iterator[ast.ClassDef]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            if any(ast.unparse(base).startswith("Protocol") for base in node.bases):
                yield node


def _members(protocol: ast.ClassDef) -> int:
    """How many members a protocol adds to those of its bases."""
    return sum(not isinstance(one, ast.Expr) for one in protocol.body)


def _overlay_calls(name: str, tree: ast.Module) -> Iterator[str]:
    """Yield the functions of tenner.overlay that a module calls, once for each call."""
    if name == "tenner.overlay":
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if getattr(node.func.value, "id", "") == "overlay":
                yield node.func.attr


def _table_marks(text: str) -> Iterator[tuple[str, int]]:
    """Yield the figures of the layout's rules."""
    rows = [row for row in text.splitlines() if row.strip() and not row.lstrip().startswith("#")]
    yield "table_lines", len(rows)
    core = tomllib.loads(text)["core"]
    yield (
        "table_symbols",
        sum(len(one.partition(":")[2].split()) for entries in core.values() for one in entries),
    )


def read_budgets(path: Path = BUDGETS) -> Figures:
    return _flat(tomllib.loads(path.read_text(encoding="utf-8"))) if path.exists() else {}


def _flat(data: dict[str, dict]) -> Figures:  # type: ignore[type-arg]
    found: Figures = {"house": data.get("house", {})}
    for section in PLACES:
        for part, budgets in data.get(section, {}).items():
            found[f"{section}.{part}"] = budgets
    return found


def exceeded(found: Figures, budgets: Figures) -> list[str]:
    """A sentence for each figure above its budget, or without one."""
    problems = []
    for section, names in found.items():
        for name, value in names.items():
            budget = budgets.get(section, {}).get(name)
            if budget is None:
                problems.append(f"[{section}] {name} is {value}: scripts/budgets.toml has no row")
            elif value > budget:
                problems.append(
                    f"[{section}] {name} is {value}, its budget {budget}: make it smaller, or "
                    "raise it in scripts/budgets.toml and say why in the commit"
                )
    return problems


def check() -> list[str]:
    return exceeded(figures(), read_budgets())


def stale_layout() -> list[str]:
    """Sentences about symbols that are gone, or that the layout does not know."""
    symbols = symbols_of(build.modules(), read_table(FIRMWARE / RULES))
    layout = read_layout(FIRMWARE / LAYOUT)
    remedies = {
        gone(symbols, layout): "run `make profile` or `make profile R=--tidy`",
        unplaced(symbols, layout): "run `make profile`",
    }
    return [f"{said}: {remedy}" for said, remedy in remedies.items() if said]


def lowered(found: Figures, budgets: Figures) -> Figures:
    """The budgets, none above its figure but for the grain of lines, without rows of packages that
    are gone. New rows come only if there are no budgets at all."""
    if not any(budgets.values()):
        budgets = {
            section: {name: with_grain(section, name, value) for name, value in names.items()}
            for section, names in found.items()
        }
    return {
        section: {
            name: min(budget, with_grain(section, name, found[section][name]))
            for name, budget in names.items()
            if name in found[section]
        }
        for section, names in budgets.items()
    }


def with_grain(section: str, name: str, value: int) -> int:
    """The budget of a figure: a little above it for lines."""
    is_lines = section.endswith(".lines") or name.startswith("lines_")
    return -(-value // _GRAIN) * _GRAIN if is_lines else value


def text_of(budgets: Figures) -> str:
    """budgets.toml."""
    parts = [_HEAD]
    for section, names in budgets.items():
        rows = (
            f"{name if re.fullmatch(r'[a-z_]+', name) else repr(name)} = {value}".replace("'", '"')
            for name, value in names.items()
        )
        parts.append(f"\n[{section}]\n" + "\n".join(rows) + "\n")
    return "".join(parts)


def page() -> str:
    """budgets.toml as `make format` writes it."""
    return text_of(lowered(figures(), read_budgets()))


def main() -> int:
    found, budgets = figures(), read_budgets()
    if "--write" in sys.argv:
        BUDGETS.write_text(page(), encoding="utf-8")
        budgets = read_budgets()
    for section, names in found.items():
        print(f"\n{section}")
        limits = budgets.get(section, {})
        for name, value in names.items():
            print(f"  {name:36} {value:7,}   budget {limits.get(name, 0):7,}")
        if section != "house":
            print(f"  {'in all':36} {sum(names.values()):7,}   budget {sum(limits.values()):7,}")
    problems = exceeded(found, budgets)
    print("", *problems, sep="\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
