"""Merge a program into overlays: from the files of the package to the source of each overlay."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from mpy_linker.constants import find_constants
from mpy_linker.emit import File, emit
from mpy_linker.maps import Map
from mpy_linker.merge import Overlay, arrange, phases_named
from mpy_linker.micropython_names import ARGUMENTS, ATTRIBUTES, ROM, STATIC
from mpy_linker.minify import Minify
from mpy_linker.naming import Naming
from mpy_linker.plan import BORROW, LOADED, Plan
from mpy_linker.program import Program, Symbol, read_program
from mpy_linker.prune import fold_switches, prune
from mpy_linker.source import module_name
from mpy_linker.syntax import OverlayError, walk
from mpy_linker.table import CORE, Names, Table
from mpy_linker.texts import Shelf, words

#: The index for lookups at run time, a line for each module: its name, its overlay, its object's
#: name there, and "+" if code from outside the build may import it.
INDEX = "overlays.tsv"


# With the trees of all modules behind its map, its text for a debugger takes 22 GB.
@dataclass(repr=False)
class Bundle:
    """The program as overlays: the source of each, by the name of its file."""

    files: dict[str, File]
    index: str
    map: Map
    #: Symbols without a use on a chip, which the build omits.
    dead: list[str]
    #: The overlays of `packed` with their names in code; empty if each has a separate file.
    places: dict[str, str]
    #: Their long texts, for the end of that file.
    texts: bytes


def bundle(
    sources: Mapping[str, bytes],
    table: Table,
    *,
    scripts: Mapping[str, bytes] | None = None,
    minify: bool = True,
    debug: bool = False,
    build: str = "",
    is_packed: bool = False,
) -> Bundle:
    """Merge the modules in `sources`, such as `app/net/http.py`, by the table.

    `scripts`, such as main.py, import from the core by name and stay unchanged. With `debug` the
    run time keeps no overlay for longer and shows its heap. `build` is the build's id.
    `is_packed`: one file holds all overlays but the core, and code calls them by names that are in
    ROM.
    """
    program = read_program(wanted(sources, table), table.is_outside, table.pieces)
    table.adopt(program.modules)
    packs = sorted(set(table.overlays) - {CORE}) if is_packed else []
    free = _free(len(packs))
    phases = {name: number for number, name in enumerate(table.phases)}
    names_of = table.names
    idle = {"_IDLE": phases[names_of.idle]} if names_of.idle in phases else {}
    stays = _stays(table)
    sets = sorted({0, *stays.values()})
    width = (len(phases) + 7) // 8
    _fill_in(
        program,
        table,
        names_of.loader,
        {
            "_BUILT": True,
            "_CARRY": b"".join(one.to_bytes(width, "little") for one in sets),
            "_PHASES": tuple(phases) if debug else (),
            "_PACKED": is_packed,
            "_PLACES": tuple(_begins(free)),
            **idle,
            **{f"_{name}": phases[name] for name in table.room if name in phases},
        },
    )
    _fill_in(
        program, table, names_of.runtime, {"_DEBUG": debug, "_IN_RAM": debug or is_packed, **idle}
    )
    _fill_in(program, table, names_of.package, {"__build__": build})
    find_constants(program)
    fold_switches(program)
    overlays = arrange(program, table)
    _check_loans(overlays, stays, list(phases))
    names = dict(zip(sorted(packs, key=_importance(program, overlays)), free, strict=True))
    for phase, _ in phases_named(program, names_of):
        phase.value = phases[str(phase.value)]
    for name, overlay in overlays.items():
        overlay.stays = width * sets.index(stays.get(name, 0))
    scripts = scripts or {}
    entries = set(_entries(scripts, names_of))
    used = {f"{names_of.loader}.{LOADED}", *_split_names(program, names_of)}
    dead = prune(program, overlays.values(), {*entries, *used})
    naming = Minify(program, overlays, table, scripts, entries) if minify else Naming(entries)
    naming.overlays = names
    # The core first: others import by the names it has.
    order = sorted(overlays, key=lambda name: (name != CORE, name))
    order = _needed_first(overlays, order)
    # Code in another file, or at work without one, keeps its texts.
    there = {*overlays} - {CORE, *(name for names in table.packs.values() for name in names)}
    shelf = Shelf()
    plans = {
        name: Plan(
            program,
            overlays[name],
            naming,
            names_of,
            shelf if is_packed and name in there else None,
        )
        for name in order
    }
    core = emit(plans[CORE])
    files = {table.file_of(CORE): core}
    kept = {*ROM, *STATIC, *ATTRIBUTES, *ARGUMENTS, *words(ast.parse(core.text))}
    for name in order:
        if name != CORE:
            files[name] = emit(plans[name], kept if minify else None)
    index = _index(overlays, table, naming)
    symbols = [one.full for one in dead]
    return Bundle(files, index, _map(overlays, table, files, naming), symbols, names, shelf.data)


def _importance(
    program: Program, overlays: Mapping[str, Overlay]
) -> Callable[[str], tuple[int, int, str]]:
    """A key that sorts overlays by the costs of their names: first those with methods of classes
    in the core, which names them in a text, then by the number of overlays that refer to each."""
    lenders = {
        name
        for name, overlay in overlays.items()
        if any(owner.overlay == CORE for owner, _ in overlay.lends)
    }
    uses: Counter[str] = Counter()
    for overlay in overlays.values():
        links = [link for module in overlay.modules for link in program.links_of(module)]
        uses.update({one.target.overlay for one in links if isinstance(one.target, Symbol)})
    return lambda name: (name not in lenders, -uses[name], name)


def _free(count: int) -> list[str]:
    """Names in ROM for so many overlays, which cost no RAM; those that take the least flash come
    first."""
    free = [*sorted(STATIC, key=_length), *sorted({*ROM} - {*STATIC}, key=_length)]
    if len(free) < count:
        raise OverlayError(f"{count} overlays are more than there are names in ROM")
    return free[:count]


def _length(name: str) -> tuple[int, str]:
    return len(name), name


def packed(
    names: Iterable[str],
    compiled: Mapping[str, bytes],
    without: Container[str] = (),
    index: bytes = b"",
    texts: bytes = b"",
) -> bytes:
    """One file of overlays, by their names in code: the names with their offsets in three bytes, 0
    for those `without`, the overlays, the index, an empty line, and the long texts."""
    made = {name: b"" if name in without else compiled[name] for name in names}
    made[""] = index + b"\n" + texts
    records = {}
    data = b""
    begin = _begins(names)[-1]
    for name, content in made.items():
        place = begin + len(data) if content else 0
        records[name] = name.encode() + place.to_bytes(3, "little")
        data += content
    return b"".join(records[name] for name in sorted(records, key=len)) + data


def _begins(names: Iterable[str]) -> list[int]:
    """Where the records of the names of each length begin in a pack, from 0 on, and their end. The
    index has the empty name."""
    sizes = Counter(len(name) for name in ("", *names))
    found = [0]
    for size in range(max(sizes) + 1):
        found.append(found[-1] + sizes[size] * (size + 3))
    return found


def wanted(sources: Mapping[str, bytes], table: Table) -> dict[str, bytes]:
    """The files that overlays consist of."""
    return {
        path: source
        for path, source in sources.items()
        if not table.is_outside(module_name(path)) and not _is_empty(source)
    }


def _needed_first(overlays: Mapping[str, Overlay], names: Iterable[str]) -> list[str]:
    order: list[str] = []

    def add(name: str) -> None:
        if name not in order:
            for other in sorted(overlays[name].needs):
                add(other)
            order.append(name)

    for name in names:
        add(name)
    return order


def _is_empty(source: bytes) -> bool:
    """Does a file hold nothing but comments?"""
    return not any(line.strip() and not line.startswith(b"#") for line in source.splitlines())


def _entries(scripts: Mapping[str, bytes], names: Names) -> Iterator[str]:
    """Yield the names that scripts import from the core."""
    for path, source in scripts.items():
        for node in walk(ast.parse(source, path)):
            if isinstance(node, ast.ImportFrom) and node.module == names.core:
                yield from (f"{names.core}.{alias.name}" for alias in node.names)


def _split_names(program: Program, names: Names) -> Iterator[str]:
    """Yield symbols that split classes use although no module mentions them."""
    for one in program.fragments:
        yield f"{names.loader}.{BORROW}"
        for module, name in ((one.home, one.owner), (one.module, one.name)):
            yield program.symbol(program.modules[module], name).full


def _stays(table: Table) -> dict[str, int]:
    """For each overlay the phases that it outlasts when they begin: a bit for each number."""
    found: dict[str, int] = {}
    for number, names in enumerate(table.phases.values()):
        for name in names:
            found[name] = found.get(name, 0) | 1 << number
    return found


def _check_loans(
    overlays: Mapping[str, Overlay], stays: Mapping[str, int], phases: Sequence[str]
) -> None:
    """Refuse an overlay that may outlast a class it has methods of: they would be missing when the
    class is loaded again."""
    for name, overlay in overlays.items():
        for owner, _ in overlay.lends:
            longer = stays.get(name, 0) & ~stays.get(owner.overlay, 0)
            if longer and owner.overlay != CORE:
                phase = phases[longer.bit_length() - 1]
                raise OverlayError(
                    f"overlay {name} has methods of {owner.full}, and stays in phase {phase}, "
                    f"which evicts overlay {owner.overlay}"
                )


def _fill_in(program: Program, table: Table, name: str, values: dict[str, object]) -> None:
    """Set variables of a module, as far as it has them, to values known only to the build."""
    module = program.modules.get(name)
    missing = set(values)
    for statement in module.tree.body if module else ():
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            variable = statement.targets[0].id
            if variable in values:
                made = ast.parse(repr(values[variable]), mode="eval").body
                for part in walk(made):
                    ast.copy_location(part, statement)
                statement.value = made
                missing.remove(variable)
    if missing and name != table.names.package:
        raise OverlayError(f"{name} has no {' and no '.join(sorted(missing))} to fill in")


def _index(overlays: Mapping[str, Overlay], table: Table, naming: Naming) -> str:
    """The lines of the run time's index; `+` marks a module of the API."""
    lines = []
    for overlay in overlays.values():
        for symbol in overlay.objects:
            name = symbol.module.name
            is_api = name in table.api
            if symbol in overlay.by_name:
                home = naming.overlay(table.file_of(overlay.name))
                fields = [name, home, symbol.flat, "+" if is_api else ""]
                lines.append("\t".join(fields) + "\n")
    return "".join(sorted(lines))


def _map(
    overlays: Mapping[str, Overlay], table: Table, files: Mapping[str, File], naming: Naming
) -> Map:
    """The map that translates tracebacks of these files."""
    lines = {}
    for name, file in files.items():
        lines[naming.overlay(name)] = [
            line and (line[0].path, line[1], line[2], line[0].functions.get(line[1], ""))
            for line in file.lines
        ]
    names = {
        naming.overlay(table.file_of(overlay.name)): {
            one.flat: one.name for one in overlay.symbols if one.flat != one.name
        }
        for overlay in overlays.values()
    }
    modules = [module for overlay in overlays.values() for module in overlay.modules]
    return Map(lines, names, naming.attributes(), {one.path: naming.own(one) for one in modules})
