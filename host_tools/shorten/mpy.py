"""The parts of a .mpy file of version 6, bytecode only, and back.

    "M" 6 flags bits | number of names, number of objects | names | objects | code
    code: length << 3 | has children << 2 | kind, function, and if it has them: number of children, children

A number is written in groups of seven bits, the highest first; all but the last have the top bit set.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

_HEAD = 4
_BYTECODE = 0
# Objects: what a name or a number is followed by differs; small ones are only their type.
_STRING, _BYTES, _TUPLE = 5, 6, 10
_LAST_BARE = 4


@dataclass
class Code:
    """A function as it is stored, and those inside it."""

    function: bytes
    children: list[Code] = field(default_factory=list)


@dataclass
class Compiled:
    """A module; `names` are its entries with their lengths, `objects` are all of them."""

    head: bytes
    names: list[bytes]
    object_count: int
    objects: bytes
    code: Code

    def codes(self) -> Iterator[Code]:
        """Its own code and that of all its functions."""
        codes = [self.code]
        while codes:
            code = codes.pop()
            codes += code.children
            yield code


class Reader:
    """A place in bytes."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.place = 0

    def take(self, size: int) -> bytes:
        self.place += size
        return self.data[self.place - size : self.place]

    def number(self) -> int:
        result = 0
        while True:
            byte = self.take(1)[0]
            result = result << 7 | byte & 0x7F
            if not byte & 0x80:
                return result


def number(value: int) -> bytes:
    """`value` as the format writes it."""
    groups = [value & 0x7F]
    while value := value >> 7:
        groups.append(value & 0x7F | 0x80)
    return bytes(reversed(groups))


def text(entry: bytes) -> bytes | None:
    """What an entry of the table of names says; None for a name that every MicroPython has."""
    reader = Reader(entry)
    length = reader.number()
    return None if length & 1 else reader.take(length >> 1)


def read(data: bytes) -> Compiled | None:
    """The parts of a .mpy; None if it is of another version, or holds machine code."""
    if data[:2] != b"M\6" or data[2]:
        return None
    reader = Reader(data)
    head = reader.take(_HEAD)
    name_count, object_count = reader.number(), reader.number()
    names = []
    for _ in range(name_count):
        start = reader.place
        length = reader.number()
        if not length & 1:  # else the number of a name that every MicroPython has
            reader.take((length >> 1) + 1)
        names.append(data[start : reader.place])
    start = reader.place
    for _ in range(object_count):
        pass_object(reader)
    objects = data[start : reader.place]
    return Compiled(head, names, object_count, objects, _read_code(reader))


def write(module: Compiled) -> bytes:
    """The .mpy made of these parts."""
    counts = number(len(module.names)) + number(module.object_count)
    return b"".join([module.head, counts, *module.names, module.objects, _write_code(module.code)])


def pass_object(reader: Reader) -> None:
    """Go on to what follows the object at this place."""
    kind = reader.take(1)[0]
    if kind > _LAST_BARE:
        size = reader.number()
        if kind == _TUPLE:
            for _ in range(size):
                pass_object(reader)
        else:
            reader.take(size + (kind in (_STRING, _BYTES)))


def _read_code(reader: Reader) -> Code:
    size = reader.number()
    if size & 3 != _BYTECODE:
        raise ValueError("machine code in a module of bytecode")
    code = Code(reader.take(size >> 3))
    if size & 4:
        code.children = [_read_code(reader) for _ in range(reader.number())]
    return code


def _write_code(code: Code) -> bytes:
    has_children = bool(code.children)
    result = number(len(code.function) << 3 | has_children << 2 | _BYTECODE) + code.function
    if has_children:
        result += number(len(code.children)) + b"".join(map(_write_code, code.children))
    return result
