"""Cut a reply into the pieces for the wire, and end it early at a fault."""

from __future__ import annotations

import http
from collections.abc import Iterator

from .faults import Step

_PIECE = 32 * 1024


def limit(step: Step, head: bytes) -> tuple[int | None, str]:
    """Return the number of bytes before the reply ends early, and the kind of end."""
    for ending in ("stall", "reset", "cut"):
        after: int | None = getattr(step, ending)
        if after is not None:
            if step.where == "headers":
                after += head.find(b"\r\n") + 2
            elif step.where == "body":
                after += len(head)
            return after, ending
    return None, ""


def cut_up(head: bytes, body: Iterator[bytes], step: Step) -> Iterator[bytes | None]:
    """Yield the bytes of each write; None is the pause between pieces."""
    size = step.write_bytes or _PIECE
    first = True
    for piece in _chain(head, body):
        if not first and step.piece_delay_ms:
            yield None
        first = False
        for start in range(0, len(piece), size):
            yield piece[start : start + size]


def _chain(head: bytes, body: Iterator[bytes]) -> Iterator[bytes]:
    yield head
    yield from body


def chunks(pieces: Iterator[bytes], size: int) -> Iterator[bytes]:
    for piece in pieces:
        step = size or len(piece) or 1
        for start in range(0, len(piece), step):
            part = piece[start : start + step]
            yield b"%x\r\n%s\r\n" % (len(part), part)
    yield b"0\r\n\r\n"


def filler(size: int) -> Iterator[bytes]:
    """Yield a JSON object of exactly `size` bytes (at least 11), most of it one string."""
    opening, closing = b'{"huge":"', b'"}'
    yield opening
    left = size - len(opening) - len(closing)
    while left > 0:
        part = min(left, _PIECE)
        yield b"x" * part
        left -= part
    yield closing


def reason(status: int) -> str:
    try:
        return http.HTTPStatus(status).phrase
    except ValueError:
        return "Unknown"
