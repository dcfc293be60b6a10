"""Code on flash, and the heap that importing it takes."""

from __future__ import annotations

import ast
import subprocess
import tempfile
from pathlib import Path

from host_tools import FIRMWARE, build, interpreters
from host_tools.bench.rows import NotMeasured

_HEAP_SCRIPT = """
import gc, sys
gc.collect()
before = gc.mem_alloc()
for name in sys.argv[1:]:
    __import__(name)
gc.collect()
print("heap", gc.mem_alloc() - before)
"""


def code_mpy_kb() -> float:
    """KB of all compiled modules, as they lie on a board."""
    tree = build.firmware_tree(workspace=False)
    return sum(len(data) for name, data in tree.items() if name.endswith(".mpy")) / 1024


def wired_modules() -> list[str]:
    """`tenner.app` and every module it names, also inside its functions: the idle agent has them all."""
    source = (FIRMWARE / "tenner" / "app.py").read_text(encoding="utf-8")
    imports = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ImportFrom))
    names = {node.module for node in imports if node.module and node.module.startswith("tenner")}
    return ["tenner.app", *sorted(names)]


def idle_import_kb(modules: list[str] | None = None) -> float:
    """KB of heap that stay taken after importing the compiled modules on 32-bit MicroPython."""
    modules = wired_modules() if modules is None else modules
    try:
        found = interpreters.find_micropython32()
    except interpreters.InterpreterMissing as exc:
        raise NotMeasured(str(exc)) from exc
    tree = build.firmware_tree(workspace=False)
    with tempfile.TemporaryDirectory() as folder:
        build.write_tree(tree, Path(folder))
        script = Path(folder, "measure.py")
        script.write_text(_HEAP_SCRIPT)
        done = subprocess.run(
            found.command(script, *modules),
            env={"MICROPYPATH": interpreters.search_path(Path(folder, "lib"))},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    words = done.stdout.split()
    if done.returncode or len(words) < 2 or words[-2] != "heap":
        last = (done.stderr or done.stdout).strip().splitlines()[-1:] or ["no output"]
        raise NotMeasured(f"importing {modules[0]} and what it wires failed: {last[0]}")
    return int(words[-1]) / 1024
