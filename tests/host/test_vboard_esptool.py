"""The real esptool on the virtual board: an empty chip is written, read, verified and erased
again."""

import hashlib
import os
import socket
import subprocess
import sys

import pytest
import serial

from tenner_sim.vboard import VirtualBoard, image
from tenner_sim.vboard.chips import MODELS
from tenner_sim.vboard.image import find_vfs
from tests.host.e2e import SideBySide

together = SideBySide()


def esptool(port, *arguments, code=0):
    """Run esptool and return its output."""
    done = subprocess.run(
        [sys.executable, "-m", "esptool", "--port", port, *arguments],
        capture_output=True,
        text=True,
        # Too short a line would be cut.
        env={**os.environ, "COLUMNS": "200"},
        check=False,
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def written(model, folder):
    """A stand-in MicroPython for a chip, as a file, and where it goes."""
    path = folder / "micropython.bin"
    path.write_bytes(image.firmware_image(model))
    return f"0x{model.bootloader_offset:x}", str(path)


CASES = [
    ("esp32", "ESP32-D0WD", "pty"),
    ("esp32c3", "ESP32-C3", "pty"),
    ("esp32s3", "ESP32-S3", "tcp"),
]


@together.each(CASES)
def test_write_read_verify_and_erase(chip, shown, line):
    """Every command of the uploaded stub that esptool has for flash."""
    with VirtualBoard(chip=chip, erased=True, tcp_port=0) as board:
        folder = board.folder
        port = board.pty if line == "pty" else f"socket://127.0.0.1:{board.tcp_port}"
        board.wait_for("invalid header: 0xffffffff")
        told = esptool(port, "flash-id")
        assert shown in told
        assert "Manufacturer: ef" in told
        assert "Detected flash size: 4MB" in told
        assert "7c:2c:67:00:00:01" in told
        offset, path = written(MODELS[chip], folder)
        told = esptool(port, "--baud", "460800", "write-flash", offset, path)
        assert "Hash of data verified." in told
        # It was let go: it starts, makes its file system, and this is a prompt.
        board.wait_for(">>> ")
        assert board.exec("print(6 * 7)") == "42\n"
        esptool(port, "verify-flash", offset, path)
        esptool(port, "verify-flash", "0x2000", path, code=2)
        back = folder / "back.bin"
        esptool(port, "read-flash", "0", "0x50000", str(back))
        assert back.read_bytes() == board.flash.read_bytes()[:0x50000]
        esptool(port, "erase-region", "0x8000", "0x1000")
        assert board.flash.read_bytes()[0x8000:0x9000] == b"\xff" * 0x1000
        board.wait_for("no vfs partition")
        esptool(port, "erase-flash")
        assert set(board.flash.read_bytes()) == {0xFF}
        board.wait_for("invalid header: 0xffffffff")


@together.each([(chip,) for chip in MODELS])
def test_the_rom_without_the_stub(chip):
    """`--no-stub`: the ROM's own commands, which are fewer and slower."""
    with VirtualBoard(chip=chip, erased=True) as board:
        offset, path = written(MODELS[chip], board.folder)
        told = esptool(board.pty, "--no-stub", "write-flash", offset, path)
        assert "Hash of data verified." in told
        if chip == "esp32c3":
            told = esptool(board.pty, "--no-stub", "write-flash", "--compress", offset, path)
            assert "Hash of data verified." in told
        back = board.folder / "back.bin"
        esptool(board.pty, "--no-stub", "read-flash", "0x8000", "0xc00", str(back))
        assert back.read_bytes() == board.flash.read_bytes()[0x8000:0x8C00]
        assert esptool(board.pty, "--no-stub", "erase-flash", code=2)


@together.check
def test_an_image_for_another_chip_is_refused_before_anything_is_erased():
    with VirtualBoard({"/main.py": b"print('still here')"}) as board:
        board.wait_for("still here")
        before = hashlib.sha256(board.flash.read_bytes()).digest()
        path = board.folder / "wrong.bin"
        path.write_bytes(image.firmware_image(MODELS["esp32s3"]))
        told = esptool(board.pty, "write-flash", "0x0", str(path), code=2)
        assert "is not an ESP32-C3 image" in told
        assert hashlib.sha256(board.flash.read_bytes()).digest() == before
        board.wait_for("still here")


@together.check
def test_rfc2217_resets_the_chip_with_dtr_and_rts():
    """One port: into the loader, out of it again, and then the REPL for mpremote."""
    with VirtualBoard({"/main.py": b"print('main')"}, rfc2217_port=0) as board:
        board.wait_for("main")
        port = f"rfc2217://127.0.0.1:{board.rfc2217_port}"
        # pyserial's client waits 0.1 s at each change of a timeout; the stub would need many of
        # them.
        told = esptool(port, "--no-stub", "read-mac")
        assert "7c:2c:67:00:00:01" in told
        assert "waiting for download" in board.serial_log
        board.wait_for("boot:0x4 (DOWNLOAD")
        board.wait_for("boot:0xc (SPI_FAST_FLASH_BOOT)")
        board.wait_for("main")
        done = subprocess.run(
            [sys.executable, "-m", "mpremote", "connect", port, "exec", "print(6 * 7)"],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.stdout == "42\n", done.stdout + done.stderr


@together.check
def test_ctrl_c_leaves_a_loader_that_a_sync_frame_has_entered():
    """The line has no reset; a person who types at it gets the prompt all the same."""
    with VirtualBoard({}) as board:
        board.wait_for(">>> ")
        # Somebody else keeps the terminal open, so that no hang-up ends the loader.
        opened = os.open(board.pty, os.O_RDWR | os.O_NOCTTY)
        try:
            esptool(board.pty, "--after", "no-reset", "read-mac")
            board.wait_state("loader")
            assert board.exec("print(6 * 7)") == "42\n"
        finally:
            os.close(opened)


@together.check
def test_the_bootloader_of_machine_waits_for_a_reset():
    with VirtualBoard({}) as board:
        board.wait_for(">>> ")
        board.type("import machine; machine.bootloader()\r")
        board.wait_for("waiting for download")
        assert board.status()["state"] == "loader"
        assert "ESP32-C3" in esptool(board.pty, "read-mac")
        board.reset()
        board.wait_for(">>> ")


@together.check
def test_the_cable_is_pulled_and_plugged_in_again():
    with VirtualBoard({"/main.py": b"print('main')"}, tcp_port=0, rfc2217_port=0) as board:
        board.wait_for("main")
        ports = board.tcp_port, board.rfc2217_port
        board.unplug(after_bytes=1000)
        # By the link, which leads nowhere afterwards: another board may get the terminal's number.
        with serial.Serial(str(board.folder / "tty"), timeout=None) as line:
            line.write(b"#" * 999)
            assert board.status()["state"] == "running"
            with pytest.raises(serial.SerialException):
                line.write(b"#")
                while True:
                    line.read(4096)
        assert board.status()["state"] == "off"
        assert not (board.folder / "tty").exists()
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", board.tcp_port))
        board.plug()
        board.wait_for("main")
        assert (board.tcp_port, board.rfc2217_port) == ports
        assert os.readlink(board.folder / "tty") == board.pty
        assert board.exec("print(6 * 7)") == "42\n"


def test_the_line_of_a_written_table_without_a_file_system_row(tmp_path):
    """Since MicroPython 1.26 the file system takes the space that no partition has."""
    flash = bytearray(b"\xff" * image.FLASH_SIZE)
    firmware = image.firmware_image(rows=image.PARTITIONS[:-1])
    flash[: len(firmware)] = firmware
    row = find_vfs(flash)
    assert (row.offset, row.end) == (image.VFS_OFFSET, image.FLASH_SIZE)
    path = tmp_path / "flash.bin"
    path.write_bytes(flash)
    with VirtualBoard(flash=path) as board:
        board.wait_for(">>> ")
        assert list(board.read_tree()) == ["/boot.py"]
