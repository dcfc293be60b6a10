# tenner tests: a board whose power may fail anywhere in an update of MicroPython and its code.
# MIT license; Copyright (c) 2026 the tenner authors
"""
    micropython powercut_slots.py COMMAND

    make IMAGE FOLDER            a board with the old code and the old MicroPython
    cut IMAGE FOLDER pass torn   its update; a cut at flash operation N leaves IMAGE.N
    again IMAGE.N FOLDER torn    the boot after that; a cut at its operation M leaves IMAGE.N.M
    after IMAGE.N FOLDER         the boots after that, and their outcome

As powercut_update, whose littlefs is now a part of a flash with a partition table, otadata and two
slots. `esp32.Partition` is the virtual board's, and its boot loader runs at every start. FOLDER
also has `old.app`, the partition `table`, and the virtual board's module `esp32`.
"""

import builtins
import struct
import sys
from hashlib import sha256

import otadata
import powercut_update as board
from ram_flash import BLOCK, ERASED, RamFlash
from vfs import VfsLfs2, mount, umount

from tenner.store import files
from tenner.update import slot

SLOTS = {"ota_0": 16, "ota_1": 24}  # first blocks
FILES = 32
BLOCKS = 72
LIB = board.LIB


class Region:
    """A part of a flash, as MicroPython's block device."""

    def __init__(self, flash, offset, size):
        self.flash = flash
        self.first = offset // BLOCK
        self.blocks = size // BLOCK

    def readblocks(self, block, buf, offset=0):
        return self.flash.readblocks(self.first + block, buf, offset)

    def writeblocks(self, block, buf, offset=0):
        return self.flash.writeblocks(self.first + block, buf, offset)

    def ioctl(self, what, block):
        if what == 4:
            return self.blocks
        return self.flash.ioctl(what, self.first + block if what == 6 else block)


class Reset(Exception):
    """The chip was reset."""


class Machine:
    """Stands for the chip's module."""

    SOFT_RESET = 5
    cause = 1

    class WDT:
        def __init__(self, timeout):
            self.timeout = timeout

    @classmethod
    def reset_cause(cls):
        return cls.cause

    @classmethod
    def reset(cls):
        raise Reset


class Wires:
    """Stands for the wires of the virtual board's modules to their supervisor."""

    flash_fd = sys.argv[3] + "/table"

    def __init__(self):
        self.flash = None
        self.running = ""

    def is_good(self, row):
        return has_image(self.flash, row[3])

    def ask(self, text):
        error, rows = otadata.ask(self.flash, self.is_good, self.running, *text.split(" ")[1:])
        if error:
            raise OSError(-error)
        return rows.encode()

    def os_error(self, number):
        return OSError(number)


class FlashModule:
    @staticmethod
    def FlashRegion(image, offset, size):
        return Region(wires.flash, offset, size)


def has_image(flash, offset):
    """Is there a whole image?"""
    data = bytearray(8 * BLOCK)
    flash.readblocks(offset // BLOCK, data)
    if data[0] != 0xE9:
        return False
    at = 24
    for _ in range(data[1]):
        if at + 8 > len(data):
            return False
        at += 8 + struct.unpack_from("<I", data, at + 4)[0]
    at += 16 - at % 16
    return data[at : at + 32] == sha256(data[:at]).digest()


wires = Wires()
sys.modules["machine"] = Machine
sys.modules["_board"] = wires
sys.modules["_flash"] = FlashModule
# Not found by its name: only a chip has such a module, and the agent asks for it.
names = {}
exec(board.read(sys.argv[3] + "/esp32").decode(), names)


class Esp32:
    Partition = names["Partition"]


sys.modules["esp32"] = Esp32


def plug_in(path, torn="", on_operation=None):
    """A flash with this content."""
    image = bytearray(board.read(path))
    wires.flash = RamFlash(image, bool(torn), on_operation)
    return image


def start(folder, cause=1):
    """A reset: the boot loader, then boot.py on the MicroPython that it has chosen."""
    builtins.print = board.say
    Machine.cause = cause
    while True:
        if Machine.cause != Machine.SOFT_RESET:
            row = otadata.choose(wires.flash, wires.is_good)
            assert row, "nothing starts"
            wires.running = row[0]
        mount(
            VfsLfs2(Region(wires.flash, FILES * BLOCK, (BLOCKS - FILES) * BLOCK), mtime=False),
            "/cut",
        )
        try:
            board.boot(folder)
            return wires.running
        except Reset:
            builtins.print = board.say
            umount("/cut")
            Machine.cause = 2


def power_off():
    builtins.print = board.say
    umount("/cut")


def code(release):
    """Which code is in place: "old", "new", or the names of a mix."""
    found = board.tree(board.HOME)
    found.pop("slot", None)
    if found == board.OLD:
        return "old"
    return "new" if found == board.new_tree(release) else "a mix: %s" % sorted(found)


def make(path, folder):
    image = bytearray(ERASED * BLOCKS)
    table = board.read(folder + "/table")
    image[8 * BLOCK : 8 * BLOCK + len(table)] = table
    application = board.read(folder + "/old.app")
    image[16 * BLOCK : 16 * BLOCK + len(application)] = application
    wires.flash = RamFlash(image)
    board.fill(Region(wires.flash, FILES * BLOCK, (BLOCKS - FILES) * BLOCK), folder)
    files.write_atomic("/cut/boot_trial.py", board.read(folder + "/boot_trial.py"))
    umount("/cut")
    board.keep(path, image)
    return "made"


def finish(outcome):
    """As tenner.update.trial and report do at the end of a trial."""
    if outcome == "pass":
        slot.keep()
        board.end_trial(True)
    else:
        print("a line of the log")


def cut(path, folder, outcome, torn):
    release = board.read(folder + "/release")
    image = plug_in(path, torn, lambda number: board.keep("%s.%d" % (path, number), image))
    assert start(folder) == "ota_0"
    board.update(release)
    power_off()
    switched = wires.flash.operations
    assert (start(folder), code(release)) == ("ota_1", "new")
    finish(outcome)
    power_off()
    expected = ("ota_1", "new") if outcome == "pass" else ("ota_0", "old")
    assert (start(folder), code(release)) == expected
    if outcome == "fail":
        board.after_failure()
    power_off()
    return "%d %d" % (wires.flash.operations, switched)


def again(path, folder, torn):
    """The boot after a cut, with a cut at each of its own operations."""
    image = plug_in(path, torn, lambda number: board.keep("%s.%d" % (path, number), image))
    start(folder)
    power_off()
    return "%d" % wires.flash.operations


def after(path, folder):
    release = board.read(folder + "/release")
    plug_in(path)
    states = {("ota_0", "old"): "old", ("ota_1", "new"): "new"}
    outcome = states.get((start(folder), code(release)))
    if outcome is None:
        return "%s with %s" % (wires.running, code(release))
    if outcome == "new" and files.exists(LIB + "/trial"):
        # It is reset in its trial: back to the old version, unless it had passed.
        passed = otadata.active(otadata.entries(wires.flash, 13 * BLOCK)).state == otadata.VALID
        power_off()
        outcome = states.get((start(folder), code(release)))
        if outcome != ("new" if passed else "old"):
            return "after the trial %s with %s" % (wires.running, code(release))
        if outcome == "old" and not files.exists(LIB + "/failed"):
            return "nobody knows of the failed trial"
    if files.exists(LIB + "/next"):
        return "the list is not done"
    for name, text in board.OWN.items():
        if board.read("/cut" + name) != text.encode():
            return name + " has changed"
    if outcome == "old":
        # The next update goes through, and stays.
        if files.exists(LIB + "/failed"):
            board.after_failure()
        board.update(release)
        power_off()
        start(folder)
        finish("pass")
        power_off()
        if (start(folder), code(release)) != ("ota_1", "new"):
            return "the next update was not installed"
    power_off()
    # Nothing is left to do: the board stays as it is.
    if code_at(folder, release) != "new":
        return "it did not stay"
    return outcome


def code_at(folder, release):
    start(folder)
    found = code(release)
    power_off()
    return found if wires.running == "ota_1" else wires.running


board.say({"make": make, "cut": cut, "again": again, "after": after}[sys.argv[1]](*sys.argv[2:]))
