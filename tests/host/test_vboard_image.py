"""The flash image: esptool accepts it, littlefs-python and MicroPython read each other's files."""

import subprocess
import sys

import pytest

from host_tools.vboard import VirtualBoard, image


def test_files_come_back_as_they_went_in():
    tree = {"/boot.py": b"", "/a/b/c.txt": b"x" * 9000, "/state/empty": b""}
    assert image.read_image(image.build_image(tree)) == tree


def test_files_are_added_to_an_image():
    flash = image.build_image({"/a": b"1", "/b": b"2"})
    image.add_files(flash, {"/b": b"3", "/c/d": b"4"})
    assert image.read_image(flash) == {"/a": b"1", "/b": b"3", "/c/d": b"4"}


def test_a_relative_path_is_refused():
    with pytest.raises(image.ImageError, match="start with a slash"):
        image.build_image({"boot.py": b""})


def test_esptool_accepts_loader_and_application(tmp_path):
    flash = image.build_image()
    for name, start in (("loader.bin", 0), ("app.bin", image.APP_OFFSET)):
        path = tmp_path / name
        path.write_bytes(flash[start : start + 0x8000])
        done = subprocess.run(
            [sys.executable, "-m", "esptool", "image-info", str(path)],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert "ESP32-C3" in done.stdout
        assert "Validation hash:" in done.stdout
        assert "(valid)" in done.stdout
        assert "invalid" not in done.stdout
    assert "1.29.0-virtual" in done.stdout


def test_partition_table_is_read_back():
    assert tuple(image.read_partition_table(image.build_image())) == image.PARTITIONS


@pytest.mark.parametrize("offset", [0, 4, 12, 32 * 3 + 5, 32 * 4 + 20])
def test_a_damaged_partition_table_is_refused(offset):
    flash = image.build_image()
    flash[image.PARTITION_TABLE_OFFSET + offset] ^= 1
    assert image.read_partition_table(flash) == []
    assert "no vfs partition" in image.boot_fault(flash)


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
