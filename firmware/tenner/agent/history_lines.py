# tenner agent.history_lines: reads the lines of a chat's history in pieces.
# MIT license; Copyright (c) 2026 the tenner authors

import gc

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

# Small, since the heap has few long free blocks; large enough for the longest id and name of a
# call in one piece.
PIECE = 256
# A small heap has no free stretch for the messages that more lines become.
_BLOCK = PIECE if hasattr(gc, "mem_free") and gc.mem_free() + gc.mem_alloc() < 65536 else 320


def line_pieces(file: "BinaryIO", end: int) -> "Iterator[bytes]":
    """Yield the lines of `file` up to offset `end` in pieces; the last piece of a line ends in a
    newline."""
    left = end - file.tell()
    while left > 0:
        piece = file.readline(min(PIECE, left))
        if not piece:
            return
        left -= len(piece)
        yield piece


def line_blocks(file: "BinaryIO", end: int) -> "Iterator[bytes]":
    """
    Yield the lines of `file` up to offset `end` in blocks of complete lines, which is faster for
    long histories. A long line comes in pieces, the first of at least PIECE bytes; the last ends
    in a newline.
    """
    left = end - file.tell()
    held = b""
    is_long = False
    while True:
        block = held
        if left > 0:
            block += file.read(min(_BLOCK - len(held), left))
            left -= len(block) - len(held)
        if not block:
            return
        cut = (block.find(b"\n") if is_long else block.rfind(b"\n")) + 1
        is_long = not cut
        if is_long:
            cut = len(block)
        yield block[:cut]
        held = block[cut:]
