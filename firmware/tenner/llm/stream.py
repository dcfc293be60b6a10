# tenner llm.stream: reads the events of a reply; does not parse one that repeats the last.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.net.json.scanner import Scanner
from tenner.net.json.writer import decode, escape
from tenner.port.compat import const

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from tenner.llm.collect import Collector
    from tenner.llm.parse_chat import Parser as ChatParser
    from tenner.llm.parse_messages import Parser as MessagesParser

# A longer event goes to the scanner in pieces.
_SHORT = const(1024)


class EventStream:
    """
    Gives the values in the events of a stream to `parser`. Nearly all events of a reply differ
    from the last one only in a piece of text, or of a call's arguments. Comparing the bytes around
    it is much cheaper than parsing.
    """

    def __init__(self, parser: "ChatParser | MessagesParser", collector: "Collector") -> None:
        self._parser = parser
        self._collector = collector
        self._scanner = Scanner(parser.sink, parser.WANTED)
        self._event = b""  # the received part of a short event
        self._is_long = False
        # The bytes around the piece of the last event, if it held nothing else, and the taker of
        # that piece.
        self._before = self._after = b""
        self._take: "Callable[[str], None] | None" = None
        self._half = b""  # of a surrogate pair; the next event has the other half
        self._head = b""  # the beginning that events share, of members that nobody wants

    def feed(self, piece: bytes) -> None:
        """Take the next bytes of an event."""
        if not self._is_long:
            piece = self._event + piece
            self._event = piece
            if len(piece) <= _SHORT:
                return
            self._is_long = True
            self._event = b""
        self._scanner.feed(piece)

    def event_end(self) -> None:
        """Parse the complete event; raise ValueError when it is not JSON."""
        event, self._event = self._event, b""
        if not self._is_long and self._is_like_the_last(event):
            return
        parser = self._parser
        collector = self._collector
        before = collector.pieces
        parser.has_more = self._is_long
        if not self._is_long:
            if b"\\u" in event:
                event = self._joined(event)
            head = self._head
            if not head:
                self._head = _unwanted(event, parser.WANTED)
            skipped = head and event.startswith(head)
            self._scanner.feed(b"{" + event[len(head) :] if skipped else event)
        self._is_long = False
        self._scanner.end()
        self._scanner.reset()
        parser.event_end()
        self._before = b""
        if collector.pieces == before + 1 and collector.piece and not parser.has_more:
            text = b'"%s"' % escape(collector.piece.encode())
            if event.count(text) == 1:
                start = event.find(text) + 1
                self._before = event[:start]
                self._after = event[start + len(text) - 2 :]
                self._take = collector.take

    def _is_like_the_last(self, event):
        """Take the piece of an event that differs from the last only in it; return False for any
        other event."""
        before = self._before
        after = self._after
        size = len(event) - len(after)
        if not before or size < len(before) or not event.startswith(before):
            return False
        if not event.endswith(after):
            return False
        text = _plain(event[len(before) : size])
        if text is None:
            return False
        self._take(decode(text))
        return True

    def _joined(self, event):
        """Return the event with the half surrogate pair of the last one; hold back a half at its
        own end."""
        half, self._half = self._half, b""
        start = event.find(b"\\u")
        while start >= 0:
            letter = event[start + 3 : start + 4].lower()
            if event[start + 2 : start + 3] in b"dD":
                if half and letter in b"cdef" and event[start - 1 : start] == b'"':
                    event = event[:start] + half + event[start:]
                    half = b""
                    start += 6
                elif letter in b"89ab" and event[start + 6 : start + 7] == b'"':
                    if event[start - 1 : start] != b"\\":
                        self._half = event[start : start + 6]
                        event = event[:start] + event[start + 6 :]
            start = event.find(b"\\u", start + 1)
        return event


def _unwanted(event, wanted):
    """Return the beginning of an event up to its first wanted member, if the members there are
    simple."""
    head = event
    for name in wanted:
        head = head.split(b'"' + name.encode() + b'"', 1)[0]
    return head if head[-1:] == b"," and head.count(b"{") == 1 and b"[" not in head else b""


def _plain(text):
    """Decode the inside of a JSON string; return None if it is none, or has a rare escape."""
    if b"\\" not in text:
        return None if b'"' in text else text
    if b"\0" in text:
        return None
    parts = []
    for part in text.split(b"\\\\"):
        part = part.replace(b'\\"', b"\0").replace(b"\\n", b"\n")
        if b"\\" in part or b'"' in part:
            return None
        parts.append(part.replace(b"\0", b'"'))
    return b"\\".join(parts)
