# tenner net.multipart: the body of a request that sends a file, as multipart/form-data.
# MIT license; Copyright (c) 2026 the tenner authors

import json

from tenner.port.compat import const

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_FIELD = const('--%s\r\nContent-Disposition: form-data; name="%s"\r\n\r\n%s\r\n')
_FILE = const(
    '--%s\r\nContent-Disposition: form-data; name="%s"; filename="%s"\r\nContent-Type: %s\r\n\r\n'
)
# They would end the name, or the line.
_NOT_IN_NAMES = '"\\\r\n'


class Multipart:
    """
    `fields`, and behind them the file in `field`. The HTTP client calls it for each pass, to
    count and to send, and it calls `pieces()` for the bytes of the file. The second pass calls
    `began()`. `taken`: the client has all of its bytes.
    """

    def __init__(
        self,
        fields: dict,
        field: str,
        name: str,
        media_type: str,
        pieces: "Callable[[], Iterable[bytes]]",
        boundary: str,
        began: "Callable[[], None] | None" = None,
    ) -> None:
        head = ""
        for key in fields:
            value = fields[key]
            value = value if isinstance(value, str) else json.dumps(value)
            head += _FIELD % (boundary, key, value)
        for letter in _NOT_IN_NAMES:
            name = name.replace(letter, "_")
        self._head = (head + _FILE % (boundary, field, name, media_type)).encode()
        self._pieces = pieces
        self._tail = ("\r\n--%s--\r\n" % boundary).encode()
        self._began = began
        self._counted = False
        self.taken = False
        self.headers = (("Content-Type", "multipart/form-data; boundary=" + boundary),)

    def __call__(self) -> "Iterator[bytes]":
        if self.taken:
            raise OSError("the connection was lost before the answer")
        sending = self._counted
        self._counted = False
        if sending and self._began:
            self._began()
        yield self._head
        yield from self._pieces()
        self._counted = not sending
        self.taken = sending
        yield self._tail
