"""`tenner flash` on the virtual board: its content afterwards, and that nothing was lost."""

from pathlib import Path

import pytest

from tenner_host.partitions import Partition
from tenner_host.sync.backup import Backup
from tenner_sim.vboard import VirtualBoard, image
from tenner_sim.vboard.chips import MODELS, mac_of
from tests.host import flash_fakes
from tests.host.flash_fakes import (
    OWN,
    board,
    firmware_tree,
    flashed,
    noise,
    own,
    refused,
    tenner,
    tree,
    written,
)

#: Of the board that flash_fakes.board() starts.
MAC = mac_of("one").hex(":")


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    flash_fakes.place(tmp_path, monkeypatch)
    return tmp_path


# The content of the board afterwards.


def test_an_empty_board_becomes_a_working_agent_in_one_pass():
    with board(None, erased=True) as empty:
        empty.wait_for("invalid header: 0xffffffff")
        report = flashed("--fast")
        assert report["chip"] == "ESP32-C3"
        assert report["board"] == "VIRTUAL"
        assert report["mac"] == MAC
        assert report["agent"]["running"], report
        assert report["micropython"] == "1.29.0"
        assert report["saved"] == []
        there = empty.read_tree()
        for path, data in firmware_tree("VIRTUAL", workspace=True).items():
            assert there[path] == data, path


def test_the_workspace_of_the_project_goes_onto_an_empty_board(place):
    own = place / "project" / "workspace" / "skills"
    own.mkdir(parents=True)
    (own / "light.md").write_text("Light.\n")
    with board(None, erased=True) as empty:
        flashed("--fast")
        there = [path for path in empty.read_tree() if path.startswith("/workspace")]
        assert there == ["/workspace/skills/light.md"]


@pytest.mark.parametrize("fast", [False, True])
def test_another_image_keeps_all_that_owner_and_agent_wrote(place, fast):
    with board() as used:
        used.wait_for("tenner")
        path = written(place, code=noise(1), version="1.28.0")
        report = flashed("--image", path, *(["--fast"] if fast else []))
        assert set(OWN) < set(report["saved"])
        assert report["image"]["version"] == "1.28.0"
        assert report["agent"] is not None
        assert own(used) == OWN
        flash = used.flash.read_bytes()
        assert flash[: path.stat().st_size] == path.read_bytes()
        assert Backup.load(Path(report["backup"])).files.items() >= OWN.items()
        # Only its owner may read it: it has his keys.
        assert Path(report["backup"]).stat().st_mode & 0o077 == 0
        # --fast writes the agent again; without it, not a byte of the file system.
        assert (report["files_written"] is None) is not fast


FACTORY = Partition("factory", 0, 0, 0x10000, 0x1F0000)
LAYOUTS = {
    # Behind the application, to the end of the flash, as since MicroPython 1.26.
    "moved": ([Partition("factory", 0, 0, 0x10000, 0x2F0000)], (0x300000, 0x100000)),
    "smaller": ([FACTORY, Partition("vfs", 1, 0x81, 0x200000, 0x180000)], (0x200000, 0x180000)),
}


@pytest.mark.parametrize(("rows", "row"), LAYOUTS.values(), ids=LAYOUTS)
@pytest.mark.parametrize("table", ["there", "lost"])
def test_files_move_along_with_their_file_system(place, rows, row, table):
    with board() as used:
        used.wait_for("tenner")
        if table == "lost":
            used.power_off()
            flash = bytearray(used.flash.read_bytes())
            flash[:0x20000] = b"\xff" * 0x20000
            used.flash.write_bytes(flash)
            used.power_on()
        report = flashed("--image", written(place, rows=[*image.PARTITIONS[:2], *rows]))
        found = image.find_vfs(used.flash.read_bytes())
        assert (found.offset, found.size) == row
        assert report["files_written"] > len(OWN)
        assert report["agent"]["running"]
        assert own(used) == OWN


def test_a_table_without_a_row_for_files_leaves_them_where_they_are(place):
    with board() as used:
        report = flashed("--image", written(place, rows=image.PARTITIONS[:-1]))
        assert report["files_written"] is None
        assert own(used) == OWN


def test_a_board_that_never_reaches_a_prompt(place):
    loop = b"import machine\nmachine.reset()\n"
    with board({"/boot.py": loop, **OWN}) as looping:
        report = flashed("--fast")
        assert report["replaced"] == ["/boot.py"], "it is nobody's but the owner's"
        assert Backup.load(Path(report["backup"])).files["/boot.py"] == loop
        assert own(looping) == OWN
        assert looping.read_tree()["/boot.py"] != loop


def test_a_board_that_lost_its_partition_table(place):
    """As after a write that was cut short by something else than this program."""
    with board() as damaged:
        damaged.power_off()
        flash = bytearray(damaged.flash.read_bytes())
        flash[:0x20000] = b"\xff" * 0x20000
        damaged.flash.write_bytes(flash)
        damaged.power_on()
        report = flashed()
        assert report["files_written"] is None
        assert own(damaged) == OWN


def test_a_dump_of_a_whole_flash_brings_its_files(place):
    dump = place / "dump.bin"
    dump.write_bytes(image.build_image({"/note": b"from the dump", "/workspace/a.md": b"dump"}))
    with board({"/workspace/a.md": b"board"}) as used:
        flashed("--image", dump)
        there = used.read_tree()
        assert there["/note"] == b"from the dump"
        assert there["/workspace/a.md"] == b"board"


def test_what_another_program_left_in_place_of_a_file_system_is_cleared(place):
    """MicroPython would call it damaged at every start."""
    flash = bytearray(b"\xff" * image.FLASH_SIZE)
    flash[image.VFS_OFFSET : image.VFS_OFFSET + 60000] = noise(1)
    path = place / "flash.bin"
    path.write_bytes(flash)
    with VirtualBoard(flash=path, name="one") as foreign:
        flashed()
        assert foreign.read_tree() == {}


def test_a_damaged_file_system_is_not_lost_without_a_word(place):
    flash = image.build_image(tree())
    flash[image.VFS_OFFSET : image.VFS_OFFSET + 0x2000] = noise(1)[:0x2000]
    path = place / "flash.bin"
    path.write_bytes(flash)
    with VirtualBoard(flash=path, name="one") as damaged:
        said = refused(1, "--fast")
        assert "the file system of the board at 0x200000 cannot be read" in said
        assert "Nothing was changed" in said
        assert "--discard" in said
        assert path.read_bytes() == flash
        assert flashed("--fast", "--discard")["agent"]["running"]
        assert "/lib/tenner/app.mpy" in damaged.read_tree()


@pytest.mark.parametrize("chip", ["esp32", "esp32s3"])
def test_other_chips(place, chip):
    with board(chip=chip) as used:
        model = MODELS[chip]
        report = flashed("--image", written(place, model=model, version="1.27.0"))
        assert report["written"][0]["offset"] == model.bootloader_offset
        assert report["board"] == {"esp32": "ESP32_GENERIC", "esp32s3": "ESP32_GENERIC_S3"}[chip]
        assert own(used) == OWN


def test_an_owner_reads_what_happened():
    with board() as used:
        used.wait_for("tenner")
        done = tenner("flash")
        assert f"ESP32-C3 ({MAC}) with 4 MB of flash at virtual board 'one'" in done.stderr
        assert "MicroPython 1.29.0 is on VIRTUAL (ESP32-C3), written and verified" in done.stdout
        assert "files of yours and the agent's are on it as before" in done.stdout
        assert "The agent" in done.stdout


def test_a_port_without_modem_lines_and_one_with_them(place):
    path = written(place)
    with board(tcp_port=0, rfc2217_port=0) as used:
        for port in (
            f"socket://127.0.0.1:{used.tcp_port}",
            f"rfc2217://127.0.0.1:{used.rfc2217_port}",
        ):
            report = flashed("--port", port, "--image", path, "--board", "VIRTUAL")
            assert report["port"] == port
            assert own(used) == OWN
        assert "waiting for download" in used.serial_log
