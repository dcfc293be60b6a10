"""Code on flash, and the heap that importing it takes."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

from host_tools import FIRMWARE, build, interpreters
from host_tools.bench.rows import NotMeasured

#: Stand-ins of a few lines for the modules that are C on the chip.
CHIP = Path(__file__).parent / "chip"

#: Where modules are looked for, from the root folder: names of files stay in the heap for ever, and must not
#: be longer than a board's `/lib/...`.
MODULE_PATH = "chip:lib:.frozen"

# Prints what each module adds to the heap that stays taken, in the order given, then the sum.
_HEAP_SCRIPT = """
import gc, sys
import esp32, machine, network, ntptime
gc.collect()
first = before = gc.mem_alloc()
for name in sys.argv[1:]:
    __import__(name)
    gc.collect()
    after = gc.mem_alloc()
    print(name, after - before)
    before = after
print("heap", before - first)
"""


def code_mpy_kb() -> float:
    """KB of all compiled modules, as they lie on a board."""
    tree = build.firmware_tree(workspace=False)
    return sum(len(data) for name, data in tree.items() if name.endswith(".mpy")) / 1024


def chip_tree() -> dict[str, bytes]:
    """The stand-ins for the chip's own modules, compiled, by their paths below a root folder."""
    sources = {path.stem: build.with_board_names(path.read_bytes()) for path in CHIP.glob("*.py")}
    return {f"/chip/{name}.mpy": data for name, data in build.compile_modules(sources).items()}


def resident_modules() -> list[str]:
    """The modules a small board never lets go of."""
    room = "tenner/room.py"
    found = build.resident_modules({room: (FIRMWARE / room).read_bytes()})
    if not found:
        raise NotMeasured(f"{room} has no _RESIDENT")
    return found


def import_costs(modules: list[str]) -> list[tuple[str, int]]:
    """Bytes of heap that each compiled module, with what it imports first, keeps on a 32-bit board."""
    try:
        found = interpreters.find_micropython32()
    except interpreters.InterpreterMissing as exc:
        raise NotMeasured(str(exc)) from exc
    tree = build.firmware_tree(workspace=False)
    with tempfile.TemporaryDirectory() as folder:
        build.write_tree({**tree, **chip_tree()}, Path(folder))
        done = subprocess.run(
            found.command("-c", _HEAP_SCRIPT, *modules),
            cwd=folder,
            env={"MICROPYPATH": MODULE_PATH},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    rows = [line.split() for line in done.stdout.splitlines()]
    if done.returncode or not rows or rows[-1][0] != "heap":
        last = (done.stderr or done.stdout).strip().splitlines()[-1:] or ["no output"]
        raise NotMeasured(f"importing {modules[0]} and what it wires failed: {last[0]}")
    return [(name, int(size)) for name, size in rows]


def idle_import_kb() -> float:
    """KB of heap that stay taken after importing what a small board never lets go of."""
    return import_costs(resident_modules())[-1][1] / 1024
