# tenner schedule.line_words: the letters, words and quantities of a line of HEARTBEAT.md.
# MIT license; Copyright (c) 2026 the tenner authors
"""
`fold` writes full-width letters, accents, dashes and brackets of other scripts as ASCII, and takes
decoration away. `words` finds the phrases of clause_words.tsv in its result. A row of that table
is a meaning, a tab, and phrases of all languages between commas, folded. It is read from flash for
each line that needs it, so memory holds none of it.

Lines are bytes: MicroPython keeps each different character of a text forever.
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

# Dimension, then spellings with their factors to its first unit.
_UNITS = (
    ("temperature", "\u00b0c 1 c 1 \u00b0f 0.5555556 f 0.5555556 k 1"),
    ("voltage", "v 1 mv 0.001 kv 1000 uv 0.000001"),
    ("current", "ma 1 a 1000 ua 0.001"),
    ("power", "w 1 kw 1000 mw 0.001"),
    ("energy", "wh 1 kwh 1000"),
    ("pressure", "hpa 1 mbar 1 pa 0.01 kpa 10 bar 1000 psi 68.94757 mmhg 1.333224 inhg 33.86389"),
    ("distance", "mm 1 cm 10 m 1000 km 1000000 in 25.4 inch 25.4 ft 304.8"),
    ("volume", "l 1 ml 0.001 gal 3.785412"),
    ("speed", "m/s 1 km/h 0.2777778 kmh 0.2777778 mph 0.44704 kn 0.5144444"),
    ("time", "s 1 min 60 m 60 h 3600 d 86400 ms 0.001"),
    ("share", "% 1"),
    ("light", "lx 1 lux 1 klx 1000"),
    ("concentration", "ppm 1 ppb 0.001"),
    ("mass", "kg 1 g 0.001 lb 0.4535924 lbs 0.4535924"),
    ("signal", "dbm 1"),
    ("memory", "b 1 kb 1024 mb 1048576"),
    ("angle", "\u00b0 1"),
    ("frequency", "hz 1 khz 1000"),
)

_MAX_S = const(366 * 86400)

_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_WORDS = {
    "sec": 1, "secs": 1, "second": 1, "seconds": 1,
    "min": 60, "mins": 60, "minute": 60, "minutes": 60,
    "hr": 3600, "hrs": 3600, "hour": 3600, "hours": 3600,
    "day": 86400, "days": 86400, "week": 604800, "weeks": 604800,
}  # fmt: skip
#: Words that stand for a number.
_STATES = {
    "on": 1, "open": 1, "true": 1, "yes": 1, "wet": 1, "high": 1,
    "off": 0, "closed": 0, "false": 0, "no": 0, "dry": 0, "low": 0,
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


def dimensions(unit: str) -> dict[str, float]:
    """Return {dimension: factor to its first unit} of a unit, in any case of its letters; `m` is
    a distance and a time."""
    found = {}
    for name, text in _UNITS:
        words = text.split()
        for index in range(0, len(words), 2):
            if words[index] == unit.lower():
                found[name] = float(words[index + 1])
    return found


def converted(number: float, unit: str, own: str, is_difference: bool = False) -> float:
    """
    Return a number of `unit` in `own`, the sensor's unit, "" where it is not known. ValueError
    with a sentence for a unit of another dimension or an unknown one.
    """
    if not unit or unit.lower() == own.lower():
        return number
    found = dimensions(unit)
    if not found:
        raise ValueError('"%s" is no unit; %s' % (unit, _expected(own)))
    if not own:
        return number
    wanted = dimensions(own)
    for name in found:
        if name in wanted:
            return _rounded(_change(number, name, unit, own, is_difference,
                                    found[name] / wanted[name]))  # fmt: skip
    raise ValueError('"%s" is another quantity than %s; %s' % (unit, own, _expected(own)))


def _change(number, name, unit, own, is_difference, factor):
    if name == "temperature" and not is_difference:
        return (number - _zero(unit)) * factor + _zero(own)
    return number * factor


def _zero(unit):
    """Return the freezing point of water in a unit of temperature."""
    letter = unit.lower()[-1]
    return 32 if letter == "f" else 273.15 if letter == "k" else 0


def _rounded(number):
    number = round(number * 10000) / 10000
    return int(number) if number == int(number) else number


def _expected(own):
    return "expected %s, such as 30 %s" % (own, own) if own else "expected one such as \u00b0C, V"


def is_digits(text: str) -> bool:
    """Return whether the text is of the digits 0 to 9 only: isdigit() of str takes foreign ones
    too, of bytes not."""
    return text.encode().isdigit()


def _cut(text):
    """Return (leading number, the rest) of a text such as `11.8V`."""
    end = 0
    while end < len(text) and (
        text[end] in "0123456789.," or (end == 0 and text[end] in "+-\u2212")
    ):
        end += 1
    return text[:end], text[end:]


def with_unit(text: str) -> tuple[float, str]:
    """Return the number and the unit of `35`, `-15,5`, `11.8V`, `10 %`, `open`; ValueError when it
    is none, with a sentence for one that can be read in two ways."""
    text = text.strip()
    if text.lower() in _STATES:
        return _STATES[text.lower()], ""
    digits, unit = _cut(text)
    digits = digits.replace("\u2212", "-")
    whole, _, part = digits.lstrip("+-").partition(".")
    if len(part) == 3 and is_digits(part) and 0 < len(whole) < 4 and whole[0] != "0":
        raise ValueError(
            'a thousand or a fraction? expected "%s" or "%s0"' % (whole + part, whole + "." + part)
        )
    if digits.lstrip("+-")[:1] in (".", ","):
        raise ValueError('expected "0.%s"' % digits.lstrip("+-.,"))
    # A comma before one or two digits is a decimal one; before three it may mean thousands.
    if "," in digits:
        whole, _, part = digits.partition(",")
        if "." in part or "," in part or not 0 < len(part) < 3 or "." in whole:
            raise ValueError
        digits = whole + "." + part
    if not is_digits(digits.lstrip("+-").replace(".", "", 1)):
        raise ValueError
    unit = unit.strip()
    if " " in unit or len(unit) > 6 or any(sign in unit for sign in "0123456789<>=;()"):
        raise ValueError
    return (float(digits) if "." in digits else int(digits)), unit


def duration(text: str) -> int:
    """Return the seconds of `10m`, `1h30m`, `5 minutes`, `hour`; ValueError when it is none, or
    too long."""
    words = text.split()
    if len(words) == 1 and words[0].lower() in _WORDS:
        return _WORDS[words[0].lower()]
    for index in range(1, len(words)):
        if is_digits(words[index - 1][-1:]) and is_digits(words[index][:1]):
            raise ValueError
    text = "".join(words)
    seconds = 0
    before = _MAX_S
    if not text or len(text) > 24:
        raise ValueError
    while text:
        digits, text = _cut(text)
        end = 0
        while end < len(text) and text[end] not in "0123456789":
            end += 1
        unit, text = text[:end], text[end:]
        size = _SECONDS.get(unit) or _WORDS.get(unit.lower())
        if not is_digits(digits) or size is None or len(digits) > 8 or size >= before:
            raise ValueError
        before = size
        seconds += int(digits) * size
    if not 0 < seconds <= _MAX_S:
        raise ValueError
    return seconds


def time_of_day(text: str, bare: bool = False) -> str:
    """Return `07:30` of `7:30`, `7.30pm`, `7 pm`, `noon`; ValueError when it is none."""
    text = "".join(text.lower().split())
    text = {"noon": "12:00", "midnight": "00:00"}.get(text, text)
    half = text[-2:] if text[-2:] in ("am", "pm") else ""
    hour, colon, minute = text[: len(text) - len(half)].replace(".", ":").partition(":")
    if not colon and (half or bare):
        minute = "00"
    if not is_digits(hour) or len(hour) > 2 or len(minute) != 2 or not is_digits(minute):
        raise ValueError
    hour, minute = int(hour), int(minute)
    if half:
        if not 1 <= hour <= 12:
            raise ValueError
        hour = hour % 12 + (12 if half == "pm" else 0)
    if hour * 60 + minute > 1440 or minute > 59:
        raise ValueError
    return "%02d:%02d" % (hour, minute)
