# tenner net.web.html: turns HTML, also broken, into text as it arrives, in constant memory.
# MIT license; Copyright (c) 2026 the tenner authors
"""
The parser builds no tree. Its state is the place of the text: the depth of lists, the cell of a
row, the hidden element around it. Headings get "#", entries of lists "-" or their number, cells "
| ".
"""

from tenner.net.web.charset import Charset, charset_in, unescape
from tenner.port.compat import const

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_MAX_TAG = const(1024)  # attributes beyond are ignored
_MAX_ENTITY = const(12)
_LOOK_AHEAD = const(1024)  # a page must name its charset in these
_DEEPEST_LIST = const(8)

_SPACE = b" \t\r\n\f"

# Elements with raw text up to their end tag, elements without readable text, and elements without
# content.
_RAW = b" script style iframe noembed noframes textarea xmp "
_DROPPED = b" template svg select datalist canvas video audio object "
_VOID = b" area base br col embed hr img input link meta param source track wbr "
# Elements that are paragraphs, and lines.
_BLANK = b" p h1 h2 h3 h4 h5 h6 pre table blockquote dl figure hr title "
_LINE = (
    b" address article aside body caption center dd details div dt fieldset figcaption footer "
    b"form head header html legend main nav section summary tbody tfoot thead "
)
_LISTS = b" ul ol menu dir "
# They end where a neighbor begins, or their parent ends.
_IMPLIED = b" p li dt dd td th tr "
_HOLDERS = b" ul ol dl table "


class Html:
    """
    Takes the bytes of a page by `feed`, and its end by `end`; calls `add` with the text in UTF-8.
    With `link`, a function that returns a number for an address, it marks links: "text[1]".
    """

    def __init__(
        self,
        add: "Callable[[bytes], None]",
        charset: str = "",
        link: "Callable[[bytes], int] | None" = None,
    ) -> None:
        self.charset = Charset(charset) if charset else None
        self._add = add
        self._link = link
        self._rest = b""
        self._ended = False
        self._until = b""  # skip up to this
        self._skip = b""  # the hidden element around this, and its depth
        self._depth = self._inner = 0
        # Before the next word: 1 a space, 2 a new line, 3 an empty line; then bars and marker.
        self._gap = self._bars = 0
        self._marker = b""
        self._begun = False
        self._fresh = False  # this cell or entry is empty so far
        self._cells = 0
        self._in_row = False
        self._lists = []  # the number of the next entry, 0 for lists without numbers
        self._more_lists = 0
        self._pre = 0
        self._href = None
        self._has_text = False
        #: The base address of its links, if the page has one.
        self.base = b""

    def end(self) -> None:
        self._ended = True
        self.feed(b"")
        if self._href:
            self._end_link()

    def feed(self, data: bytes) -> None:
        data = (self._rest + data).replace(b"\0", b"")
        if self.charset is None:
            if len(data) < _LOOK_AHEAD and not self._ended:
                self._rest = data
                return
            self.charset = Charset(charset_in(data))
            data = data.lstrip(b"\xef\xbb\xbf\xfe\xff")
        at = 0
        while at < len(data):
            if self._until:
                end = data.lower().find(self._until, at)
                if end < 0:
                    at = max(at, len(data) - len(self._until) + 1)
                    break
                at = end if self._until[:1] == b"<" else end + len(self._until)
                self._until = b""
                continue
            end = data.find(b"<", at)
            if end < 0:
                end = len(data) if self._ended else _whole(data, at)
                self._text(data[at:end])
                at = end
                break
            self._text(data[at:end])
            at = end
            end = self._tag(data, at)
            if end < 0:
                break
            at = end
        self._rest = data[at:]

    # --- text

    def _text(self, data):
        if not data or self._skip:
            return
        data = unescape(self.charset.utf8(data))
        data = data.replace(b"\xc2\xa0", b" ").replace(b"\xc2\xad", b"")
        if self._pre:
            data = data.replace(b"\r", b"")
            if self._pre == 1 and data:
                self._pre = 2
                data = data[1:] if data[:1] == b"\n" else data
            if data:
                self._put(data)
            return
        words = data.split()
        if not words or data[0] in _SPACE:
            self._gap = self._gap or 1
        if words:
            self._put(b" ".join(words))
            if data[-1] in _SPACE:
                self._gap = 1

    def _put(self, data):
        head = b" " if self._gap else b""
        if self._gap > 1 or not self._begun:
            head = (b"\n\n" if self._gap > 2 else b"\n") if self._begun else b""
            head += b"  " * (len(self._lists) - (self._marker != b""))
        elif self._bars:
            head = b" "
        head += b"| " * self._bars
        self._add(head + self._marker + data)
        self._begun = self._has_text = self._in_row = True
        self._fresh = False
        self._gap = self._bars = 0
        self._marker = b""

    def _break(self, size):
        # The first paragraph of a cell or an entry needs no break.
        if not self._fresh:
            self._gap = max(self._gap, size)

    # --- tags

    def _tag(self, data, at):
        """Parse the tag at `at`; return its end, -1 when more bytes are needed."""
        closes = data[at + 1 : at + 2] == b"/"
        first = data[at + 1 + closes : at + 2 + closes]
        if not first and not self._ended:
            return -1
        if not first.isalpha():
            if closes or first in (b"!", b"?"):
                if first == b"!" and len(data) < at + 4 and not self._ended:
                    return -1
                self._until = b"-->" if data[at : at + 4] == b"<!--" else b">"
                return at + 2
            self._text(b"<")
            return at + 1
        end = _tag_end(data, at)
        if end < 0 or end - at > _MAX_TAG:
            if end < 0 and len(data) - at <= _MAX_TAG and not self._ended:
                return -1
            end = data.find(b">", at)
            if end < 0:
                self._until = b">"
                end = len(data)
        tag = data[at + 1 + closes : min(end, at + _MAX_TAG)]
        name = tag.split(None, 1)[0].split(b"/")[0].lower()[:16]
        key = b" %s " % name
        if not closes and key in _RAW:
            self._until = b"</" + name
        elif not self._skip or not self._hides(name, key, closes):
            if closes:
                self._close(name, key)
            elif key in _DROPPED or _hidden(tag):
                if key not in _VOID and not (name == b"svg" and tag[-1:] == b"/"):
                    self._skip = name
                    self._depth = 1
                    self._inner = 0
            else:
                self._open(name, key, tag)
        return end + 1

    def _hides(self, name, key, closes):
        """Return whether a tag is inside the hidden element."""
        hidden = b" %s " % self._skip
        if hidden in _IMPLIED:
            peers = b" td th tr " if hidden in b" td th " else hidden
            if hidden in b" dt dd ":
                peers = b" dt dd "
            elif hidden == b" p ":
                peers = _BLANK + _LINE + _LISTS
            ends = not self._inner and (key in peers or (closes and key in _HOLDERS))
            if not ends:
                if key in _HOLDERS:
                    self._inner += -1 if closes else 1
                return True
            self._skip = b""
            # The tag may belong to another element: parse it.
            return closes and key == hidden
        if name == self._skip:
            self._depth += -1 if closes else 1
            if not self._depth:
                self._skip = b""
        return True

    def _open(self, name, key, tag):
        if key in _LISTS:
            self._break(2 if self._lists else 3)
            if len(self._lists) < _DEEPEST_LIST:
                start = _attribute(tag, b"start") or b"1"
                start = int(start) if start.isdigit() and len(start) < 9 else 1
                self._lists.append(start if name == b"ol" else 0)
            else:
                self._more_lists += 1
        elif name == b"li":
            self._row()
            self._fresh = True
            self._marker = b"- "
            if self._lists and self._lists[-1]:
                self._marker = b"%d. " % self._lists[-1]
                self._lists[-1] += 1
        elif name == b"tr":
            self._row()
        elif name in (b"td", b"th"):
            if self._cells:
                self._bars += 1
                if self._in_row:
                    self._gap = 0
            self._cells += 1
            self._fresh = True
        elif name == b"br":
            self._break(2 + (self._gap > 1))
        elif self._link and name in (b"a", b"base"):
            self._open_link(name, _attribute(tag, b"href") or b"")
        elif name == b"img":
            words = unescape(self.charset.utf8(_attribute(tag, b"alt") or b"")).split()
            if words:
                self._put(b"[" + b" ".join(words) + b"]")
        elif name == b"sup":
            if self._begun and not self._gap:
                self._put(b"^")
        else:
            self._block(key)
            if name == b"table":
                self._row()
            elif name == b"pre":
                self._pre = 1
            elif len(name) == 2 and b"1" <= name[1:] <= b"6":
                self._marker = b"#" * int(name[1:]) + b" "
            elif name == b"dd":
                self._marker = b"  "

    def _close(self, name, key):
        if key in _LISTS:
            if self._more_lists:
                self._more_lists -= 1
            elif self._lists:
                self._lists.pop()
            self._marker = b""
            self._fresh = False
            self._break(2 if self._lists else 3)
        elif name == b"a":
            if self._href:
                self._end_link()
        else:
            if name == b"table":
                self._row()
            elif name == b"pre":
                self._pre = 0
            if self._marker[:1] == b"#":
                self._marker = b""
            self._block(key)

    def _block(self, key):
        if key in _BLANK:
            self._break(3)
        elif key in _LINE:
            self._break(2)

    def _row(self):
        self._fresh = self._in_row = False
        self._cells = self._bars = 0
        self._break(2)

    def _open_link(self, name, href):
        if name == b"base":
            self.base = self.base or unescape(href).strip()
            return
        self._end_link()
        self._href = href
        self._has_text = False

    def _end_link(self):
        if self._href and self._has_text and self._href[:1] != b"#":
            href = unescape(self.charset.utf8(self._href))
            self._add(b"[%d]" % self._link(href.strip()))
        self._href = None


def _whole(data, at):
    """Return the end of the text in `data` before a cut letter or entity."""
    entity = data.rfind(b"&", max(at, len(data) - _MAX_ENTITY))
    if entity >= 0:
        return entity
    return len(data) - (data[-1] == 0xC2)


def _tag_end(data, at):
    """Return the place of the unquoted ">" that ends the tag at `at`, or -1."""
    while True:
        end = data.find(b">", at)
        equals = data.find(b"=", at, end)
        if end < 0 or equals < 0:
            return end
        at = equals + 1
        while data[at] in _SPACE:
            at += 1
        if data[at] in b"\"'":
            at = data.find(data[at : at + 1], at + 1) + 1
            if not at:
                return -1


def _attributes(tag):
    """Yield (name, value) of the attributes in a tag, as bytes."""
    size = len(tag)
    at = len(tag.split(None, 1)[0])
    while at < size:
        start = at
        while at < size and tag[at] not in b" \t\r\n\f/=":
            at += 1
        name = tag[start:at].lower()
        while at < size and tag[at] in _SPACE:
            at += 1
        value = b""
        if tag[at : at + 1] == b"=":
            at += 1
            while at < size and tag[at] in _SPACE:
                at += 1
            quote = tag[at : at + 1]
            if quote in (b'"', b"'"):
                start = at + 1
                at = tag.find(quote, start)
                at = size if at < 0 else at
                value = tag[start:at]
                at += 1
            else:
                start = at
                while at < size and tag[at] not in _SPACE:
                    at += 1
                value = tag[start:at]
        elif start == at:
            at += 1
        if name:
            yield name, value


def _attribute(tag, wanted):
    for name, value in _attributes(tag):
        if name == wanted:
            return value
    return None


def _hidden(tag):
    lower = tag.lower()
    if b"hidden" in lower or b"display" in lower:
        for name, value in _attributes(tag):
            if name == b"hidden":
                return True
            if name == b"style":
                value = b"".join(value.lower().split())
                if b"display:none" in value or b"visibility:hidden" in value:
                    return True
    return False
