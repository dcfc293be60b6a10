# tenner tests: power cuts at every flash operation of a beat.
# MIT license; Copyright (c) 2026 the tenner authors
"""
For each of them one process runs into the cut and is killed there, and another one boots from the flash.
`powercut_board.judge` has the invariants: every occurrence has exactly one line in the log, nothing runs
twice in its slot, every queued alert arrives. None arrives twice unless the second says that it may have
been sent before; files are complete.
On the 64-bit interpreter only: Debian's 32-bit one crashes now and then in a block device that is Python.
"""

import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tenner_host.interpreters import search_path

HERE = Path(__file__).resolve().parent
BOARD = HERE / "powercut_board.py"
ENVIRONMENT = {"MICROPYPATH": search_path(HERE.parents[1] / "firmware", HERE.parent)}
LIMIT_S = 60


def run(interpreter, *arguments):
    """Run the board to its end; return its last line."""
    done = subprocess.run(
        interpreter.command(BOARD, *arguments, heap="16M"),
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()[-1]


def live(interpreter, image, number, torn):
    """Cut the power at that operation, boot again; return the problem then, or "ok"."""
    process = subprocess.Popen(
        interpreter.command(BOARD, "cut", image, str(number), torn, heap="16M"),
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline().strip()
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
    assert line == "cut", f"operation {number}: {line}"
    return run(interpreter, "after", f"{image}.{number}{torn}")


@pytest.mark.parametrize("torn", ["", "torn"])
def test_a_cut_at_every_flash_operation_of_a_beat(micropython, tmp_path, torn):
    image = tmp_path / "flash"
    run(micropython, "make", image)
    operations, asked, sent = map(int, run(micropython, "cut", image, "-1", "").split())
    # Or the test would say nothing: both ways together, hundreds of cuts.
    assert operations > 120
    assert (asked > 2, sent) == (True, 4)
    with ThreadPoolExecutor(4) as pool:
        found = pool.map(lambda number: live(micropython, image, number, torn), range(operations))
        wrong = [f"operation {n}: {what}" for n, what in enumerate(found) if what != "ok"]
    assert wrong == []
