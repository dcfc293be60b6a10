"""A table of overlays for the firmware as it is now, made from its imports."""

from __future__ import annotations

from mpy_linker import CORE, Table, read_table
from mpy_linker.constants import find_constants
from mpy_linker.merge import phases_named
from mpy_linker.program import Program, Symbol, read_program
from mpy_linker.source import module_name
from tenner_host import FIRMWARE, RULES

DYNAMIC = {"tenner.tools": ["run"], "tenner.sensors": ["read"]}


def generated(sources: dict[str, bytes]) -> Table:
    """One overlay for each package, and a core with the names that the import of the agent's first
    module needs."""
    rules = read_table(FIRMWARE / RULES)
    linux, names = rules.linux, rules.names
    empty = Table({CORE: []}, linux=linux, names=names)
    wanted = {
        path: source
        for path, source in sources.items()
        if not empty.is_linux_only(module_name(path))
        and any(line.strip() and not line.startswith(b"#") for line in source.splitlines())
    }
    program = read_program(wanted, empty.is_linux_only)
    phases = {"BOOT", "IDLE", *(str(name.value) for name, _ in phases_named(program, names))}
    find_constants(program)
    core: set[str] = set()

    def add(name: str) -> None:
        if name not in core:
            core.add(name)
            for other in _needed(program, name):
                add(other)

    add("tenner.app")
    add("tenner.overlay")
    add("tenner.overlay_loader")
    overlays: dict[str, list[str]] = {CORE: sorted(core)}
    for name in sorted(program.modules):
        if name not in core:
            package = "_".join(name.split(".")[1:-1]) or "top"
            overlays.setdefault("o_" + package, []).append(name)
    others = [name for name in overlays if name != CORE]
    return Table(
        overlays,
        phases=dict.fromkeys(sorted(phases), others),
        dynamic=DYNAMIC,
        linux=linux,
        names=names,
    )


def _needed(program: Program, name: str) -> set[str]:
    """The modules that a module needs something of while it is imported."""
    return {
        link.target.module.name
        for link in program.links_of(program.modules[name])
        if link.at_import and isinstance(link.target, Symbol) and link.target.value is None
    }
