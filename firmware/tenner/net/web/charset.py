# tenner net.web.charset: converts charsets and entities of web pages to UTF-8.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.port.compat import const
from tenner.store.json_strict import utf8

# HTML's Latin-1: the bytes from 0x80 to 0x9f are letters, too.
_CP1252 = "€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ"
_LATIN = const(
    " iso-8859-1 latin1 latin-1 l1 windows-1252 cp1252 x-cp1252 iso8859-1 iso_8859-1 iso-8859-15 "
)
_MAX_NAME = const(10)
_NAME_LETTERS = const(b"#0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
_UTF8 = const(" utf-8 utf8 us-ascii ascii ")

# Most pages have no names but these.
_COMMON = (
    b" amp:38 lt:60 gt:62 quot:34 apos:39 nbsp:160 ndash:8211 mdash:8212 lsquo:8216 rsquo:8217"
    b" ldquo:8220 rdquo:8221 bull:8226 hellip:8230 "
)
_OTHERS = (
    b" szlig:223 times:215 sbquo:8218 bdquo:8222 lsaquo:8249 rsaquo:8250 euro:8364 trade:8482"
    b" permil:8240 prime:8242 larr:8592 uarr:8593 rarr:8594 darr:8595 minus:8722 infin:8734"
    b" asymp:8776 ne:8800 le:8804 ge:8805 sum:8721 radic:8730 ensp:32 emsp:32 thinsp:32 zwnj:8204"
    b" zwj:8205 check:10003 oelig:339 scaron:353 zcaron:382 "
)

# Names of consecutive letters, from 161, 224 and 945 on; a capital's number is lower by 32.
_SIGNS = (
    b" iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg "
    b"plusmn sup2 sup3 acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest "
)
_ACCENTED = (
    b" agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute "
    b"icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc "
    b"uuml yacute thorn yuml "
)
_GREEK = (
    b" alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho "
    b"sigmaf sigma tau upsilon phi chi psi omega "
)


class Charset:
    """Converts bytes of a page to UTF-8; `note` names an unsupported charset, or is empty."""

    note = ""

    def __init__(self, name: str) -> None:
        self._latin = self._other = False
        name = name.lower().strip("\"' ")
        self._euro = name == "iso-8859-15"
        if " %s " % name in _LATIN:
            self._latin = True
        elif name and " %s " % name not in _UTF8:
            self._other = True
            self.note = "charset %s: letters beyond ASCII are shown as ?" % name[:32]

    def utf8(self, data: bytes) -> bytes:
        """Return a piece as UTF-8. A piece that is UTF-8 already may end inside a letter."""
        if not data or max(data) < 128 or not (self._latin or self._other):
            return data
        return self._converted(data)

    def _converted(self, data):
        if self._euro:
            data = data.replace(b"\xa4", b"\x80")
        if self._latin:
            return b"".join([letter(byte) for byte in data])
        return bytes([byte if byte < 128 else 63 for byte in data])


def letter(number: int) -> bytes:
    """Return the letter of a number as in HTML, in UTF-8."""
    if 128 <= number < 160:
        return _CP1252[number - 128 : number - 127].encode()
    if not 0 < number < 0x110000 or 0xD800 <= number < 0xE000:
        number = 0xFFFD
    return utf8(number)


def entity(name: bytes) -> bytes | None:
    """Return the UTF-8 of `&name;`, or None; `name` are the bytes between & and ;."""
    if name[:1] == b"#":
        try:
            number = int(name[2:], 16) if name[1:2] in (b"x", b"X") else int(name[1:])
        except ValueError:
            return None
        return letter(number)
    return _number_in(_COMMON, name.lower()) or _rare(name)


def _number_in(names, name):
    """Return the UTF-8 of a name in a list with numbers, or None."""
    at = names.find(b" %s:" % name)
    if at < 0:
        return None
    at += len(name) + 2
    return utf8(int(names[at : names.find(b" ", at)]))


def _rare(name):
    lower = name.lower()
    found = _number_in(_OTHERS, lower)
    if found:
        # Latin Extended-A has pairs of capital and small letter.
        pair = name != lower and found in (b"\xc5\x93", b"\xc5\xa1", b"\xc5\xbe")
        return found[:1] + bytes((found[1] - 1,)) if pair else found
    for first, names in ((161, _SIGNS), (224, _ACCENTED), (945, _GREEK)):
        at = names.find(b" %s " % lower)
        if at >= 0:
            number = first + names.count(b" ", 0, at)
            return utf8(number - 32 * (name[0] < 97 and first > 161))
    return None


def unescape(data: bytes) -> bytes:
    """Return bytes with their entities replaced; unknown ones stay unchanged."""
    if b"&" not in data:
        return data
    parts = data.split(b"&")
    for index in range(1, len(parts)):
        part = parts[index]
        end = 0
        while end < len(part) and end < _MAX_NAME and part[end] in _NAME_LETTERS:
            end += 1
        found = entity(part[:end])
        if found is None:
            parts[index] = b"&" + part
        else:
            parts[index] = found + part[end + (part[end : end + 1] == b";") :]
    return b"".join(parts)


def charset_in(data: bytes) -> str:
    """Return the charset that the beginning of a page names, or ""."""
    if data[:3] == b"\xef\xbb\xbf":
        return "utf-8"
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return "utf-16"
    data = data.lower()
    at = data.find(b"charset=", max(data.find(b"<meta"), 0)) if b"<meta" in data else -1
    if at < 0:
        return ""
    name = data[at + 8 : at + 48].strip(b"\"' ")
    for end in b"\"' ;/>\r\n\t":
        name = name.split(bytes((end,)))[0]
    return str(name, "utf-8") if name and max(name) < 128 else ""
