"""Leaves out of compiled functions what no board needs.

- `from x import y` builds a tuple ("y",) that MicroPython's import only compares with None: True takes its place.
- A class notes its module and its own name once more, besides the name it is made with.
- `except OSError as error` deletes `error` at its end, just after it was set to None.
- A line number is needed where something can fail. What only moves local variables and constants, jumps and
  returns gets that of the line before it.

Jumps are relative and change with what they jump over, so a function is taken apart and put together again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from host_tools.shorten import mpy

# py/bc0.h of MicroPython; two bits for each row of 16 opcodes say what follows an opcode.
_FORMATS = 0x3A4
_NAME, _LABEL = 1, 3
LOAD_CONST_STRING = 0x10
_LOAD_NAME = 0x11
_STORE_NAME = 0x16
_IMPORT_NAME = 0x1B
LOAD_CONST_OBJ = 0x23
_DELETE_FAST = 0x28
_BUILD_TUPLE = 0x2A
_UNWIND_JUMP = 0x40
_LOAD_CONST_NONE = 0x51
_LOAD_CONST_TRUE = 0x52
_STORE_FAST = 0xC0
#: How the body of a class begins: __name__ as __module__, and its own name as __qualname__.
_CLASS_HEAD = [_LOAD_NAME, _STORE_NAME, LOAD_CONST_STRING, _STORE_NAME]
#: Entries in the table of names.
_MODULE, _QUALNAME = b"\x2d", b"\x35"
#: Jumps that may lead back too; the labels of the others have no sign.
_SIGNED = {_UNWIND_JUMP, 0x42, 0x43, 0x44}
#: Constants, local variables, the stack, jumps and returning. An unset variable is told with a line before it.
_CANNOT_FAIL = {
    *(
        LOAD_CONST_STRING,
        0x22,
        LOAD_CONST_OBJ,
        0x24,
        0x26,
        0x42,
        0x43,
        0x44,
        0x50,
        0x51,
        0x52,
        0x53,
    ),
    *(0x57, 0x58, 0x59, 0x5A, 0x5B, 0x63),
    *range(0x70, 0xD0),
}


@dataclass(eq=False)
class Step:
    """An instruction at a source line; `target` is the one it jumps to."""

    opcode: int
    rest: bytes
    line: int
    target: Step | None = None
    wide: bool = False

    @property
    def names(self) -> bool:
        """Is it followed by the number of a name?"""
        return _format(self.opcode) == _NAME

    def number(self) -> int:
        """The number that it is followed by."""
        return mpy.Reader(self.rest).number()

    def size(self) -> int:
        return 1 + len(self.rest) + (0 if self.target is None else 1 + self.wide)


def with_small_functions(compiled: bytes) -> bytes:
    """The .mpy with all its functions made smaller; itself, if its format is another one."""
    module = mpy.read(compiled)
    if module is None:
        return compiled

    def change(steps: list[Step]) -> list[Step]:
        return _made_small(steps, module.names)

    for code in module.codes():
        code.function = rewritten(code.function, change)
    return mpy.write(module)


def rewritten(
    function: bytes,
    change: Callable[[list[Step]], list[Step]],
    renumbered: Mapping[int, int] | None = None,
) -> bytes:
    """The function with its instructions as `change` returns them, and its names and those of its arguments by
    their new numbers."""
    signature, names, lines, cells, code = _split(function)
    steps = change(_steps(code, lines))
    _widen(steps)
    if renumbered is not None:
        names = [renumbered[name] for name in names]
    info = b"".join(map(mpy.number, names)) + _line_table(steps)
    return signature + _size_bytes(len(info), len(cells)) + info + cells + _code(steps)


def parts(function: bytes) -> tuple[list[Step], list[int]]:
    """The instructions of a function; the numbers of its own name and those of its arguments."""
    _, names, lines, _, code = _split(function)
    return _steps(code, lines), names


def _split(function: bytes) -> tuple[bytes, list[int], bytes, bytes, bytes]:
    """How it is called, its own name and those of its arguments, lines, cells, instructions."""
    reader = mpy.Reader(function)
    arguments = _argument_count(reader)
    signature = function[: reader.place]
    info_size, cell_count = _sizes(reader)
    info = mpy.Reader(reader.take(info_size))
    cells = reader.take(cell_count)
    names = [info.number() for _ in range(1 + arguments)]
    return signature, names, info.data[info.place :], cells, function[reader.place :]


# --- the head of a function


def _argument_count(reader: mpy.Reader) -> int:
    """How many arguments have names in front of the lines."""
    byte = reader.take(1)[0]
    by_place, by_name = byte & 3, 0
    group = 0
    while byte & 0x80:
        byte = reader.take(1)[0]
        by_place |= (byte & 4) << group
        by_name |= (byte >> 3 & 1) << group
        group += 1
    return by_place + by_name


def _sizes(reader: mpy.Reader) -> tuple[int, int]:
    """(bytes of names and lines, number of cells), whose bits alternate, the lowest first."""
    info = cells = group = 0
    while True:
        byte = reader.take(1)[0]
        cells |= (byte & 1) << group
        info |= (byte >> 1 & 0x3F) << 6 * group
        group += 1
        if not byte & 0x80:
            return info, cells


def _size_bytes(info: int, cells: int) -> bytes:
    result = bytearray()
    while True:
        byte = (info & 0x3F) << 1 | cells & 1
        info >>= 6
        cells >>= 1
        result.append(byte | (0x80 if info or cells else 0))
        if not (info or cells):
            return bytes(result)


# --- lines: pairs of (bytes of code, lines) to go on, from line 1


def _line_numbers(table: bytes, size: int) -> list[int]:
    """The line of each byte of code."""
    result: list[int] = []
    line = 1
    reader = mpy.Reader(table)
    while reader.place < len(table):
        byte = reader.take(1)[0]
        if byte & 0x80:
            count, lines = byte & 0xF, (byte & 0x70) << 4 | reader.take(1)[0]
        else:
            count, lines = byte & 0x1F, byte >> 5
        result += [line] * count
        line += lines
    return result + [line] * (size - len(result))


def _line_table(steps: list[Step]) -> bytes:
    table = bytearray()
    line = 1
    passed = 0
    for step in steps:
        ahead = step.line - line
        while ahead:
            # One byte for up to 31 bytes and then 3 lines, or two for up to 15 bytes and then 2,047 lines.
            if ahead <= 6 or passed > 0xF:
                count = min(passed, 0x1F)
                lines = min(ahead, 3) if count == passed else 0
                table.append(lines << 5 | count)
            else:
                count, lines = passed, min(ahead, 0x7FF)
                table += bytes((0x80 | lines >> 4 & 0x70 | count, lines & 0xFF))
            passed -= count
            ahead -= lines
        line = step.line
        passed += step.size()
    return bytes(table)


# --- instructions


def _format(opcode: int) -> int:
    """What follows an opcode: nothing, the number of a name, another number or a label."""
    return _FORMATS >> 2 * (opcode >> 4) & 3


def _steps(code: bytes, lines: bytes) -> list[Step]:
    line_of = _line_numbers(lines, len(code))
    reader = mpy.Reader(code)
    at: dict[int, Step] = {}
    targets: dict[Step, int] = {}
    while reader.place < len(code):
        start = reader.place
        opcode = reader.take(1)[0]
        step = at[start] = Step(opcode, b"", line_of[start])
        kind = _format(opcode)
        if kind == _LABEL:
            offset, middle = reader.take(1)[0], 0x40
            if offset & 0x80:
                offset, middle = offset & 0x7F | reader.take(1)[0] << 7, 0x4000
            targets[step] = reader.place + offset - (middle if opcode in _SIGNED else 0)
            step.rest = reader.take(1 if opcode == _UNWIND_JUMP else 0)
        elif kind:
            place = reader.place
            reader.number()
            step.rest = code[place : reader.place]
    for step, place in targets.items():
        step.target = at[place]
    return list(at.values())


def _offsets(steps: list[Step]) -> dict[Step, int]:
    """How far each jump goes from behind its label."""
    place = 0
    start: dict[Step, int] = {}
    for step in steps:
        start[step] = place
        place += step.size()
    return {
        step: start[step.target] - start[step] - step.size() + len(step.rest)
        for step in steps
        if step.target is not None
    }


def _widen(steps: list[Step]) -> None:
    """Give two bytes to the labels that need them, and to no others."""
    for step in steps:
        step.wide = False
    found = True
    while found:
        found = False
        for step, offset in _offsets(steps).items():
            low, high = (-0x40, 0x40) if step.opcode in _SIGNED else (0, 0x80)
            if not step.wide and not low <= offset < high:
                step.wide = found = True


def _code(steps: list[Step]) -> bytes:
    offsets = _offsets(steps)
    result = bytearray()
    for step in steps:
        result.append(step.opcode)
        if step.target is not None:
            middle = (0x4000 if step.wide else 0x40) if step.opcode in _SIGNED else 0
            offset = offsets[step] + middle
            result += bytes((offset & 0x7F | 0x80, offset >> 7)) if step.wide else bytes((offset,))
        result += step.rest
    return bytes(result)


# --- what is left out


def _made_small(steps: list[Step], names: list[bytes]) -> list[Step]:
    kept: list[Step] = []
    for step in steps[4:] if _is_class(steps, names) else steps:
        last = [before.opcode for before in kept[-2:]]
        if step.opcode == _DELETE_FAST and last == [_LOAD_CONST_NONE, _STORE_FAST + step.rest[0]]:
            continue
        if step.opcode == _IMPORT_NAME and last[-1] == _BUILD_TUPLE:
            count = kept[-1].number()
            # The names and the tuple. Nothing jumps there: the level of the import stands before them.
            del kept[-count - 1 :]
            kept.append(Step(_LOAD_CONST_TRUE, b"", step.line))
        kept.append(step)
    _join_lines(kept)
    return kept


def _is_class(steps: list[Step], names: list[bytes]) -> bool:
    """Is this the body of a class?"""
    head = steps[:4]
    if [step.opcode for step in head] != _CLASS_HEAD:
        return False
    stored = [names[step.number()] for step in (head[1], head[3])]
    return stored == [_MODULE, _QUALNAME]


def _join_lines(steps: list[Step]) -> None:
    """Let lines that cannot fail have the number of the one before."""
    start = 0
    while start < len(steps):
        end = start
        while end < len(steps) and steps[end].line == steps[start].line:
            end += 1
        if start and all(step.opcode in _CANNOT_FAIL for step in steps[start:end]):
            for step in steps[start:end]:
                step.line = steps[start - 1].line
        start = end
