# tenner update.slot: MicroPython itself, in the slot of the flash that does not run.
# MIT license; Copyright (c) 2026 the tenner authors
"""
The boot loader starts the new MicroPython once. Unless `keep` is called before the next reset, it
goes back to the old one by itself, and boot_trial.py takes the old code with it.
"""

from tenner.port.compat import const
from tenner.store import files
from tenner.update.manifest import Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator
    from typing import Any

    from tenner.agent.parts import Base
    from tenner.update.manifest import Manifest

_BLOCK = const(4096)
_COMMIT = const(65536)  # a break of the download loses this much at most
_PIECE = const(512)
_ERASE = const(6)
_MAGIC = const(0xE9)
_DONE = "/slot"  # in the new tree: how many bytes the slot has

#: In the folder of the state: how the last update has ended, for the owner's computer.
OUTCOME = "/update.txt"
#: There too, while an order of the owner's is carried out.
ORDER = "/update.run"
#: There too: a sentence about the newer version that the daily look has found.
SUMMARY = "/update.new"


def check(offer: "Manifest", root: str) -> None:
    """Raise Refused unless this board takes the MicroPython of a release."""
    number, chip, version = offer.micropython
    space = other().info()[3]
    size = offer.files[-1][1]
    if int(number) != _chip(_running()):
        raise Refused("the release has MicroPython for the %s, this board is none" % chip)
    if size > space:
        raise Refused(
            "MicroPython %s has %d KB, a slot of this board %d KB"
            % (version, size // 1024, space // 1024)
        )
    with open(root + "/boot_trial.py") as file:
        if not any(line.startswith("def running(") for line in file):
            raise Refused("the release needs a newer boot.py: update this board by `tenner sync`")


def other() -> "Any":
    """Return the slot that does not run; Refused without one."""
    try:
        return _running().get_next_update()
    except OSError:
        raise Refused(
            "the release has MicroPython, for which this board has no second slot: run `tenner "
            "flash --layout ota` over the cable"
        )


def count() -> int:
    """Return the number of slots for MicroPython on this board, 0 if it is no chip."""
    try:
        _running().get_next_update()
    except ImportError:
        return 0
    except OSError:
        return 1
    return 2


def _running():
    # Linux has no such module.
    import esp32

    kind: Any = esp32.Partition
    return kind(kind.RUNNING)


def _chip(partition):
    """Return the chip's number in the header of an image, -1 without one."""
    head = bytearray(16)
    partition.readblocks(0, head)
    return head[12] | head[13] << 8 if head[0] == _MAGIC else -1


def present(tree: str) -> int:
    """Return how many bytes of the slot are written."""
    return int(files.read_text(tree + _DONE)) if files.exists(tree + _DONE) else 0


async def receive(
    tree: str,
    size: int,
    some: "Callable[[Callable, memoryview], Awaitable[int]]",
    readinto: "Callable[[memoryview], Awaitable[int]]",
    view: memoryview,
) -> None:
    """Write the missing part of `size` bytes to the slot."""
    slot = other()
    at = present(tree)
    while at < size:
        end = min(at + _COMMIT, size)
        while at < end:
            if not at % _BLOCK:
                slot.ioctl(_ERASE, at // _BLOCK)
            count = await some(readinto, view[: min(end - at, _BLOCK - at % _BLOCK)])
            slot.writeblocks(0, view[:count], at)
            at += count
        files.write_atomic(tree + _DONE, str(at))


def blocks(size: int) -> "Iterator[memoryview]":
    """Yield the content of the slot in pieces."""
    slot = other()
    view = memoryview(bytearray(_PIECE))
    for at in range(0, size, _PIECE):
        piece = view[: min(_PIECE, size - at)]
        slot.readblocks(0, piece, at)
        yield piece


def is_for_this_chip() -> bool:
    """Has the slot an image of this chip?"""
    return _chip(other()) == _chip(_running())


def keep() -> None:
    """Let the boot loader start this MicroPython from now on."""
    _running().mark_app_valid_cancel_rollback()


def is_possible(app: "Base") -> bool:
    """Can this board update itself? An image cannot, nor can Linux."""
    return app.port.kind == "esp32" and files.exists(app.port.path("lib/tenner"))
