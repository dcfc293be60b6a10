# tenner net.cpython: decompresses pages on CPython, which has no `deflate`.
# MIT license; Copyright (c) 2026 the tenner authors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO


def unpacked(file: "BinaryIO", kind: str, size: int) -> "Iterator[bytes]":
    """Yield the pieces of a compressed file; `kind` is GZIP, ZLIB or RAW."""
    import zlib

    stream = zlib.decompressobj({"GZIP": 31, "ZLIB": 15, "RAW": -15}[kind])
    try:
        while not stream.eof:
            data = stream.unconsumed_tail or file.read(size)
            piece = stream.decompress(data, size)
            if not piece and not data:
                raise OSError("the compressed page is broken")
            yield piece
    except zlib.error:
        raise OSError("the compressed page is broken")
