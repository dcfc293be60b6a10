"""`tenner flash --layout ota`: two slots for MicroPython, and every file as before."""

import pytest

from tenner_host import partitions
from tenner_sim.vboard import VirtualBoard, image, otadata
from tests.host import flash_fakes
from tests.host.flash_fakes import OWN, board, flashed, noise, own, refused, tenner, written

#: A table as MicroPython's since 1.26.
ROWS = image.PARTITIONS[:-1]


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    flash_fakes.place(tmp_path, monkeypatch)
    return tmp_path


def labels(used):
    return {row.label: row for row in image.partition_rows(used.flash.read_bytes())}


def test_a_used_board_gets_two_slots_and_keeps_its_files(place):
    with board() as used:
        path = written(place, rows=ROWS, code=noise(1))
        done = tenner("flash", "--layout", "ota", "--image", path)
        assert (
            "Layout ota: two slots of 1536 KB for MicroPython, and 960 KB for files."
            in done.stderr
        )
        assert own(used) == OWN
        flash = used.flash.read_bytes()
        rows = labels(used)
        assert list(rows) == ["nvs", "otadata", "phy_init", "ota_0", "ota_1"]
        assert (rows["ota_1"].offset, rows["ota_1"].size) == (0x190000, 0x180000)
        assert image.find_vfs(flash).offset == 0x310000
        # The boot loader has noted which slot runs.
        assert otadata.next_start(image.Memory(bytearray(flash))) == "ota_0"
        application = path.read_bytes()[image.APP_OFFSET :]
        assert flash[rows["ota_0"].offset :].startswith(application)


def test_a_larger_flash_has_slots_for_every_image(place):
    """And its table stays within the 4 MB that the boot loader's header states."""
    flash = place / "flash.bin"
    flash.write_bytes(b"\xff" * (8 << 20))
    with VirtualBoard(flash=flash, name="one") as large:
        path = written(place, rows=ROWS, code=noise(1) * 33)
        assert flashed("--fast", "--layout", "ota", "--image", path)["agent"]["running"]
        rows = labels(large)
        assert rows["ota_0"].size == rows["ota_1"].size == 0x1F0000
        assert max(row.end for row in rows.values()) <= 4 << 20
        found = image.find_vfs(flash.read_bytes())
        assert (found.offset, found.end) == (0x3F0000, 8 << 20)


def test_an_empty_board_becomes_a_working_agent_with_two_slots(place):
    with board(None, erased=True) as empty:
        report = flashed("--fast", "--layout", "ota")
        assert report["slots"] and report["agent"]["running"]
        # The table of this image has a row for the files, as before MicroPython 1.26.
        assert labels(empty)["vfs"].offset == 0x310000


def test_the_usual_layout_comes_back_with_the_files(place):
    with board() as used:
        flashed("--layout", "ota", "--image", written(place, rows=ROWS))
        report = flashed("--image", written(place, rows=ROWS))
        assert not report["slots"]
        assert own(used) == OWN


def test_a_micropython_larger_than_a_slot_is_refused_with_what_would_fit(place):
    with board() as used:
        before = used.flash.read_bytes()
        path = written(place, rows=ROWS, code=noise(1) * 27)
        said = " ".join(refused(6, "--layout", "ota", "--image", path).split())
        assert "has 1583 KB, and a slot of the layout ota has 1536 KB" in said
        assert "Nothing was changed" in said
        assert "board with 8 MB" in said
        assert used.flash.read_bytes()[0x8000:0x200000] == before[0x8000:0x200000]
    with board(chip="esp32") as used:
        path = written(place, model=flash_fakes.MODELS["esp32"], rows=ROWS, code=noise(1) * 27)
        said = " ".join(refused(6, "--layout", "ota", "--image", path).split())
        assert "--board ESP32_GENERIC-OTA" in said


def test_files_that_do_not_fit_beside_two_slots_stay_where_they_are(place):
    files = {**OWN, "/workspace/large": noise(1) * 20}
    with board(files) as used:
        said = refused(1, "--layout", "ota", "--image", written(place, rows=ROWS))
        assert "do not fit into the board's file system" in said
        assert "nothing was changed" in said
        assert used.read_tree()["/workspace/large"] == files["/workspace/large"]
        assert "factory" in labels(used)


def test_an_image_with_partitions_of_its_own_is_refused(place):
    rows = [*ROWS, partitions.Partition("romfs", 1, 0x8F, 0x240000, 0x60000)]
    with board():
        said = " ".join(
            refused(6, "--layout", "ota", "--image", written(place, rows=rows)).split()
        )
        assert "has a partition romfs, for which the layout ota has no place" in said


def test_an_image_with_two_slots_stays_as_it_is(place):
    rows = [
        partitions.Partition("nvs", 1, 2, 0x9000, 0x4000),
        partitions.Partition("otadata", 1, 0, 0xD000, 0x2000),
        partitions.Partition("ota_0", 0, 0x10, 0x10000, 0x100000),
        partitions.Partition("ota_1", 0, 0x11, 0x110000, 0x100000),
    ]
    with board() as used:
        path = written(place, rows=rows)
        flashed("--layout", "ota", "--image", path)
        assert used.flash.read_bytes().startswith(path.read_bytes()[:0x8C00])
        assert own(used) == OWN
