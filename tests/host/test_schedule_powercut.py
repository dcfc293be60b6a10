# tenner tests: power cuts at every flash operation of a beat.
# MIT license; Copyright (c) 2026 the tenner authors
"""
One process goes through the beat and keeps the flash after a cut at each operation; for each of
them another process boots from that flash. `powercut_board.judge` has the invariants: every
occurrence has exactly one line in the log, nothing runs twice in its slot, every queued alert
arrives. None arrives twice unless the second says that it may have been sent before; files are
complete. On the 64-bit interpreter only: Debian's 32-bit one crashes now and then in a block
device that is Python.
"""

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tenner_host import build
from tests.host.powercuts import program

pytestmark = pytest.mark.long

HERE = Path(__file__).resolve().parent
BOARD = HERE / "powercut_board.py"


@pytest.fixture(scope="module")
def run(micropython, tmp_path_factory):
    """Run the board to its end; return its last line. Compiled modules: hundreds of processes
    import them."""
    folder = tmp_path_factory.mktemp("firmware")
    for name, data in build.linux_tree(mpy=True).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return program(micropython, BOARD, folder, HERE.parent)


@pytest.mark.parametrize("torn", ["", "torn"])
def test_a_cut_at_every_flash_operation_of_a_beat(run, tmp_path, torn):
    image = tmp_path / "flash"
    run("make", image)
    operations, asked, sent = map(int, run("cut", image, torn).split())
    # Or the test would say nothing: both ways together, hundreds of cuts.
    assert operations > 120
    assert (asked > 2, sent) == (True, 4)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = pool.map(lambda number: run("after", f"{image}.{number}"), range(operations))
        wrong = [f"operation {n}: {what}" for n, what in enumerate(found) if what != "ok"]
    assert wrong == []
