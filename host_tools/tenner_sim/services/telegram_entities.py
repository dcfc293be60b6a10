"""Telegram's `parse_mode` formats, parsed with the offsets and error texts of the real Bot API.

Works on UTF-8 bytes, because the errors count bytes, and yields entities counted in UTF-16 units.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


class ParseError(Exception):
    """The text breaks its format; the message is the API's addition to
    `can't parse entities: `."""


@dataclass
class _Open:
    kind: str
    offset: int
    byte: int
    start: int
    argument: str = ""


@dataclass
class _Output:
    """The plain text so far, with its length in UTF-16 units."""

    data: bytearray = field(default_factory=bytearray)
    units: int = 0
    entities: list[dict[str, Any]] = field(default_factory=list)

    def byte(self, value: int) -> None:
        self.data.append(value)
        if value & 0xC0 != 0x80:
            self.units += 2 if value >= 0xF0 else 1

    def text(self, text: str) -> None:
        for value in text.encode():
            self.byte(value)

    def close(self, entity: _Open, kind: str, **extra: Any) -> None:
        length = self.units - entity.offset
        if length > 0:
            self.entities.append(
                {"type": kind, "offset": entity.offset, "length": length, **extra}
            )

    def result(self) -> tuple[str, list[dict[str, Any]]]:
        self.entities.sort(key=lambda entity: (entity["offset"], -entity["length"]))
        return self.data.decode("utf-8", "replace"), self.entities


#: Characters that Telegram removes, takes for a space or does not count as text, as tdlib's
#: `clean_input_string` and `strip_empty_characters` do.
_INVISIBLE = {
    *range(0x21),
    *(0xA0, 0x30A, 0x333, 0x33F, 0x1680, 0x180E, 0x205F, 0x2800, 0x3000, 0xFEFF, 0xFFFC),
    *range(0x2000, 0x2010),
    *range(0x2028, 0x2030),
    *range(0xE0000, 0xE0080),
}


def visible(text: str) -> str:
    """Return the characters of a text that Telegram shows; a message needs one."""
    return "".join(char for char in text if ord(char) not in _INVISIBLE)


def parse(text: str, mode: str) -> tuple[str, list[dict[str, Any]]]:
    """Return plain text and entities; raise `ParseError`, or ValueError for an unknown mode."""
    lowered = mode.lower()
    if not lowered:
        return text, []
    if lowered == "html":
        return _Html(text).parse()
    if lowered == "markdownv2":
        return _MarkdownV2(text).parse()
    if lowered == "markdown":
        return _markdown(text)
    raise ValueError("unsupported parse_mode")


def utf16_length(text: str) -> int:
    """Return the length as Telegram counts it."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


# --- HTML ------------------------------------------------------------------------------------

_TAGS = {
    "b": "bold", "strong": "bold", "i": "italic", "em": "italic", "s": "strikethrough",
    "strike": "strikethrough", "del": "strikethrough", "u": "underline", "ins": "underline",
    "tg-spoiler": "spoiler", "span": "spoiler", "tg-emoji": "custom_emoji", "a": "text_link", "pre": "pre",  # noqa: E501
    "code": "code", "blockquote": "blockquote",
}  # fmt: skip
_NAMED = {"lt": "<", "gt": ">", "amp": "&", "quot": '"'}
_SPACES = b" \t\r\n\0\x0b"


class _Html:
    def __init__(self, text: str) -> None:
        self.text = text.encode("utf-8", "surrogatepass")
        self.at = 0
        self.out = _Output()
        self.open: list[_Open] = []

    def parse(self) -> tuple[str, list[dict[str, Any]]]:
        while self.at < len(self.text):
            byte = self.text[self.at]
            if byte == ord("&") and self._entity():
                continue
            if byte != ord("<"):
                self.out.byte(byte)
                self.at += 1
            elif self._peek(1) == "/":
                self._end_tag()
            else:
                self._start_tag()
        if self.open:
            raise ParseError(
                f'Can\'t find end tag corresponding to start tag "{self.open[-1].kind}"'
            )
        return self.out.result()

    def _peek(self, ahead: int = 0) -> str:
        at = self.at + ahead
        return chr(self.text[at]) if at < len(self.text) else ""

    def _entity(self) -> bool:
        """Decode `&lt;`, `&#65;` and the like; other names stay unchanged."""
        end = self.at + 1
        while end < len(self.text) and (
            chr(self.text[end]).isalnum() or chr(self.text[end]) == "#"
        ):
            end += 1
        name = self.text[self.at + 1 : end].decode("ascii", "replace")
        char = _NAMED.get(name, "")
        if name.startswith("#"):
            digits = name[2:] if name[1:2] in ("x", "X") else name[1:]
            try:
                code = int(digits, 16 if name[1:2] in ("x", "X") else 10)
                char = chr(code) if 0 < code < 0x10FFFF and not 0xD800 <= code < 0xE000 else ""
            except ValueError:
                return False
        if not char:
            return False
        self.out.text(char)
        self.at = end + 1 if self.text[end : end + 1] == b";" else end
        return True

    def _start_tag(self) -> None:
        begin = self.at
        self.at += 1
        while self._peek() and self._peek() != ">" and self.text[self.at] not in _SPACES:
            self.at += 1
        if not self._peek():
            raise ParseError(f"Unclosed start tag at byte offset {begin}")
        name = self.text[begin + 1 : self.at].decode("utf-8", "replace").lower()
        if name not in _TAGS:
            raise ParseError(f'Unsupported start tag "{name}" at byte offset {begin}')
        argument = self._attributes(name, begin)
        if name == "span" and argument != "tg-spoiler":
            raise ParseError(f'Tag "span" must have class "tg-spoiler" at byte offset {begin}')
        self.at += 1
        self.open.append(_Open(name, self.out.units, begin, len(self.out.data), argument))

    def _attributes(self, tag: str, begin: int) -> str:
        argument = ""
        while True:
            self._skip_spaces()
            if self._peek() == ">":
                return argument
            start = self.at
            while self._peek() and self._peek() not in "=>" and self.text[self.at] not in _SPACES:
                self.at += 1
            name = self.text[start : self.at].decode("utf-8", "replace").lower()
            if not name:
                if not self._peek():
                    raise ParseError(f'Unclosed start tag "{tag}" at byte offset {begin}')
                raise ParseError(f'Empty attribute name in the tag "{tag}" at byte offset {begin}')
            self._skip_spaces()
            if self._peek() != "=":
                if not self._peek():
                    raise ParseError(f'Unclosed start tag "{tag}" at byte offset {begin}')
                continue
            self.at += 1
            self._skip_spaces()
            value = self._value(tag, begin)
            if (tag, name) in (("a", "href"), ("span", "class"), ("tg-emoji", "emoji-id")) or (
                tag == "code" and name == "class" and value.startswith("language-")
            ):
                argument = value

    def _value(self, tag: str, begin: int) -> str:
        quote = self._peek()
        if quote and quote in "\"'":
            end = self.text.find(quote.encode(), self.at + 1)
            if end < 0:
                raise ParseError(f'Unclosed start tag "{tag}" at byte offset {begin}')
            value = self.text[self.at + 1 : end]
            self.at = end + 1
        else:
            start = self.at
            while self._peek() and (self._peek().isalnum() or self._peek() in ".-"):
                self.at += 1
            value = self.text[start : self.at]
            if not self._peek() or (self._peek() != ">" and self.text[self.at] not in _SPACES):
                raise ParseError(f"Unexpected end of name token at byte offset {start}")
        decoded = value.decode("utf-8", "replace")
        for name, char in _NAMED.items():
            decoded = decoded.replace(f"&{name};", char)
        return decoded

    def _skip_spaces(self) -> None:
        while self._peek() and self.text[self.at] in _SPACES:
            self.at += 1
        if not self._peek() and self.at > len(self.text):
            self.at = len(self.text)

    def _end_tag(self) -> None:
        begin = self.at
        if not self.open:
            raise ParseError(f"Unexpected end tag at byte offset {begin}")
        self.at += 2
        while self._peek() and self._peek() != ">" and self.text[self.at] not in _SPACES:
            self.at += 1
        name = self.text[begin + 2 : self.at].decode("utf-8", "replace").lower()
        self._skip_spaces()
        if self._peek() != ">":
            raise ParseError(f"Unclosed end tag at byte offset {begin}")
        self.at += 1
        entity = self.open.pop()
        if name and name != entity.kind:
            raise ParseError(
                f'Unmatched end tag at byte offset {begin}, expected "</{entity.kind}>", found '
                f'"</{name}>"'
            )
        kind = _TAGS[entity.kind]
        if kind == "text_link":
            url = entity.argument or self.out.data[entity.start :].decode("utf-8", "replace")
            if "." in url or "://" in url:
                self.out.close(entity, kind, url=url)
        elif kind == "custom_emoji":
            self.out.close(entity, kind, custom_emoji_id=entity.argument)
        else:
            self.out.close(entity, kind)


# --- MarkdownV2 ------------------------------------------------------------------------------

_RESERVED = b"_*[]()~`>#+-=|{}.!"
_V2_NAMES = {
    "bold": "Bold", "italic": "Italic", "underline": "Underline", "strikethrough": "Strikethrough",
    "spoiler": "Spoiler", "code": "Code", "pre": "Pre", "text_link": "TextUrl",
    "custom_emoji": "CustomEmoji",
}  # fmt: skip
_V2_ENDS = {
    "bold": b"*", "italic": b"_", "underline": b"__", "strikethrough": b"~", "spoiler": b"||",
    "code": b"`", "pre": b"```", "text_link": b"]", "custom_emoji": b"]",
}  # fmt: skip


class _MarkdownV2:
    def __init__(self, text: str) -> None:
        self.text = text.encode("utf-8", "surrogatepass")
        self.at = 0
        self.out = _Output()
        self.open: list[_Open] = []
        self.quote: _Open | None = None

    def parse(self) -> tuple[str, list[dict[str, Any]]]:
        text = self.text
        while self.at < len(text):
            byte = text[self.at]
            if byte == ord("\\") and self.at + 1 < len(text) and 0 < text[self.at + 1] <= 126:
                self.out.byte(text[self.at + 1])
                self.at += 2
                continue
            inside = self.open[-1].kind if self.open else ""
            reserved = b"`" if inside in ("code", "pre") else _RESERVED
            if byte == ord("\n") and inside not in ("code", "pre"):
                self._line_end()
            elif byte not in reserved:
                self.out.byte(byte)
                self.at += 1
            elif inside and self._ends(inside):
                self._close()
            else:
                self._begin(byte)
        if self.open:
            last = self.open[-1]
            raise ParseError(
                f"Can't find end of {_V2_NAMES[last.kind]} entity at byte offset {last.byte}"
            )
        self._end_quote()
        return self.out.result()

    def _ends(self, kind: str) -> bool:
        mark = _V2_ENDS[kind]
        if not self.text.startswith(mark, self.at):
            return False
        return kind != "italic" or not self.text.startswith(b"__", self.at)

    def _begin(self, byte: int) -> None:
        text, at = self.text, self.at
        argument = ""
        length = 1
        if byte == ord("_"):
            kind, length = ("underline", 2) if text.startswith(b"__", at) else ("italic", 1)
        elif byte == ord("*"):
            kind = "bold"
        elif byte == ord("~"):
            kind = "strikethrough"
        elif text.startswith(b"||", at):
            kind, length = "spoiler", 2
        elif byte == ord("["):
            kind = "text_link"
        elif text.startswith(b"![", at):
            kind, length = "custom_emoji", 2
        elif text.startswith(b"```", at):
            kind, length = "pre", 3
            end = at + 3
            while end < len(text) and text[end] not in b" \t\r\n`":
                end += 1
            if end > at + 3 and end < len(text) and text[end] in b"\r\n":
                argument = text[at + 3 : end].decode("utf-8", "replace")
                length = end - at
            if text[at + length : at + length + 1] == b"\n":
                length += 1
        elif byte == ord("`"):
            kind = "code"
        elif byte == ord(">") and self._at_line_start():
            if self.quote is None:
                self.quote = _Open("blockquote", self.out.units, at, len(self.out.data))
            self.at += 1
            return
        else:
            raise ParseError(
                f"Character '{chr(byte)}' is reserved and must be escaped with the preceding '\\'"
            )
        self.open.append(_Open(kind, self.out.units, at, len(self.out.data), argument))
        self.at += length

    def _at_line_start(self) -> bool:
        return self.at == 0 or self.text[self.at - 1] == ord("\n")

    def _line_end(self) -> None:
        if self.quote is not None and self.text[self.at + 1 : self.at + 2] != b">":
            self._end_quote()
        self.out.byte(ord("\n"))
        self.at += 1

    def _end_quote(self) -> None:
        if self.quote is not None:
            self.out.close(self.quote, "blockquote")
            self.quote = None

    def _close(self) -> None:
        entity = self.open.pop()
        self.at += len(_V2_ENDS[entity.kind])
        if entity.kind == "pre":
            extra = {"language": entity.argument} if entity.argument else {}
            self.out.close(entity, "pre", **extra)
        elif entity.kind in ("text_link", "custom_emoji"):
            url = self._url(entity)
            if entity.kind == "custom_emoji":
                self.out.close(entity, entity.kind, custom_emoji_id=url.rpartition("=")[2])
            elif "." in url or "://" in url:
                self.out.close(entity, entity.kind, url=url)
        else:
            self.out.close(entity, entity.kind)

    def _url(self, entity: _Open) -> str:
        if self.text[self.at : self.at + 1] != b"(":
            if entity.kind == "custom_emoji":
                raise ParseError("Custom emoji entity must contain a tg://emoji URL")
            return self.out.data[entity.start :].decode("utf-8", "replace")
        begin = self.at = self.at + 1
        url = bytearray()
        while self.at < len(self.text) and self.text[self.at] != ord(")"):
            if self.text[self.at] == ord("\\") and self.at + 1 < len(self.text):
                self.at += 1
            url.append(self.text[self.at])
            self.at += 1
        if self.at >= len(self.text):
            raise ParseError(f"Can't find end of a URL at byte offset {begin}")
        self.at += 1
        return url.decode("utf-8", "replace")


# --- Markdown, the old one -------------------------------------------------------------------


def _markdown(text: str) -> tuple[str, list[dict[str, Any]]]:
    data = text.encode("utf-8", "surrogatepass")
    out = _Output()
    at = 0
    kinds = {b"*": "bold", b"_": "italic", b"`": "code", b"[": "text_link"}
    while at < len(data):
        mark = data[at : at + 1]
        if mark == b"\\" and data[at + 1 : at + 2] in (b"_", b"*", b"`", b"["):
            out.byte(data[at + 1])
            at += 2
            continue
        kind = kinds.get(mark)
        if kind is None:
            out.byte(data[at])
            at += 1
            continue
        begin = at
        end_mark = b"]" if mark == b"[" else mark
        if data.startswith(b"```", at):
            kind, end_mark = "pre", b"```"
        at += len(end_mark)
        end = data.find(end_mark, at)
        if end < 0:
            raise ParseError(f"Can't find end of the entity starting at byte offset {begin}")
        entity = _Open(kind, out.units, begin, len(out.data))
        for byte in data[at:end]:
            out.byte(byte)
        at = end + len(end_mark)
        if kind != "text_link":
            out.close(entity, kind)
        elif data[at : at + 1] == b"(":
            close = data.find(b")", at)
            if close < 0:
                raise ParseError(f"Can't find end of the entity starting at byte offset {begin}")
            out.close(entity, kind, url=data[at + 1 : close].decode("utf-8", "replace"))
            at = close + 1
    return out.result()
