"""Link a MicroPython program, and report on its overlays: `python -m mpy_linker --help`."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from mpy_linker.bundle import Bundle, bundle, wanted
from mpy_linker.constants import find_constants
from mpy_linker.merge import arrange
from mpy_linker.mpy import compile_module
from mpy_linker.place import gone, layout_path, place, read_layout, symbols_of
from mpy_linker.program import AS_OBJECT, ModuleTarget, Program, Symbol, read_program
from mpy_linker.syntax import OverlayError
from mpy_linker.table import CORE, Names, Table, read_table

#: (overlay of the user, overlay used, line, full name of the symbol)
Use = tuple[str, str, str, str]


def main(argv: list[str]) -> int:
    """Print the report, or write the files; 1 and a sentence if the program cannot be linked."""
    given = _parser().parse_args(argv)
    try:
        rules = read_table(given.rules)
        sources, scripts = read_files(given.rules.parent, rules.names)
        symbols = symbols_of(sources, rules)
        path = layout_path(given.rules)
        layout = read_layout(path)
        if said := gone(symbols, layout):
            raise OverlayError(f"{path.name}: {said}")
        table = place(symbols, rules, layout)
        linked = bundle(sources, table, scripts=scripts)
        for name in given.name:
            if name not in table.overlays:
                raise OverlayError(f"there is no overlay {name}")
        uses = list(_uses(sources, table))
        if given.name:
            for user, used, where, what in uses:
                if user in given.name:
                    print(f"{where}: {user} -> {used}: {what}")
            return 0
        compiled = {
            name: compile_module(file.text.encode(), name) for name, file in linked.files.items()
        }
        if given.output:
            compiled |= {
                one: compile_module(sources[f"{one.replace('.', '/')}.py"], one)
                for one in table.separate
            }
            _write(given.output, linked, compiled, scripts, table.names)
    except (OSError, OverlayError) as exc:
        print(f"mpy_linker: {exc}", file=sys.stderr)
        return 1
    _report(table, linked, compiled, uses)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m mpy_linker",
        description="Merge the modules of a MicroPython program into overlays, by a rules file "
        "beside its package and the layout beside that (layout.toml, layout.json). Print for each "
        "overlay the bytes of its .mpy, its modules and the overlays that its code uses, with "
        "the number of uses; for each phase the bytes of the overlays that stay when it begins.",
    )
    parser.add_argument("rules", metavar="RULES", type=Path, help="the rules file")
    parser.add_argument(
        "name",
        metavar="NAME",
        nargs="*",
        help="an overlay: print each use of other overlays in its code, with file and line",
    )
    parser.add_argument(
        "--output",
        metavar="FOLDER",
        type=Path,
        help="write the linked program there: the scripts, and a .mpy for each overlay",
    )
    return parser


def read_files(folder: Path, names: Names) -> tuple[dict[str, bytes], dict[str, bytes]]:
    """The modules of a program, by paths such as `app/net/http.py`, and its scripts."""
    paths = sorted((folder / names.package).rglob("*.py"))
    sources = {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}
    scripts = [folder / name for name in names.scripts]
    return sources, {path.name: path.read_bytes() for path in scripts if path.is_file()}


def _write(
    folder: Path,
    linked: Bundle,
    compiled: Mapping[str, bytes],
    scripts: Mapping[str, bytes],
    names: Names,
) -> None:
    """Write the files of a board below a folder."""
    files = {
        f"{names.package}/{name.removeprefix(names.package + '.').replace('.', '/')}.mpy": data
        for name, data in compiled.items()
    }
    if linked.index:
        files[f"{names.package}/overlays.tsv"] = linked.index.encode()
    for name, data in {**files, **scripts}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def _report(table: Table, linked: Bundle, compiled: Mapping[str, bytes], uses: list[Use]) -> None:
    sizes = {name: len(compiled[table.file_of(name)]) for name in table.overlays}
    for name in sorted(table.overlays, key=lambda one: (one != CORE, one)):
        reached = Counter(used for user, used, _, _ in uses if user == name and used != CORE)
        shown = "".join(f" {used}:{count}" for used, count in sorted(reached.items()))
        count = len(table.overlays[name])
        print(f"{name:14} {sizes[name]:6} B {count:3} modules" + (shown and f" ->{shown}"))
    for phase, names in table.phases.items():
        size = sum(sizes[name] for name in names)
        shown = " ".join(names)
        print(f"phase {phase:14} {size + sizes[CORE]:6} B with core: {shown}".rstrip())
    print(f"all {sum(sizes.values())} B in {len(sizes)} files, index {len(linked.index)} B")


def _uses(modules: dict[str, bytes], table: Table) -> Iterator[Use]:
    """Yield the uses of other overlays in an overlay's code."""
    program = _program(modules, table)
    for module in program.modules.values():
        here = table.overlay_of(module.name)
        for link in program.links_of(module):
            target = link.target
            if isinstance(target, ModuleTarget):
                target = program.symbol(program.modules[target.name], AS_OBJECT)
            if isinstance(target, Symbol) and target.value is None and target.overlay != here:
                yield here, target.overlay, module.where(link.node), target.full


def _program(modules: dict[str, bytes], table: Table) -> Program:
    program = read_program(wanted(modules, table), table.is_outside, table.pieces)
    table.adopt(program.modules)
    find_constants(program)
    arrange(program, table)
    return program


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
