"""The firmware itself as overlays: everything that is used is there."""

from __future__ import annotations

import ast
import builtins

import pytest

from mpy_linker import bundle, read_table, table_of
from mpy_linker.place import Layout, place, symbols_of
from mpy_linker.scopes import resolve
from mpy_linker.table import CORE_ALIAS
from tenner_host import FIRMWARE, RULES, build
from tests.host.overlays_table import generated

SOURCES = {
    path.relative_to(FIRMWARE).as_posix(): path.read_bytes()
    for path in (FIRMWARE / "tenner").rglob("*.py")
}
SCRIPTS = {"main.py": (FIRMWARE / "main.py").read_bytes()}


def by_rules():
    rules = read_table(FIRMWARE / RULES)
    return symbols_of(SOURCES, rules), rules


@pytest.fixture(scope="module", params=["layout", "rules", "packages"])
def built(request):
    """The overlays by the layout, without one, and one for each package."""
    made = {
        "layout": lambda: table_of(SOURCES, FIRMWARE / RULES),
        # By the rules alone: nothing is known of any symbol.
        "rules": lambda: place(*by_rules(), Layout()),
        "packages": lambda: generated(SOURCES),
    }
    table = made[request.param]()
    return table, bundle(SOURCES, table, scripts=SCRIPTS)


def at_the_top(text: str) -> set[str]:
    """Return the names at the top of a module."""
    return set(resolve(ast.parse(text)).module.bindings)


def test_every_name_is_defined(built):
    for name, file in built[1].files.items():
        scopes = resolve(ast.parse(file.text))
        for scope in scopes.module.walk():
            for node, _, _ in scope.places:
                if node not in scopes.variables:
                    assert node.id in {*dir(builtins), "const"}, f"{name}:{node.lineno}: {node.id}"


def test_what_is_reached_in_another_overlay_is_there(built):
    table, bundled = built
    tops = {name: at_the_top(file.text) for name, file in bundled.files.items()}
    overlays = {table.file_of(name) for name in table.overlays} - {"app"}
    count = 0
    names = bundled.map.names["app"]
    (loaded,) = [flat for flat, old in names.items() if old == "overlays"]
    for name, file in bundled.files.items():
        here = loaded if name == "app" else ""
        for node in ast.walk(ast.parse(file.text)):
            if isinstance(node, ast.ImportFrom) and node.module == CORE_ALIAS:
                for alias in node.names:
                    assert alias.name in tops["app"], f"{name}: {alias.name}"
                    here = (alias.asname or alias.name) if alias.name == loaded else here
                    count += 1
            if (
                isinstance(node, ast.Attribute)
                and isinstance(node.value, ast.Attribute)
                and isinstance(node.value.value, ast.Name)
                and node.value.value.id == here
                and not node.value.attr.startswith("__")
            ):
                assert node.value.attr in overlays, f"{name}:{node.lineno}: {node.value.attr}"
                known = node.attr in tops[node.value.attr]
                assert known, f"{name}:{node.lineno}: {node.value.attr}.{node.attr}"
                count += 1
    assert count > 100


def test_no_import_of_the_package_is_left_but_the_core_and_what_a_chip_has_not(built):
    table, bundled = built
    for name, file in bundled.files.items():
        for node in ast.walk(ast.parse(file.text)):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tenner"):
                gone = [f"{node.module}.{alias.name}" for alias in node.names]
                assert (
                    table.is_outside(node.module)
                    or all(map(table.is_outside, gone))
                    or (node.module == "tenner" and node.names[0].name == "app")
                ), f"{name}:{node.lineno}: {ast.unparse(node)}"


def test_every_overlay_compiles(built):
    for name, data in build.compile_modules(
        {name: file.text.encode() for name, file in built[1].files.items()}
    ).items():
        assert data[:2] == b"M\x06", name


def test_the_index_finds_every_tool_and_driver(built):
    table, bundled = built
    tops = {name: at_the_top(file.text) for name, file in bundled.files.items()}
    found = {}
    for line in bundled.index.splitlines():
        module, overlay, symbol = line.split()[:3]
        assert symbol in tops[overlay]
        found[module] = symbol
    for path in SOURCES:
        module = path[:-3].replace("/", ".")
        names = at_the_top(SOURCES[path].decode())
        if table.looked_up(module, names) and not table.is_linux_only(module):
            assert module in found


def test_each_line_leads_to_one_of_the_source(built):
    for file in built[1].files.values():
        for line, found in zip(file.text.splitlines(), file.lines, strict=True):
            if found is None or not line.lstrip().startswith(("def ", "async def ", "class ")):
                continue
            module, number, _ = found
            text = SOURCES[module.path].decode().splitlines()[number - 1]
            words = line.split("(")[0].split(":")[0].split()[:-1]
            assert text.split()[: len(words)] == words, (line, module.path, number)
