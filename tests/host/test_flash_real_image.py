"""`tenner flash` and the virtual board's boot loader with an image that was made for real
ESP32s."""

import sys
from pathlib import Path

import pytest

from tenner_host import images
from tenner_sim.vboard.chips import MODELS
from tenner_sim.vboard.image import boot_fault
from tests.host import flash_fakes
from tests.host.flash_fakes import OWN, board, flashed, own, refused

FOLDER = Path(sys.prefix) / "published-drivers" / "thonnycontrib" / "thonny_etboard_firmware"
FOUND = sorted(FOLDER.rglob("*.bin"))
pytestmark = pytest.mark.skipif(
    not FOUND, reason="no published images: `make env-test` installs them beside the environment"
)


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    flash_fakes.place(tmp_path, monkeypatch)


def test_it_is_read_as_it_was_built():
    image = images.from_file(FOUND[-1])
    contents = images.check(image, "ESP32", 0x1000, 4 << 20)
    assert contents.version.startswith("1.16-")
    assert [row.label for row in contents.rows] == ["nvs", "phy_init", "factory", "vfs"]
    with pytest.raises(
        images.ImageError, match="is for the ESP32, and this board has an ESP32-C3"
    ):
        images.check(image, "ESP32-C3", 0, 4 << 20)
    cut = images.Image(image.data[:-1000], "cut")
    with pytest.raises(images.ImageError, match="the application in it is cut short"):
        images.check(cut, "ESP32", 0x1000, 4 << 20)


def test_it_is_written_starts_and_keeps_the_files():
    with board(chip="esp32") as used:
        report = flashed("--image", FOUND[-1])
        assert report["image"]["version"].startswith("1.16-")
        assert report["agent"]["running"]
        assert own(used) == OWN
        flash = used.flash.read_bytes()
        assert flash[0x1000:].startswith(FOUND[-1].read_bytes())
        # The same with one byte of it changed would not start.
        assert boot_fault(flash, MODELS["esp32"]) is None
        changed = bytearray(flash)
        changed[0x100000] ^= 1
        assert "0x10000" in boot_fault(changed, MODELS["esp32"])


def test_it_is_not_for_another_chip():
    with board() as used:
        assert "is for the ESP32, and this board has an ESP32-C3" in refused(
            6, "--image", FOUND[0]
        )
        assert own(used) == OWN
