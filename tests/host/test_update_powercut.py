# tenner tests: power cuts at every flash operation of an update.
# MIT license; Copyright (c) 2026 the tenner authors
"""
One process receives a release, switches, and passes or fails the trial; it keeps the flash as a
cut at each operation leaves it. For each of them another process boots from that flash.
`powercut_update.judge` has the invariants: all of the old code or all of the new, no other file
changed. A board with the old code must also take the update to its end. On the 64-bit interpreter
only, as test_schedule_powercut.
"""

from pathlib import Path

import pytest

from tenner_host import FIRMWARE
from tests.host.powercuts import cut_everywhere, program
from tests.host.releases import put_board, release

pytestmark = pytest.mark.long

HERE = Path(__file__).resolve().parent
#: A file over one commit of the download, one in a folder, and small ones.
FILES = {
    "__init__.py": b"__version__ = '0.9.0'\n",
    "app.mpy": b"M\x06" + bytes(range(250)) * 70,
    "overlays.tsv": b"new\n" * 50,
    "port/chip_heap.mpy": b"M\x06" + b"port" * 300,
}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "release").write_bytes(release(FILES))
    put_board(tmp_path)
    return tmp_path


@pytest.fixture
def run(micropython, folder):
    return program(micropython, HERE / "powercut_update.py", folder, FIRMWARE, HERE)


@pytest.mark.parametrize("torn", ["", "torn"])
@pytest.mark.parametrize("outcome", ["pass", "fail"])
def test_a_cut_at_every_flash_operation_of_an_update(run, folder, outcome, torn):
    cut_everywhere(run, folder, outcome, torn, 150)
