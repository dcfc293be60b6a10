# tenner net.http_send: writes one request, whose body a generator makes twice.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio

from tenner.port.compat import const

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.net.types import Exchange

# One write and one drain each: two writes per drain lose bytes under TLS. The response's buffer
# gathers it.
_CHUNK = const(512)
_SHORT = const(480)  # a head and a body that fit one chunk


async def send(http: "Exchange") -> bool:
    """Send the request of `http.work`; return False when the second pass of its body has another
    length."""
    # Not as arguments, which the frame of the caller would keep.
    head, body = http.work[:2]
    if isinstance(body, bytes) and len(head) + len(body) < _SHORT:
        http.body_bytes = len(body)
        await http.write(head + b"Content-Length: %d\r\n\r\n" % len(body) + body, True)
        return True
    left = 0
    for count, piece in enumerate(_pieces(b"", body)):
        left += len(piece)
        if count & 63 == 63:
            await asyncio.sleep(0)
    http.body_bytes = left
    if body is not None:
        head += b"Content-Length: %d\r\n" % left
    head += b"\r\n"
    left += len(head)
    view = memoryview(http.buffer)
    used = 0
    pieces = _pieces(head, body)
    try:
        for piece in pieces:
            left -= len(piece)
            end = used + len(piece)
            if end >= _CHUNK:
                if left < 0:
                    return False
                start = 0
                while end >= _CHUNK:
                    count = _CHUNK - used
                    view[used:] = memoryview(piece)[start : start + count]
                    start += count
                    end -= _CHUNK
                    await http.write(view, not left and not end)
                    used = 0
                piece = memoryview(piece)[start:]
            view[used:end] = piece
            used = end
    finally:
        # A body that reads files closes them now, not at a garbage collection.
        pieces.close()
    if used and not left:
        await http.write(view[:used], True)
    return left == 0


def _pieces(head, body):
    yield head
    if callable(body):
        yield from body()
    elif body:
        yield body
