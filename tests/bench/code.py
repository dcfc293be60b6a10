"""The heap that importing the core takes."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

from tenner_host import build
from tests.bench.images import STOCK
from tests.bench.rows import NotMeasured

#: Stand-ins of a few lines for the modules that are C on the chip.
CHIP = Path(__file__).parent / "chip"

_HEAP_SCRIPT = """
import gc
import esp32, machine, network, ntptime
gc.collect()
before = gc.mem_alloc()
import tenner.app
gc.collect()
print("measured", gc.mem_alloc() - before)
"""


def chip_tree() -> dict[str, bytes]:
    """The stand-ins for the chip's own modules, compiled, by their paths below a root folder."""
    sources = {path.stem: path.read_bytes() for path in CHIP.glob("*.py")}
    return {f"/chip/{name}.mpy": data for name, data in build.compile_modules(sources).items()}


def measured(tree: dict[str, bytes], script: str, *arguments: str, what: str) -> list[int]:
    """Run a script beside a tree and the chip's stand-ins; return the numbers that it prints
    behind the word `measured`. NotMeasured says that `what` failed."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        STOCK.install({**tree, **chip_tree()}, root)
        done = subprocess.run(
            STOCK.find().command("-c", script, *arguments),
            cwd=root,
            env=STOCK.environment(root),
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    words = done.stdout.split()
    if done.returncode or words[:1] != ["measured"]:
        last = (done.stderr or done.stdout).strip().splitlines()[-1:] or ["no output"]
        raise NotMeasured(f"{what} failed: {last[0]}")
    return [int(word) for word in words[1:]]


def idle_import_kb() -> float:
    """KB of heap that stay taken after importing the core, which a small board never evicts."""
    tree = build.firmware_tree(workspace=False)
    return measured(tree, _HEAP_SCRIPT, what="importing the core")[0] / 1024
