# tenner net.shortage: recognizes connections that fail for lack of memory.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.port.compat import const

ENOMEM = const(12)

#: For a person; this memory is not Python's heap.
SENTENCE = (
    "the board has too little memory left for a connection; it restarts itself if that lasts"
)

# ENOMEM, lwIP's name look-up, and mbedTLS numbers ending in ALLOC_FAILED: SSL, X509, PK, ECP, MD,
# cipher, PEM.
_NUMBERS = (ENOMEM, -203, -32512, -10368, -16256, -19840, -20864, -24960, -4480)
# The low part of mbedTLS numbers that are the sum of two: big integers and ASN.1 without memory.
_LOW = (0x10, 0x6A)
_FIRST_SUM = const(-0x1000)


def is_short(error: BaseException | None) -> bool:
    """Return whether this OSError of a connection means a lack of memory."""
    number = error.args[0] if isinstance(error, OSError) and error.args else None
    if not isinstance(number, int):
        return False
    return number in _NUMBERS or (number <= _FIRST_SUM and -number & 0x7F in _LOW)
