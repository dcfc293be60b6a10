"""Report on the overlays of the firmware: `python -m tenner_host.overlays [OVERLAY ...]`.

Without names of overlays: for each overlay its size as .mpy, its modules and the overlays that its
code uses; for each phase the total size of the overlays that stay when it begins. With names: each
use of another overlay in them, and its place.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator

from tenner_host import FIRMWARE, build
from tenner_host.overlays.bundle import bundle, file_name, wanted
from tenner_host.overlays.constants import find_constants
from tenner_host.overlays.errors import OverlayError
from tenner_host.overlays.merge import arrange
from tenner_host.overlays.place import table_of
from tenner_host.overlays.program import AS_OBJECT, ModuleTarget, Program, Symbol, read_program
from tenner_host.overlays.table import CORE, Table

#: (overlay of the user, overlay used, line, full name of the symbol)
Use = tuple[str, str, str, str]


def main(argv: list[str]) -> int:
    """Print the report; 1 and a sentence if the table does not fit the firmware."""
    modules, scripts = build.sources(FIRMWARE)
    try:
        table = table_of(modules, FIRMWARE)
        bundled = bundle(modules, table, scripts=scripts)
        uses = list(_uses(modules, table))
    except OverlayError as exc:
        print(f"tenner: {exc}", file=sys.stderr)
        return 1
    if argv:
        for user, used, where, what in uses:
            if user in argv:
                print(f"{where}: {user} -> {used}: {what}")
        return 0
    compiled = build.compile_modules(
        {name: file.text.encode() for name, file in bundled.files.items()}
    )
    sizes = {name: len(compiled[file_name(name)]) for name in table.overlays}
    for name in sorted(table.overlays, key=lambda one: (one != CORE, one)):
        reached = Counter(used for user, used, _, _ in uses if user == name and used != CORE)
        shown = " ".join(f"{used}:{count}" for used, count in sorted(reached.items()))
        print(f"{name:14} {sizes[name]:6} B {len(table.overlays[name]):3} modules -> {shown}")
    for phase, names in table.phases.items():
        size = sum(sizes[name] for name in names)
        print(f"phase {phase:14} {size + sizes[CORE]:6} B with core: {' '.join(names)}")
    print(f"all {sum(sizes.values())} B in {len(sizes)} files, index {len(bundled.index)} B")
    return 0


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
