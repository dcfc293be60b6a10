"""Functions taken apart and put together again do the same, and fail in the same lines."""

from collections import Counter

import pytest

from host_tools import build
from host_tools.shorten import bytecode, mpy
from tests.host.compiled import run

# Every kind of jump, scope and handler; what is far apart needs the wide labels.
SOURCE = """
import sys
from os import listdir, getcwd as here
from binascii import hexlify
from asyncio.core import sleep as pause, _promote_to_task

class Both:
    def __enter__(self):
        return self
    def __exit__(self, kind, error, trace):
        return kind is KeyError
    def __len__(self):
        return 0

def walk(limit, *more, word=None, **rest):
    found = []
    for number in range(limit):
        if number == 3:
            continue
        try:
            with Both() as both:
                if number == 5:
                    raise KeyError
                if number == 8:
                    break
                found.append(number if number & 1 else -number)
            try:
                found.append(10 // (number - 6))
            except ZeroDivisionError as error:
                found.append(str(error))
            else:
                found.append("else")
            finally:
                found.append("finally")
        except (TypeError, ValueError):
            return None
    else:
        found.append("never")
    while True:
        limit -= 1
        if not limit: break
        elif limit > 2 and limit < 90 or not found:
            pass
    return found, more, word, sorted(rest), [x * y for x in (1, 2) for y in (3, 4) if x != y]

def given():
    total = 0
    while True:
        step = yield total
        if step is None:
            return "done"
        total += step

def outer():
    result = yield from given()
    yield result

def closure(count):
    def add():
        nonlocal count
        count += 1
        return count
    add()
    return add() + (lambda: count)()

%s

generator = outer()
next(generator)
print(walk(100, 1, word="w", z=1, a=2), closure(5))
print(generator.send(3), generator.send(4), generator.send(None))
print(repr(Both), Both.__name__, type(Both()).__name__)
try:
    raise OSError(5)
except OSError as error:
    number = error.args[0]
    error = number
print(number, "error" in globals())
print(hexlify(b"a"), callable(listdir), here() != "", far(7), far(-1), Both() or "empty", pause != _promote_to_task)
""" % (
    "def far(value):\n    while value > 0:\n"
    + "".join(f"        if value == {n}:\n            value = -{n}\n" for n in range(200))
    + "    return value\n"
)

FAILING = """
def fail(place):
    a = None
    if place == 1:
        b = a
        return (
            b +
            1
        )

    for c in (1, 2):
        d = c
        if place == c + 1:
            e = d

            f = [e, a]; a.missing
    try:
        g = 1
        h = g
        if place == 4:
            i = h
            raise ValueError(i)
    except OSError:
        pass
    if place == 5: j = 1; k = j; from nowhere import l
    # A comment, and more lines than a short entry can skip.
%s
    return m if place == 6 and m.n else undefined

for place in range(1, 8):
    try:
        fail(place)
    except Exception as error:
        import sys
        sys.print_exception(error, sys.stdout)
""" % ("\n" * 3000 + "    m = ''\n" + "\n" * 9)


@pytest.mark.parametrize("source", [SOURCE, FAILING], ids=["all-kinds", "lines"])
def test_the_same_is_done(tmp_path, source):
    plain = build.compile_module(source.encode(), "m.py", cache_folder=tmp_path)
    small = bytecode.with_small_functions(plain)
    assert len(small) < len(plain)
    expected = run(tmp_path, "m", plain)
    assert expected.count("\n") > 2
    assert run(tmp_path, "m", small) == expected


def functions(compiled):
    module = mpy.read(compiled)
    assert mpy.write(module) == compiled
    codes = [module.code]
    while codes:
        code = codes.pop()
        codes += code.children
        yield code.function


def steps(function):
    """The instructions of a function, with the places they jump to."""
    seen = []
    bytecode.rewritten(function, lambda found: seen.extend(found) or found)
    place = {step: number for number, step in enumerate(seen)}
    return [(one.opcode, one.rest, one.line, place.get(one.target)) for one in seen]


@pytest.fixture(scope="module")
def firmware():
    """Each module of the firmware, compiled and as it is."""
    sources = {
        path.relative_to(build.FIRMWARE).as_posix(): path.read_bytes()
        for path in (build.FIRMWARE / "tenner").rglob("*.py")
    }
    return list(build.compile_modules(sources).values())


def test_put_together_again_a_function_is_what_it_was(firmware):
    count = 0
    for function in (function for module in firmware for function in functions(module)):
        again = bytecode.rewritten(function, lambda found: found)
        # Never longer: two entries for one place in the table of lines become one.
        assert len(again) <= len(function)
        assert steps(again) == steps(function)
        count += 1
    assert count > 1000


def test_what_can_fail_keeps_its_line(firmware):
    def failing(function):
        return [step[:3] for step in steps(function) if step[0] not in bytecode._CANNOT_FAIL]

    left_out = Counter()
    for module in firmware:
        small = functions(bytecode.with_small_functions(module))
        for before, after in zip(functions(module), small, strict=True):
            kept = iter(failing(after))
            step = next(kept, None)
            for found in failing(before):
                if found == step:
                    step = next(kept, None)
                else:
                    left_out[found[0]] += 1
            assert step is None
    # Tuples for imports, deleted variables, two names of each class.
    assert left_out.keys() == {0x2A, 0x28, 0x11, 0x16}
    assert left_out[0x16] == 2 * left_out[0x11] > 150


def test_another_format_is_left_alone():
    for data in (b"M\x07\x00\x1fxyz", b"M\x06\x0b\x1fxyz", b"C\x06\x00\x1f"):
        assert bytecode.with_small_functions(data) == data
