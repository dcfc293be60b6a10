# tenner net.sse: strip server-sent-event framing from a byte stream without holding a line.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.port.compat import const

_FIELD = const(0)  # in a field name, up to its colon
_SPACE = const(1)  # after "data:", where one space is not part of the data
_DATA = const(2)
_SKIP = const(3)  # in a comment or a field nobody asked for

_DONE = b"[DONE]"


class SseReader:
    """
    Calls `on_data(bytes)` with the payload as it arrives and `on_event_end()` at the end of an event
    that had data. `done` turns true at the `[DONE]` some servers send, and what follows is ignored.
    """

    def __init__(self, on_data, on_event_end):
        self._on_data = on_data
        self._on_event_end = on_event_end
        self.done = False
        #: Events with data so far; none at the end of a body means it was no event stream.
        self.events = 0
        self._state = _FIELD
        self._field = b""
        self._return = False  # the last byte was a carriage return: a newline now belongs to it
        self._lines = 0  # data lines of this event
        self._held = b""  # a beginning of [DONE]

    def feed(self, data):
        """Take the next bytes of the body, cut anywhere."""
        if not isinstance(data, (bytes, bytearray)):
            data = bytes(data)
        size = len(data)
        i = 0
        while i < size and not self.done:
            if self._return:
                self._return = False
                if data[i] == 0x0A:
                    i += 1
                    continue
            newline = data.find(b"\n", i)
            end = size if newline < 0 else newline
            back = data.find(b"\r", i, end)
            if back >= 0:
                end = back
            if end > i:
                self._piece(data, i, end)
            if end < size:
                self._return = data[end] == 0x0D
                self._line_end()
            i = end + 1

    def _piece(self, data, i, end):
        """Take a part of one line."""
        if self._state == _FIELD:
            colon = data.find(b":", i, end)
            stop = end if colon < 0 else colon
            # Longer than any name we know is as good as unknown, so this stays small.
            self._field += data[i : min(stop, i + 8)]
            if len(self._field) > 8:
                self._field = b"........"
            if colon < 0:
                return
            self._start(self._field)
            i = colon + 1
        if i < end and self._state == _SPACE:
            self._state = _DATA
            if data[i] == 0x20:
                i += 1
        if i < end and self._state == _DATA:
            self._payload(data[i:end])

    def _start(self, field):
        """The field name is complete."""
        if field[:3] == b"\xef\xbb\xbf":  # a byte order mark before the first line
            field = field[3:]
        self._state = _SPACE if field == b"data" else _SKIP
        if self._state == _SPACE:
            self._lines += 1
            if self._lines > 1:
                self._payload(b"\n")

    def _payload(self, piece):
        if self._held is not None:
            piece = self._held + piece
            if _DONE.startswith(piece):
                self._held = piece
                return
            self._held = None
        self._on_data(bytes(piece))

    def _line_end(self):
        if self._state == _FIELD and not self._field:
            self._event_end()
        elif self._state == _FIELD:
            self._start(self._field)
        elif self._held == _DONE:
            self.done = True
        self._state = _FIELD
        self._field = b""

    def _event_end(self):
        if self._held != b"":
            if self._held:
                self._on_data(self._held)
            self.events += 1
            self._on_event_end()
        self._held = b""
        self._lines = 0

    def end(self):
        """The body is over; an event without its blank line counts all the same."""
        if not self.done:
            self._line_end()
        if not self.done:
            self._event_end()
