"""SLIP framing, as in the serial loader of Espressif chips."""

from __future__ import annotations

import re

END = b"\xc0"
_ESCAPE = b"\xdb"
_ESCAPED_END = b"\xdb\xdc"
_ESCAPED_ESCAPE = b"\xdb\xdd"
_BAD_ESCAPE = re.compile(rb"\xdb(?![\xdc\xdd])", re.DOTALL)


def encode(packet: bytes) -> bytes:
    """One frame."""
    return END + packet.replace(_ESCAPE, _ESCAPED_ESCAPE).replace(END, _ESCAPED_END) + END


class SlipReader:
    """Takes bytes cut anywhere and returns complete packets; drops bytes between frames."""

    #: Longer than any packet the loader takes (16 KB of data, every byte escaped).
    LIMIT = 0x10000

    def __init__(self) -> None:
        self.in_frame = False
        self._frame = bytearray()

    def feed(self, data: bytes) -> list[bytes]:
        packets = []
        *ended, rest = data.split(END)
        for part in ended:
            if self.in_frame:
                self._frame += part
            if self._frame:
                frame, self.in_frame = bytes(self._frame), False
                self._frame.clear()
                if not _BAD_ESCAPE.search(frame):
                    packets.append(
                        frame.replace(_ESCAPED_END, END).replace(_ESCAPED_ESCAPE, _ESCAPE)
                    )
            else:
                # The start of a frame, or an empty frame, whose end may be the next one's start.
                self.in_frame = True
        if self.in_frame:
            self._frame += rest
            if len(self._frame) > self.LIMIT:
                self.in_frame = False
                self._frame.clear()
        return packets
