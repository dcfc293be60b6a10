# tenner net.sse: strips server-sent-event framing from a byte stream, and repairs its UTF-8.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.port.compat import const

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

# Bytes of the line with [DONE], which some servers send with spaces.
_LONGEST = const(32)


class SseReader:
    """
    Calls `on_data(bytes)` with the payload as it arrives and `on_event_end()` at the end of an
    event that had data. At the `[DONE]` of some servers `done` turns true, and the rest is
    ignored.
    """

    def __init__(
        self, on_data: "Callable[[bytes], None]", on_event_end: "Callable[[], None]"
    ) -> None:
        self._on_data = on_data
        self._on_event_end = on_event_end
        self.done = False
        #: Number of events with data; a body without any was no event stream.
        self.events = 0
        self._is_data = None  # is this line data? None: at its beginning
        self._held = b""  # undecided bytes: the beginning of a line, half a line end
        self._lines = 0  # data lines of this event
        self._open = False  # has this event had data?

    def feed(self, data: bytes | memoryview) -> None:
        """Parse the next bytes of the body, cut anywhere."""
        data = self._held + data
        self._held = b""
        if data[-1:] == b"\r":
            self._held = b"\r"
            data = data[:-1]
        # Lines end in CR LF, LF or CR.
        pieces = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        last = pieces.pop()
        for piece in pieces:
            if not self.done:
                self._take(piece, True)
        if last and not self.done:
            self._take(last, False)

    def _take(self, piece, ended):
        """Parse a part of a line; `ended`: its end followed."""
        if self._is_data is None:
            piece = piece.lstrip(b"\xef\xbb\xbf")  # a byte order mark
            start = b"".join(piece[:_LONGEST].split())
            if not ended and len(piece) < _LONGEST and b"data:[DONE]".startswith(start):
                self._held = piece + self._held
                return
            if not piece:
                self._lines = 0
                if self._open:
                    self._open = False
                    self.events += 1
                    self._on_event_end()
                return
            name, _, piece = piece.partition(b":")
            self._is_data = name == b"data"
            if self._is_data:
                if piece[:1] == b" ":
                    piece = piece[1:]
                if ended and piece.strip() == b"[DONE]":
                    self.done = True
                    return
                if self._lines:
                    piece = b"\n" + piece
                self._lines += 1
        if piece and self._is_data:
            self._open = True
            self._on_data(piece)
        if ended:
            self._is_data = None

    def end(self) -> None:
        """End the body; an event without its blank line counts, too."""
        self.feed(b"\n\n")


def repair(data: bytes | bytearray | memoryview) -> str:
    """Decode bytes; each longest invalid prefix of a sequence becomes one U+FFFD, as in
    CPython."""
    parts = []
    good = i = 0
    size = len(data)
    while i < size:
        start = i
        lead = data[i]
        i += 1
        if lead < 0x80:
            continue
        left = 0 if lead < 0xC2 or lead > 0xF4 else 1 if lead < 0xE0 else 2 if lead < 0xF0 else 3
        wrong = left == 0
        # The second byte rules out overlong forms, surrogates and numbers past U+10FFFF.
        low = 0xA0 if lead == 0xE0 else 0x90 if lead == 0xF0 else 0x80
        high = 0x9F if lead == 0xED else 0x8F if lead == 0xF4 else 0xBF
        while left and i < size and low <= data[i] <= high:
            low = 0x80
            high = 0xBF
            left -= 1
            i += 1
        if left or wrong:
            parts.append(str(data[good:start], "utf-8"))
            parts.append("\ufffd")
            good = i
    parts.append(str(data[good:], "utf-8"))
    return "".join(parts)
