# tenner store.two_slot: a little state that is written often and never lost entirely.
# MIT license; Copyright (c) 2026 the tenner authors
"""
Two files take turns, so the one that is being written is never the newest good one. Each holds one
line `sequence crc32 {json}` of at most 128 bytes: littlefs keeps a file that small inside its
folder's block, about 0.03 flash erases per write instead of 1.
"""

import binascii
import json

from tenner.log import log
from tenner.port.compat import const
from tenner.store import files, quarantine

_SLOT_BYTES = const(128)


class TwoSlots:
    """State in `path.a` and `path.b`; each save goes to the one that does not hold the newest."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._sequence: int | None = None
        self._newest = 1

    def load(self) -> dict:
        """Return the newest complete state, {} without any; a damaged slot is logged."""
        self._sequence = 0
        newest = {}
        damaged = []
        for index in (0, 1):
            path = self._slot(index)
            found = _read(path)
            if found is None:
                # A power cut leaves an empty file of a slot that was about to be made.
                if files.size(path) > 0:
                    damaged.append(path)
            elif found[0] > self._sequence:
                self._sequence, newest = found
                self._newest = index
        for path in damaged:
            if self._sequence:
                log("store", "%s is corrupt: using the previous state" % path)
            else:
                log(
                    "store",
                    "corrupt state saved as %s; starting afresh" % quarantine.quarantine(path),
                )
        return newest

    def save(self, state: dict) -> None:
        """Keep `state`; a ValueError names the size when it does not fit a slot."""
        if self._sequence is None:
            self.load()
        sequence = b"%d" % (self._sequence + 1)
        payload = json.dumps(state, separators=(",", ":")).encode()
        data = b" ".join((sequence, _check(sequence, payload), payload))
        if len(data) > _SLOT_BYTES:
            raise ValueError("state of %d bytes does not fit %s" % (len(payload), self.path))
        with files.open_own(self._slot(1 - self._newest), "wb") as file:
            files.put(file, data)
            files.sync(file)
        # Only now: after a failed write the next one must hit the same slot, not the good one.
        self._sequence += 1
        self._newest = 1 - self._newest

    def _slot(self, index):
        return self.path + (".b" if index else ".a")


def _check(sequence, payload):
    return b"%08x" % (binascii.crc32(sequence + b" " + payload) & 0xFFFFFFFF)


def _read(path):
    """Return (sequence, state) of a complete slot, else None."""
    try:
        with open(path, "rb") as file:
            sequence, check, payload = file.read(_SLOT_BYTES + 1).split(b" ", 2)
        if check == _check(sequence, payload):
            return int(sequence), json.loads(payload.decode())
    except (OSError, ValueError):  # absent, or not three parts
        return None
    return None
