# tenner llm.dialects: reads tool calls that a model has written as text.
# MIT license; Copyright (c) 2026 the tenner authors
"""
A server without the right parser passes on a call in the notation its model was trained on. All
of them consist of the same parts, in any order: marks, such as <tool_call> or [TOOL_CALLS], a
name, and arguments as an object, as <parameter> tags, or as in Python.
"""

from tenner.llm.literals import SPACE, after, key_at, literal, skip
from tenner.port.compat import const
from tenner.store.appendlog import dumps

_LONGEST_TAG = const(120)
_LETTERS = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.:=/"

#: The beginnings of marks that stand in no other text.
MARKS = (
    "<tool_call",
    "<|tool",
    "<｜tool",
    "<|python_",
    "<function=",
    "<function_call",
    "<invoke name",
    "<minimax:tool",
    "<seed:tool",
    "<start_function",
    "<TOOLCALL",
    "<|action_start",
    "<|START_ACTION",
    "<｜DSML｜",
    "<longcat_tool",
    "<|channel|>commentary to=",
    "[TOOL_CALL",
    "functools[",
)
# Inside other tags that are marks.
_TAGS = (
    b"tool|function|python_|action|plugin|call|invoke|param|channel|message|start|constrain|sep"
)
# Words between the marks that are no names of tools.
_NO_NAMES = b" function commentary assistant json xml python tool_code Action: Action Input: "
_NAMES = ("name", "tool_name", "tool", "function")
_ARGUMENTS = ("arguments", "parameters", "args", "input", "params", "tool_input")
_OTHERS = ("id", "type", "tool_call_id", "call_id", "index")


def calls(text: str) -> "tuple[list[tuple[str, str]], bool] | None":
    """
    Return ([(name, arguments as JSON)], has it a mark?) for a text that is nothing but calls;
    None for any other.
    """
    data = text.encode()
    for odd, plain in (("｜", "|"), ("▁", "_"), ("|DSML|", ""), ('<|"|>', '"'), ("<escape>", '"')):
        data = data.replace(odd.encode(), plain.encode())
    try:
        reader = _Reader(data)
    except (ValueError, IndexError):
        return None
    found = [(str(name, "utf-8"), dumps(args)) for name, args in reader.found]
    return (found, reader.marked) if found else None


def mark(text: str) -> int:
    """Return where the markup of a call begins in an answer, -1 if it has none. A quotation, a
    piece of code and a tag in a sentence are no calls."""
    first = -1
    for begin in MARKS:
        place = text.find(begin)
        while 0 <= place and not (0 <= first < place):
            if not _is_quoted(text[:place]) and _is_begun(text, place):
                first = place
            place = text.find(begin, place + 1)
    return first


def _is_quoted(before):
    line = before[before.rfind("\n") + 1 :]
    last = line[-1:]
    return before.count("```") % 2 or line.count("`") % 2 or last and last in "\"'\u201c\u2018"


def _is_begun(text, place):
    """Return whether the mark at `place` is at the beginning of a line, or a call follows it."""
    if not text[text.rfind("\n", 0, place) + 1 : place].strip():
        return True
    follows = text[place:].replace("]", ">").partition(">")[2].lstrip()[:1]
    return follows and follows in "{[<"


def is_call(text: str) -> bool:
    """Return whether a text has the markup of a tool call outside of quotations."""
    return mark(text) >= 0 or bool(calls(text))


def arguments(text: str) -> list[str]:
    """
    Return the objects, as JSON, in the arguments of a call: they may be encoded twice, several in
    a row, or in a code block. A text that is anything else is returned as it is.
    """
    try:
        values = _values(text.encode(), 0)
    except (ValueError, IndexError):
        return [text]
    found = []
    for value in values:
        # Some servers send an empty object first, or the same twice.
        if value and value not in found[-1:]:
            found.append(value)
    return [dumps(value) for value in found or [{}]]


def _values(data, depth):
    if depth > 2:
        raise ValueError
    data = data.strip()
    if data[:3] == b"```":
        data = data.strip(b"` \n").lstrip(_LETTERS)
    found = []
    i = skip(data, 0)
    while i < len(data):
        value, i = literal(data, i)
        for item in value if isinstance(value, list) else (value,):
            if isinstance(item, str):
                found += _values(item.encode(), depth + 1)
            elif isinstance(item, dict) or item is None:
                found.append(item)
            else:
                raise ValueError
        i = skip(data, i)
    return found


class _Reader:
    """Reads a text that is nothing but calls; ValueError or IndexError for any other."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.found: list = []  # (name, arguments)
        self.marked = False  # has it a mark?
        self._name: bytes | None = None  # a name whose arguments have not come
        self._apart = True  # a mark since then
        i = 0
        while i < len(data):
            i = self._part(i)
        if self._name:
            raise ValueError

    def _part(self, i):
        """Read the next part; return the offset after it."""
        data = self.data
        byte = data[i : i + 1]
        if byte in SPACE or byte in b",;])}":
            return i + 1
        if byte == b"[" and not data[i + 1 : i + 3].isupper():
            return i + 1
        if byte in b"<[":
            return self._tag(i, byte)
        if data[i : i + 3] == b"```":
            self._apart = True
            return i + 3
        if byte == b"{":
            value, i = literal(data, i)
            if self._name:
                self._call(value)
            else:
                self.found += _of_object(value)
            return i
        if byte == b"(" and self._name:
            if self._name == b"print":
                self._name = None
                return i + 1
            args, i = _of_python(data, i + 1)
            self._call(args)
            return i
        return self._word(i)

    def _call(self, args):
        """Add the call of the name before."""
        if not self._name:
            raise ValueError
        self.found.append((self._name, args))
        self._name = None

    def _tag(self, i, byte):
        data = self.data
        end = data.index(b">" if byte == b"<" else b"]", i)
        tag = data[i + 1 : end].strip()
        if not tag or len(tag) > _LONGEST_TAG:
            raise ValueError
        if tag == b"arg_key":
            args, i = _pairs(data, i)
            self._call(args)
            return i
        i = end + 1
        closes = tag[:1] == b"/"
        tag = tag.strip(b"|/ ")
        if closes and self.found and self.found[-1][0] == tag:
            return i
        name = None if closes else _attribute(tag)
        is_mark = byte == b"[" or _has(tag, _TAGS)
        if name and is_mark or not closes and not is_mark and not tag.strip(_LETTERS):
            args, i = _members(data, i)
            self.found.append((name or tag, args))
        elif not is_mark:
            raise ValueError
        elif self._name and (closes or tag[-4:] == b"_end"):
            self._call({})
        self.marked = self.marked or is_mark
        self._apart = True
        if tag == b"CALL_ID":
            while data[i : i + 1].isalpha() or data[i : i + 1].isdigit():
                i += 1
        return i

    def _word(self, i):
        data = self.data
        start = i
        while i < len(data) and data[i : i + 1] in _LETTERS:
            i += 1
        word = data[start:i]
        if not word:
            raise ValueError
        if word == b"functools":
            self.marked = True
        elif b" " + word + b" " not in _NO_NAMES:
            if self._name and not self._apart:
                raise ValueError
            self._name = word[3:] if word[:3] == b"to=" else word
            self._apart = False
        return i


def _has(text, words):
    text = text.lower()
    return any(word in text for word in words.split(b"|"))


def _attribute(tag):
    """Return the value in `function=NAME` or `invoke name="NAME"`, else None."""
    _, equals, value = tag.partition(b"=")
    value = value.strip()
    if not equals or not value:
        return None
    quote = value[:1]
    return value[1 : value.index(quote, 1)] if quote in b"\"'" else value.split()[0]


def _of_object(value):
    """Return the calls that an object describes."""
    if "tool_calls" in value or "function_call" in value:
        found = []
        rows = value.get("tool_calls") or [value.get("function_call")]
        for row in rows:
            found += _of_object(row)
        return found
    if isinstance(value.get("function"), dict):
        return _of_object(value["function"])
    name = args = None
    for key in value:
        if key in _NAMES:
            name = value[key]
        elif key in _ARGUMENTS:
            args = value[key]
        elif key not in _OTHERS:
            raise ValueError
    if isinstance(args, str):
        args = _values(args.encode(), 0)[0]
    if not isinstance(name, str) or not isinstance(args, dict):
        raise ValueError
    return [(name.encode(), args)]


def _members(data, i):
    """Return (arguments, offset after them) of tags such as <parameter=path>.</parameter>, or of
    an object in their place."""
    i = skip(data, i)
    if data[i : i + 1] == b"{":
        return literal(data, i)
    args = {}
    while data[i : i + 1] == b"<" and data[i + 1 : i + 2] != b"/":
        end = data.index(b">", i)
        tag = data[i + 1 : end].strip()
        stop = data.find(b"</" + tag.split(b"=")[0].split()[0], end)
        if stop < 0:
            raise ValueError
        value = str(data[end + 1 : stop], "utf-8")
        # The format has one line end on both sides.
        value = value[value[:1] == "\n" : len(value) - (value[-1:] == "\n")]
        args[str(_attribute(tag) or tag, "utf-8")] = value
        i = skip(data, data.index(b">", stop) + 1)
    return args, i


def _pairs(data, i):
    """Return (arguments, offset after them) of tags <arg_key> and <arg_value>."""
    args = {}
    while data[i : i + 9] == b"<arg_key>":
        end = data.index(b"</arg_key>", i)
        start = data.index(b"<arg_value>", end) + 11
        stop = data.index(b"</arg_value>", start)
        args[str(data[i + 9 : end].strip(), "utf-8")] = str(data[start:stop], "utf-8")
        i = skip(data, stop + 12)
    return args, i


def _of_python(data, i):
    """Return (arguments, offset after them) of `path=".", count=3)`."""
    args = {}
    i = skip(data, i)
    while data[i] != 0x29:
        key, i = key_at(data, i)
        i = skip(data, i)
        if data[i] != 0x3D:
            raise ValueError
        args[key], i = literal(data, i + 1)
        i = after(data, i, 0x29)
    return args, i + 1
