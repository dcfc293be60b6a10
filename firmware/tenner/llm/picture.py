# tenner llm.picture: the bytes of a picture in a request, as base64.
# MIT license; Copyright (c) 2026 the tenner authors

import json
from binascii import b2a_base64

from tenner.port.compat import const

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

# A multiple of three bytes has no padding.
_BLOCK = const(384)


def base64(path: bytes) -> "Iterator[bytes]":
    """Yield the file at `path`, the inside of a JSON string, as base64 in pieces."""
    with open(json.loads('"%s"' % path.decode()), "rb") as file:
        while True:
            block = file.read(_BLOCK)
            if not block:
                return
            yield b2a_base64(block)[:-1]
