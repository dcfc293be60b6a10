# tenner schedule.line_words: a line of HEARTBEAT.md as plain letters, and the words in it.
# MIT license; Copyright (c) 2026 the tenner authors
"""
`fold` writes full-width letters, accents, dashes and brackets of other scripts as ASCII, and takes
decoration away. `words` finds the phrases of clause_words.tsv in its result. A row of that table
is a meaning, a tab, and phrases of all languages between commas, folded. It is read from flash for
each line that needs it, so memory holds none of it.

Everything here is bytes: MicroPython keeps each different character of a text forever.
"""

from tenner.port.compat import const
from tenner.port.package import locate
from tenner.store import files

# Bytes of a line in which its clauses can stand.
_MAX_HEAD = const(320)
# The letters of U+00C0 to U+00FF without their accents.
_LATIN = b"aaaaaaaceeeeiiiidnoooooxouuuuypsaaaaaaaceeeeiiiidnooooo ouuuuypy"
_TWO = {b"\xc2\xa0": b"  ", b"\xc2\xb0": None, b"\xc2\xb5": b"u\0", b"\xce\xbc": b"u\0",
        b"\xc3\x9f": b"ss"}  # fmt: skip
_THREE = {
    b"\xe2\x88\x92": b"-\0\0", b"\xe2\x84\x83": b"\xc2\xb0c", b"\xe2\x84\x89": b"\xc2\xb0f",
    b"\xe2\x89\xa4": b"<=\0", b"\xe2\x89\xa5": b">=\0", b"\xe2\x89\xa0": b"!=\0",
    b"\xe2\x80\xa6": b"...", b"\xe2\x80\xaf": b"   ", b"\xe2\x98\x90": b"[ ]",
    b"\xe2\x98\x91": b"[x]", b"\xe2\x9c\x93": b"[x]", b"\xe2\x9c\x94": b"[x]",
    b"\xe3\x80\x80": b"   ", b"\xe3\x80\x81": b",\0\0", b"\xe3\x80\x82": b".\0\0",
    b"\xe3\x80\x9c": b"-\0\0", b"\xe2\x80\x99": b"'\0\0", b"\xef\xbb\xbf": b"\0\0\0",
}  # fmt: skip


def fold(text: str) -> bytearray:
    """Return the text in as many bytes as its UTF-8 has: ASCII where that can be, zeros where
    nothing is to be read."""
    data = bytearray(text.encode())
    at = 0
    while at < len(data):
        byte = data[at]
        if byte < 0x80:
            if 65 <= byte <= 90:
                data[at] = byte + 32
            elif byte < 32:
                data[at] = 32
            at += 1
            continue
        size = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
        found = _folded(bytes(data[at : at + size]))
        if found:
            data[at : at + size] = found
        at += size
    return data


def _folded(letter):
    """Return the bytes in place of a character of UTF-8, as many, or None to leave it."""
    first, second = letter[0], letter[1] if len(letter) > 1 else 0
    if len(letter) == 2:
        if letter in _TWO:
            return _TWO[letter]
        if first == 0xC2 or first in (0xCC, 0xCD):
            return b"\0\0"
        if first == 0xC3:
            return bytes((_LATIN[second - 0x80], 0))
        if first == 0xD0 and 0x90 <= second < 0xB0:
            # Small letters of the Cyrillic alphabet.
            return bytes((0xD0, second + 32)) if second < 0xA0 else bytes((0xD1, second - 32))
        return None
    if len(letter) != 3:
        return bytes(len(letter))
    if letter in _THREE:
        return _THREE[letter]
    third = letter[2]
    if first == 0xE2:
        if second == 0x80 and third < 0x8C:
            return b"   "
        return b"-\0\0" if second == 0x80 and 0x90 <= third < 0x96 else b"\0\0\0"
    if first == 0xE3 and second == 0x80 and 0x88 <= third < 0x9C and third not in (0x92, 0x93):
        return b")\0\0" if third & 1 else b"(\0\0"
    if first == 0xEF and 0xBC <= second <= 0xBD and (second == 0xBC or third < 0x9F):
        plain = third - 0x60 if second == 0xBC else third - 0x20
        return bytes((plain + 32 if 65 <= plain <= 90 else plain, 0, 0))
    return b"\0\0\0" if first == 0xEF and second == 0xB8 else None


class Head:
    """The beginning of a text, folded, without its zeros."""

    def __init__(self, text: str) -> None:
        head = text[:_MAX_HEAD]
        self.text = text
        self._folded = fold(head)
        #: Brackets of every kind are round ones.
        plain = bytes([byte for byte in self._folded if byte])
        for one in b"[{":
            plain = plain.replace(bytes((one,)), b"(")
        for one in b"]}":
            plain = plain.replace(bytes((one,)), b")")
        self.plain = plain

    def place(self, at: int) -> int:
        """Return the place in the UTF-8 of the text at which this byte of `plain` stands."""
        folded = self._folded
        index = 0
        while index < len(folded):
            if folded[index]:
                if not at:
                    break
                at -= 1
            index += 1
        return index

    def cut(self, start: int, end: int | None = None) -> str:
        """Return the text itself between two places of `plain`, to its end without the second."""
        data = self.text.encode()
        return data[self.place(start) : len(data) if end is None else self.place(end)].decode()


def is_letter(byte: int) -> bool:
    """Return whether a folded byte is a small letter."""
    return 97 <= byte <= 122


def _is_whole(plain, start, end, phrase):
    """Return whether a phrase stands for itself there, not within a longer word."""
    first, last = phrase[0], phrase[-1]
    if 0xD0 <= first <= 0xD1:
        around = plain[start - 1 : start] + plain[end : end + 1]
        return not [byte for byte in around if byte >= 0xD0 or is_letter(byte)]
    before = plain[start - 1] if start else 32
    if before == 95:
        # Emphasis, not a part of a name.
        before = plain[start - 2] if start > 1 else 32
    behind = plain[end] if end < len(plain) else 32
    is_inside = is_letter(first) and is_letter(before)
    return not is_inside and not (is_letter(last) and (is_letter(behind) or behind == 95))


def words(plain: bytes, own: "list[tuple[bytes, str]]") -> dict[int, tuple[int, str]]:
    """Return {start: (end, meaning)} of the longest phrase at each place; `own` are (phrase,
    meaning) besides those of the table."""
    found: dict[int, tuple[int, str]] = {}
    for row in files.lines_of(files.blocks(*locate("schedule/clause_words.tsv"))):
        meaning, _, phrases = row.partition(b"\t")
        for phrase in phrases.split(b","):
            if phrase and phrase in plain:
                _add(found, plain, phrase, meaning)
    for phrase, name in own:
        if phrase and phrase in plain:
            _add(found, plain, phrase, name)
    return found


def _add(found, plain, phrase, meaning):
    at = plain.find(phrase)
    while at >= 0:
        end = at + len(phrase)
        if _is_whole(plain, at, end, phrase) and (at not in found or found[at][0] <= end):
            found[at] = (end, meaning.decode() if isinstance(meaning, bytes) else meaning)
        at = plain.find(phrase, at + 1)
