# tenner channels.telegram.document: sends a long text as a file.
# MIT license; Copyright (c) 2026 the tenner authors

import json

from tenner.port.compat import const

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_PIECE = const(512)
_FIELD = const('--%s\r\nContent-Disposition: form-data; name="%s"\r\n\r\n%s\r\n')
_FILE = const(
    '--%s\r\nContent-Disposition: form-data; name="document"; filename="%s"\r\n'
    "Content-Type: text/plain; charset=utf-8\r\n\r\n"
)


class Document:
    """
    The body of a sendDocument, as multipart/form-data. The HTTP client calls it for each pass.
    `taken`: see message.Body.
    """

    def __init__(self, fields: dict, name: str, text: str, boundary: str) -> None:
        head = ""
        for field in fields:
            value = fields[field]
            value = value if isinstance(value, str) else json.dumps(value)
            head += _FIELD % (boundary, field, value)
        self._head = (head + _FILE % (boundary, name)).encode()
        self._text = text
        self._tail = ("\r\n--%s--\r\n" % boundary).encode()
        self._passes = 0
        self.taken = False
        self.headers = (("Content-Type", "multipart/form-data; boundary=" + boundary),)

    def __call__(self) -> "Iterator[bytes]":
        self._passes += 1
        yield self._head
        for at in range(0, len(self._text), _PIECE):
            yield self._text[at : at + _PIECE].encode()
        self.taken = self._passes > 1
        yield self._tail
