"""Power cuts at every flash operation of an update that brings MicroPython, too.

As test_update_powercut, with a boot loader that chooses between two slots: after each cut the
board has the old MicroPython with the old code or the new with the new, never one of each.
"""

import os
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tenner_host import FIRMWARE, partitions
from tenner_host.partitions import Partition
from tenner_sim.vboard import otadata
from tenner_sim.vboard.prepare import ONBOARD
from tests.host.powercuts import cut_everywhere, program
from tests.host.releases import micropython_of, put_board, release
from tests.host.test_update_powercut import FILES

pytestmark = pytest.mark.long

HERE = Path(__file__).resolve().parent
#: As in powercut_slots.
ROWS = [
    Partition("otadata", partitions.DATA, 0x00, 0xD000, 0x2000),
    Partition("ota_0", partitions.APP, 0x10, 0x10000, 0x8000),
    Partition("ota_1", partitions.APP, 0x11, 0x18000, 0x8000),
]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "release").write_bytes(
        release(FILES, micropython=micropython_of(b"new" * 3000, "1.29.1"))
    )
    put_board(tmp_path)
    (tmp_path / "table").write_bytes(partitions.encode_table(ROWS))
    (tmp_path / "old.app").write_bytes(micropython_of(b"old" * 900, "1.29.0").data)
    (tmp_path / "esp32").write_bytes((ONBOARD / "esp32.py").read_bytes())
    (tmp_path / "otadata.py").write_bytes(Path(otadata.__file__).read_bytes())
    return tmp_path


@pytest.fixture
def run(micropython, folder):
    return program(micropython, HERE / "powercut_slots.py", folder, FIRMWARE, HERE)


@pytest.mark.parametrize("torn", ["", "torn"])
@pytest.mark.parametrize("outcome", ["pass", "fail"])
def test_a_cut_at_every_flash_operation_leaves_both_old_or_both_new(run, folder, outcome, torn):
    cut_everywhere(run, folder, outcome, torn, 200)


@pytest.mark.parametrize("torn", ["", "torn"])
def test_a_second_cut_in_the_boot_after_the_first_changes_nothing_of_that(run, folder, torn):
    """Round the switch: the boot after such a cut finishes a list, or undoes half of it."""
    flash = folder / "flash"
    run("make", flash, folder)
    operations, switched = map(int, run("cut", flash, folder, "fail", torn).split())

    def twice(number):
        count = int(run("again", f"{flash}.{number}", folder, torn))
        return [run("after", f"{flash}.{number}.{at}", folder) for at in range(count)]

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        numbers = range(switched - 8, min(switched + 24, operations))
        found = dict(zip(numbers, pool.map(twice, numbers), strict=True))
    wrong = [
        f"operations {number} and {at}: {what}"
        for number, outcomes in found.items()
        for at, what in enumerate(outcomes)
        if what not in ("old", "new")
    ]
    assert wrong == []
    counted = Counter(what for outcomes in found.values() for what in outcomes)
    assert sum(counted.values()) > 40
    print(counted)
