"""A compiled module, run as a board would."""

import subprocess

from host_tools.interpreters import find_micropython


def run(folder, name, compiled):
    """Import the .mpy as `name` under MicroPython and return what it prints."""
    (folder / f"{name}.mpy").write_bytes(compiled)
    done = subprocess.run(
        find_micropython().command("-c", f"import {name}"),
        cwd=folder,
        env={"MICROPYPATH": ".:.frozen"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
