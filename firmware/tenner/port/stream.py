# tenner port.stream: a stream for C code, over a file that outlives it or over nothing.
# MIT license; Copyright (c) 2026 the tenner authors

import io

from tenner.port.compat import const

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import BinaryIO

_BUFFER = const(128)


class Stream(io.IOBase):
    """
    The rest of `file`, which stays open when the stream is closed. Without a file it is a
    connection that never sends or receives.
    """

    file: "BinaryIO | None" = None

    def readinto(self, buf: bytearray) -> int | None:
        return self.file.readinto(buf) if self.file else None

    def write(self, buf: bytes) -> int | None:
        return None

    def ioctl(self, request: int, argument: int) -> int:
        # An import asks for a size of its buffer; others want any number that is no error.
        return _BUFFER
