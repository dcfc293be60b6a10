"""The virtual board's boot loader and `esp32.Partition`, with two slots: as ESP-IDF and official
images behave on a chip."""

import pytest

from tenner_host import partitions
from tenner_sim.vboard import VirtualBoard, image, otadata

ESP_FAIL = -1
ROWS = tuple(partitions.with_slots(0x180000))
NEW_CODE = b"new" * 500
SLOT = 0x190000


def flash_of(*slots):
    """A flash whose slots have these images."""
    flash = bytearray(b"\xff" * image.FLASH_SIZE)
    for number, application in enumerate(slots):
        firmware = image.firmware_image(rows=ROWS, code=application)
        if not number:
            flash[: len(firmware)] = firmware
        else:
            application = firmware[image.APP_OFFSET :]
            flash[SLOT : SLOT + len(application)] = application
    return flash


class Boots:
    """The starts of a chip with this flash."""

    def __init__(self, *slots):
        self.flash = flash_of(*slots)
        self.memory = image.Memory(self.flash)

    def start(self):
        return image.boot(self.flash)[1]

    def ask(self, *question):
        def is_good(row):
            return image.image_fault(self.flash, row[3], image.MODELS["esp32c3"]) is None

        return otadata.ask(self.memory, is_good, "ota_0", *question)[0]

    @property
    def states(self):
        """Number and state of both entries, as a chip's own code reads them."""
        return [(one.number, one.state) for one in otadata.entries(self.memory, 0xD000)]


BLANK = (0xFFFFFFFF, 0xFFFFFFFF)


def test_a_slot_that_is_not_confirmed_is_tried_once():
    """The states are those that an official image and its boot loader left on an ESP32."""
    chip = Boots(b"old", NEW_CODE)
    assert chip.states == [BLANK, BLANK]
    assert chip.start() == "ota_0"
    assert chip.states == [(1, otadata.VALID), BLANK]
    assert chip.ask("boot", "ota_1") == 0
    assert chip.states == [(1, otadata.VALID), (2, otadata.NEW)]
    assert chip.start() == "ota_1"
    assert chip.states == [(1, otadata.VALID), (2, otadata.PENDING)]
    assert chip.start() == "ota_0"
    assert chip.states == [(1, otadata.VALID), (2, otadata.ABORTED)]
    assert chip.start() == "ota_0"


def test_a_slot_that_is_confirmed_stays_and_the_other_can_follow():
    chip = Boots(b"old", NEW_CODE)
    chip.start()
    chip.ask("boot", "ota_1")
    chip.start()
    assert chip.ask("valid") == 0
    assert chip.states == [(1, otadata.VALID), (2, otadata.VALID)]
    assert chip.start() == chip.start() == "ota_1"
    assert chip.ask("boot", "ota_0") == 0
    assert chip.states == [(3, otadata.NEW), (2, otadata.VALID)]
    assert chip.start() == "ota_0"
    assert chip.start() == "ota_1"


def test_a_torn_note_counts_as_none():
    chip = Boots(b"old", NEW_CODE)
    chip.start()
    chip.ask("boot", "ota_1")
    # The CRC is its last word.
    chip.flash[0xE000 + 28 : 0xE000 + 32] = b"\xff" * 4
    assert chip.start() == "ota_0"


def test_an_image_that_is_damaged_later_gives_way_to_the_other():
    chip = Boots(b"old", NEW_CODE)
    chip.start()
    chip.ask("boot", "ota_1")
    chip.flash[SLOT + 100] ^= 1
    assert chip.start() == "ota_0"
    chip.flash[image.APP_OFFSET + 100] ^= 1
    assert chip.start() == ""


def test_errors_are_those_of_esp_idf():
    chip = Boots(b"old")
    assert chip.ask("valid") == ESP_FAIL
    chip.start()
    assert chip.ask("boot", "ota_1") == otadata.ESP_ERR_OTA_VALIDATE_FAILED
    assert chip.ask("boot", "elsewhere") == -otadata.ENOENT
    one = Boots()
    one.flash[:] = image.build_image()
    assert one.ask("valid") == otadata.ESP_ERR_NOT_FOUND
    assert one.ask("next", "factory") == -otadata.ENOENT


@pytest.fixture(scope="module")
def board():
    with VirtualBoard({}, rows=ROWS) as running:
        running.wait_for(">>> ")
        running.exec(
            "from esp32 import Partition as P\n"
            "def number(work, *args):\n"
            "    try:\n"
            "        return work(*args)\n"
            "    except OSError as error:\n"
            "        return -error.errno\n"
            "slot = P(P.RUNNING).get_next_update()\n"
        )
        yield running


def says(board, code):
    return board.exec(f"print({code})").strip()


def test_the_table_is_that_of_the_flash(board):
    assert says(board, "P(P.RUNNING).info()") == "(0, 16, 65536, 1572864, 'ota_0', False)"
    assert says(board, "P(P.BOOT).info()[4]") == "ota_0"
    assert says(board, "slot.info()") == "(0, 17, 1638400, 1572864, 'ota_1', False)"
    assert says(board, "slot.get_next_update().info()[4]") == "ota_0"
    assert says(board, "[one.info()[4] for one in P.find()]") == "['ota_0', 'ota_1']"
    assert says(board, "P.find(P.TYPE_DATA, label='otadata')[0].info()[2]") == "53248"
    assert says(board, "slot.ioctl(4, 0), slot.ioctl(5, 0)") == "384 4096"
    assert says(board, "number(P, 'factory')") == "-2"


@pytest.mark.parametrize(
    ("access", "error"),
    [
        ("writeblocks, 0, bytes(100)", 0x104),
        ("writeblocks, 384, bytes(4096)", 0x104),
        ("writeblocks, 385, bytes(4096)", 0x102),
        ("writeblocks, 383, bytes(4096), 1", 0x104),
        ("readblocks, 383, bytearray(4097)", 0x104),
        ("ioctl, 6, 384", 0x104),
        ("set_boot", 0x1503),
    ],
)
def test_accesses_outside_of_a_slot_are_errors(board, access, error):
    assert says(board, f"number(slot.{access})") == str(error)


def test_a_write_without_an_erase_clears_bits_only(board):
    board.exec(
        "part = bytearray(2)\n"
        "slot.writeblocks(3, bytes([0xF0]) * 4096)\n"
        "slot.writeblocks(3, bytes([0x3C]), 1)\n"
        "slot.readblocks(3, part)\n"
    )
    assert says(board, "part[0], part[1]") == "240 48"
    board.exec("slot.ioctl(6, 3)\nslot.readblocks(3, part)\n")
    assert says(board, "part[0], part[1]") == "255 255"
    # The other slot and the files are untouched.
    assert says(board, "number(P('ota_0').set_boot)") == "None"
