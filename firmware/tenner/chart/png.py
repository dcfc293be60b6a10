# tenner chart.png: writes a PNG of 16 colors row by row, in a few hundred bytes of memory.
# MIT license; Copyright (c) 2026 the tenner authors
"""
The images of most boards can only decompress, so this has a small compressor of its own (RFC 1951,
fixed Huffman codes). It finds two kinds of repetition: bytes equal to those of the row above, and
runs of one byte. That is nearly all there is in a chart.
"""

import struct
from binascii import crc32

from tenner.port.compat import const

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_CHUNK = const(512)  # bytes of an IDAT
_MARGIN = const(512)  # bytes that a row may take
_MOST = const(60)  # codes in a list
_KNOWN = const(64)  # codes that are kept
_LAST = const(5)  # the code of distance 1: five bits, all 0
_LONGEST = const(258)  # bytes of a match
_SHORTEST = const(3)
_RUN = const(4)  # a shorter run is not worth a match
_MOD = const(65521)  # of Adler-32
# The first length of each code from 257 on; RFC 1951, 3.2.5.
_LENGTHS = (
    b"\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0d\x0f\x11\x13\x17\x1b\x1f\x23\x2b\x33\x3b\x43\x53\x63"
    b"\x73\x83\xa3\xc3\xe3"
)


class Png:
    """
    `write(bytes)` takes the file piece by piece. Call `row` for each row, from the top, with
    width // 2 bytes, two pixels in each; the first row must be of color 0. Then call `end`.
    """

    def __init__(
        self,
        write: "Callable[[bytes | memoryview], object]",
        width: int,
        height: int,
        palette: bytes,
    ) -> None:
        self._write = write
        self._size = width // 2
        self._above = bytearray(self._size)
        self._first = True
        self._out = bytearray(_CHUNK + _MARGIN)
        self._used = 0
        self._bits = self._count = 0
        #: Codes that were used before: of a literal by its byte, of a length by 256 more; the bits
        #: above four with their number.
        self._codes = {}
        # Bytes equal to those above that are not written yet.
        self._match = 0
        # Adler-32: its two sums, and the sums of the row above, plain and weighted by the distance
        # from the end of the row.
        self._a, self._b = 1, 0
        self._plain = self._weighted = 0
        self._above_code = _distance(self._size + 1)
        write(b"\x89PNG\r\n\x1a\n")
        self._chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 4, 3, 0, 0, 0))
        self._chunk(b"PLTE", palette)
        # The header of zlib; the last block, with fixed codes.
        self._emit((0x78 << 4 | 8, 1 << 4 | 8, 3 << 4 | 3))

    def row(self, row: bytes | bytearray, places: "Sequence[int] | None" = None) -> None:
        """
        Add the next row; the caller may change it afterwards. `places` are those of the bytes that
        may differ from the row above, in their order; None is all.
        """
        size = self._size
        codes = []
        if self._first:
            self._first = False
            codes.append(self._code(0))
            self._copy(codes, size, _LAST)
        else:
            # The first byte of each row, its filter, is 0.
            self._match += 1
            if places is None:
                places = () if row == self._above else range(size)
            self._differ(codes, row, places)
        self._emit(codes)
        total = self._b + (size + 1) * self._a + self._weighted
        self._a = (self._a + self._plain) % _MOD
        self._b = total % _MOD

    def end(self) -> None:
        """Write the end of the file."""
        codes = []
        self._copy(codes, self._match, self._above_code)
        codes.append(7)
        self._emit(codes)
        codes = [-self._count & 7]
        for number in (self._b, self._a):
            codes += [(number >> 8) << 4 | 8, (number & 255) << 4 | 8]
        self._emit(codes)
        if self._count:
            # The last byte.
            self._emit((8,))
        self._send()
        self._chunk(b"IEND", b"")

    def _differ(self, codes, row, places):
        """Append the codes of a row that may differ from the one above in these places."""
        above = self._above
        size = self._size
        known = self._codes
        next = run = 0  # behind the last byte that differs; bytes equal to it
        last = -1
        for at in places:
            byte = row[at]
            change = byte - above[at]
            if not change:
                continue
            self._plain += change
            self._weighted += (size - at) * change
            above[at] = byte
            if at == next and byte == last:
                run += 1
            else:
                if run:
                    self._repeat(codes, last, run)
                    run = 0
                self._match += at - next
                if self._match:
                    code = known.get(self._match + 256)
                    if code:
                        # The usual case, without a call.
                        codes.append(code)
                        codes.append(self._above_code)
                        self._match = 0
                    else:
                        self._same(codes, at)
                codes.append(known.get(byte) or self._code(byte))
                last = byte
                if len(codes) > _MOST:
                    # A long list needs a long free block.
                    self._emit(codes)
                    codes.clear()
            next = at + 1
        if run:
            self._repeat(codes, last, run)
        self._match += size - next
        if self._match < _SHORTEST:
            self._same(codes, size)

    def _repeat(self, codes, byte, count):
        """Append the codes of a run of the last byte."""
        if count >= _RUN:
            self._copy(codes, count, _LAST)
        else:
            codes += [self._code(byte)] * count

    def _same(self, codes, end):
        """Append the codes of the bytes up to `end` that are equal to those above."""
        count = self._match
        self._match = 0
        if count >= _SHORTEST:
            self._copy(codes, count, self._above_code)
        else:
            for at in range(end - count, end):
                codes.append(self._code(self._above[at] if at >= 0 else 0))

    def _copy(self, codes, count, distance):
        """Append the codes that repeat `count` bytes; `distance` is the code that says from
        where."""
        while count:
            length = min(count, _LONGEST)
            if 0 < count - length < _SHORTEST:
                length -= _SHORTEST
            count -= length
            codes.append(self._code(length + 256))
            codes.append(distance)
            if len(codes) > _MOST:
                # Of many rows that are equal.
                self._emit(codes)
                codes.clear()

    def _code(self, number):
        """Return the code of a byte, or of a length plus 256."""
        code = self._codes.get(number)
        if code is None:
            if len(self._codes) >= _KNOWN:
                # A large dict needs a long free block.
                self._codes.clear()
            code = _symbol(number) if number < 256 else _length(number - 256)
            self._codes[number] = code
        return code

    def _emit(self, codes):
        """Write the codes, the lowest bit first."""
        out, used = self._out, self._used
        bits, count = self._bits, self._count
        for code in codes:
            bits |= (code >> 4) << count
            count += code & 15
            if count >= 16:
                out[used] = bits & 255
                out[used + 1] = bits >> 8 & 255
                used += 2
                bits >>= 16
                count -= 16
        if count >= 8:
            out[used] = bits & 255
            used += 1
            bits >>= 8
            count -= 8
        self._used = used
        self._bits, self._count = bits, count
        if used >= _CHUNK:
            self._send()

    def _send(self):
        if self._used:
            self._chunk(b"IDAT", memoryview(self._out)[: self._used])
            self._used = 0

    def _chunk(self, kind, data):
        write = self._write
        write(struct.pack(">I", len(data)) + kind)
        write(data)
        write(struct.pack(">I", crc32(data, crc32(kind)) & 0xFFFFFFFF))


def _symbol(number):
    """Return the code of a literal, or of a length: its bits above four with their number."""
    if number < 144:
        number, width = number + 48, 8
    elif number < 256:
        number, width = number + 256, 9
    elif number < 280:
        number, width = number - 256, 7
    else:
        number, width = number - 88, 8
    return _mirrored(number, width) << 4 | width


def _length(length):
    """Return the code of a match of this length, with its extra bits, as `_symbol` does."""
    if length == _LONGEST:
        return _symbol(285)
    place = len(_LENGTHS) - 1
    while _LENGTHS[place] > length:
        place -= 1
    code = _symbol(257 + place)
    bits, width = code >> 4, code & 15
    bits |= (length - _LENGTHS[place]) << width
    return bits << 4 | width + (place // 4 - 1 if place >= 8 else 0)


def _distance(count):
    """Return the code of a distance over 4, with its extra bits, as `_symbol` does."""
    extra = 1
    while 4 << extra < count:
        extra += 1
    # Two codes for each number of extra bits.
    rest = count - 1 - (2 << extra)
    bits = _mirrored(2 + 2 * extra + (rest >> extra), 5)
    return (bits | (rest & (1 << extra) - 1) << 5) << 4 | 5 + extra


def _mirrored(bits, width):
    """Return the bits in the other order: a Huffman code begins with its highest."""
    found = 0
    for _ in range(width):
        found = found << 1 | bits & 1
        bits >>= 1
    return found
