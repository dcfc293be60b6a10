"""The flash image: esptool accepts it, littlefs-python and MicroPython read each other's files."""

import os
import signal
import subprocess
import sys

import pytest

from tenner_host import littlefs_image, partitions
from tenner_sim.vboard import VirtualBoard, image
from tenner_sim.vboard.chips import MODELS


def test_files_come_back_as_they_went_in():
    tree = {"/boot.py": b"", "/a/b/c.txt": b"x" * 9000, "/state/empty": b""}
    assert image.read_image(image.build_image(tree)) == tree


def test_files_are_added_to_an_image():
    flash = image.build_image({"/a": b"1", "/b": b"2"})
    image.add_files(flash, {"/b": b"3", "/c/d": b"4"})
    assert image.read_image(flash) == {"/a": b"1", "/b": b"3", "/c/d": b"4"}


def test_a_relative_path_is_refused():
    with pytest.raises(littlefs_image.FileSystemError, match="start with a slash"):
        image.build_image({"boot.py": b""})


@pytest.mark.parametrize(
    ("chip", "shown"), [("esp32", "ESP32"), ("esp32c3", "ESP32-C3"), ("esp32s3", "ESP32-S3")]
)
def test_esptool_accepts_loader_and_application(tmp_path, chip, shown):
    model = MODELS[chip]
    flash = image.build_image(model=model)
    for start in (model.bootloader_offset, image.APP_OFFSET):
        path = tmp_path / "image.bin"
        path.write_bytes(flash[start : start + 0x8000])
        done = subprocess.run(
            [sys.executable, "-m", "esptool", "image-info", str(path)],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert f"Detected image type: {shown}\n" in done.stdout
        assert "Validation hash:" in done.stdout
        assert "(valid)" in done.stdout
        assert "invalid" not in done.stdout
    assert "1.29.0-virtual" in done.stdout


def test_partition_table_is_read_back():
    assert tuple(image.partition_rows(image.build_image())) == image.PARTITIONS


@pytest.mark.parametrize("offset", [0, 4, 12, 32 * 3 + 5, 32 * 4 + 20])
def test_a_damaged_partition_table_is_refused(offset):
    flash = image.build_image()
    flash[partitions.TABLE_OFFSET + offset] ^= 1
    assert image.partition_rows(flash) == []
    assert "no vfs partition" in image.boot_fault(flash)


C3 = MODELS["esp32c3"]
APP = image.APP_OFFSET


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        ((0, b"\xff" * 4096), "invalid header: 0xffffffff"),
        ((40, b"x"), "Checksum failed at 0x0"),
        ((APP, b"\xff" * 4096), "image at 0x10000 has invalid magic byte"),
        ((APP + 4, b"x"), "Image hash failed"),
        ((APP + 300, b"x"), "Checksum failed at 0x10000"),
        ((APP + 336, b"\xff" * 100), "Checksum failed at 0x10000"),
        ((APP + 12, b"\x09"), "mismatch chip ID, expected 5, found 9"),
        ((0x8000, b"\xff" * 4096), "no vfs partition"),
    ],
)
def test_a_flash_that_was_not_written_to_its_end_does_not_boot(damage, said):
    flash = image.build_image()
    assert image.boot_fault(flash) is None
    at, data = damage
    flash[at : at + len(data)] = data
    assert said in image.boot_fault(flash)


def test_an_image_of_another_chip_does_not_boot():
    flash = image.build_image(model=MODELS["esp32s3"])
    assert "mismatch chip ID, expected 5, found 9" in image.boot_fault(flash, C3)
    assert image.boot_fault(flash, MODELS["esp32s3"]) is None


@pytest.mark.parametrize("size", [0, 4, 60, 4096, 100000])
def test_an_image_of_any_length_is_checked_to_its_end(size):
    code = bytes(index * 7 & 0xFF for index in range(size))
    good = image.application_image(C3, [(C3.iram, code), (C3.dram, b"data")], C3.iram)
    assert image.image_fault(good, 0, C3) is None
    assert image.image_fault(good[:-1], 0, C3)
    assert image.image_fault(good[: len(good) // 2], 0, C3)


def test_an_empty_flash_does_not_boot(tmp_path):
    path = tmp_path / "flash.bin"
    path.write_bytes(b"\xff" * image.FLASH_SIZE)
    with VirtualBoard(flash=path) as board:
        board.wait_for("invalid header: 0xffffffff")
        assert board.status()["state"] == "dead"
        path.write_bytes(image.build_image({"/main.py": b"print('flashed')"}))
        board.reset()
        board.wait_for("flashed")


def test_the_board_reads_and_writes_what_littlefs_python_does():
    with VirtualBoard({"/deep/er/in.bin": bytes(range(256)) * 40}) as board:
        out = board.exec(
            "data = open('/deep/er/in.bin', 'rb').read()\n"
            "print(len(data), data == bytes(range(256)) * 40)\n"
            "with open('/deep/out.bin', 'wb') as file:\n"
            "    file.write(data + b'end')\n"
        )
        assert out == "10240 True\n"
        assert board.read_tree()["/deep/out.bin"] == bytes(range(256)) * 40 + b"end"


def test_an_empty_file_system_is_made_at_boot(tmp_path):
    path = tmp_path / "flash.bin"
    flash = image.build_image()
    flash[image.VFS_OFFSET :] = b"\xff" * image.VFS_SIZE
    path.write_bytes(flash)
    with VirtualBoard(flash=path) as board:
        board.wait_for(">>> ")
        assert list(board.read_tree()) == ["/boot.py"]


def test_only_the_blocks_of_wanted_files_are_read():
    tree = {"/lib/big.mpy": bytes(range(256)) * 1000, "/workspace/note.md": b"note" * 2000}
    size = 0x200000
    made = littlefs_image.make_file_system(size, tree)
    read = []

    def read_block(number):
        read.append(number)
        return made[number * 4096 : number * 4096 + 4096]

    found = littlefs_image.read_file_system(size, read_block, lambda path: "note" in path).files
    assert found == {"/workspace/note.md": b"note" * 2000}
    assert len(read) == len(set(read)) < 12


def test_what_stops_the_reading_comes_out_as_it_was():
    def unplugged(number):
        raise OSError("unplugged")

    with pytest.raises(OSError, match="unplugged"):
        littlefs_image.read_file_system(0x200000, unplugged)
    with pytest.raises(littlefs_image.FileSystemError, match="no littlefs"):
        littlefs_image.read_file_system(0x200000, lambda number: b"\xff" * 4096)


def test_files_that_do_not_fit_are_refused():
    with pytest.raises(littlefs_image.FileSystemError, match="70000 bytes of files do not fit"):
        littlefs_image.make_file_system(0x10000, {"/a": bytes(70000)})


def test_a_damaged_file_system_is_told_and_not_touched(tmp_path):
    path = tmp_path / "flash.bin"
    flash = image.build_image({"/main.py": b"print('main')"})
    flash[image.VFS_OFFSET : image.VFS_OFFSET + 0x2000] = b"damaged!" * 0x400
    path.write_bytes(flash)
    with VirtualBoard(flash=path) as board:
        board.wait_for("The filesystem starting at 0x200000 looks corrupt.")
        board.type("\x03")
        board.wait_for(">>> ")
        assert path.read_bytes() == flash


def test_ctrl_c_is_not_swallowed():
    tree = {"/a.md": bytes(9000), "/b/c.md": b"text" * 3000}
    size = 64 * 4096
    image = littlefs_image.make_file_system(size, tree)
    for at in range(1, 6):
        read = []

        def read_block(number, at=at, read=read):
            read.append(number)
            if len(read) == at:
                raise KeyboardInterrupt
            return image[number * 4096 : (number + 1) * 4096]

        with pytest.raises(KeyboardInterrupt):
            littlefs_image.read_file_system(size, read_block)
        assert len(read) == at


@pytest.mark.parametrize("name", ["read", "prog", "erase"])
def test_ctrl_c_waits_for_the_end_of_an_image(monkeypatch, name):
    tree = {"/a.md": bytes(9000), "/b/c.md": b"text" * 3000}
    right = littlefs_image.make_file_system(64 * 4096, tree)
    work = getattr(littlefs_image._Memory, name)
    calls = []

    def interrupted(*arguments):
        calls.append(name)
        if len(calls) == 3:
            os.kill(os.getpid(), signal.SIGINT)
        return work(*arguments)

    monkeypatch.setattr(littlefs_image._Memory, name, interrupted)
    memory = bytearray(right)
    with pytest.raises(KeyboardInterrupt):
        littlefs_image.add_files(memory, {"/d.md": b"more" * 5000})
    found = littlefs_image.read_file_system(
        len(memory), lambda number: bytes(memory[number * 4096 : (number + 1) * 4096])
    )
    assert found.files == {**tree, "/d.md": b"more" * 5000}
