"""Short texts that are objects of their module mean what they meant as names."""

import pytest

from host_tools import build
from host_tools.shorten import bytecode, keywords, mpy
from host_tools.shorten.texts import with_own_texts
from tests.host.compiled import run

SOURCE = """
import sys

def told(kind, *, unit="°C", sep="; "):
    table = {"warm": 1, "cold%d": 2, kind: 3}
    if kind == "warm" and "arm" in kind:
        return sep.join(sorted(table)) + unit, table["wa" + "rm"], table[kind]
    return [getattr(sys, "platform") != "", "keyword", len("\\n\\0\\x7f")]

class Both:
    label = "label"
    def keyword(self):
        return self.label + "%s" % "warm"

print(told("warm"), told("x", sep=""), told(kind="odd"), Both().keyword(), Both.__name__, told.__name__)
print({"warm": "w"}["".join(["wa", "rm"])], "cold%d" % 1, "" or "empty", hash("warm") == hash("wa" + "rm"[:2]))
try:
    told()
except TypeError as error:
    sys.print_exception(error, sys.stdout)
"""


def names(compiled):
    return [mpy.text(entry) for entry in mpy.read(compiled).names]


def test_the_same_is_done_with_fewer_names(tmp_path):
    plain = build.compile_module(SOURCE.encode(), "m.py", cache_folder=tmp_path)
    small = with_own_texts(plain)
    gone = set(names(plain)) - set(names(small))
    texts = (
        "warm",
        "cold%d",
        "arm",
        "wa",
        "rm",
        "x",
        "odd",
        "%s",
        "; ",
        "w",
        "°C",
        "\n\0\x7f",
        "empty",
    )
    assert gone == {text.encode() for text in texts} | {b"platform"}
    # These are names of something too.
    assert {b"keyword", b"label", b"kind", b"unit"} <= set(names(small))
    expected = run(tmp_path, "m", plain)
    assert expected.count("\n") > 3
    assert run(tmp_path, "m", small) == expected


def test_keywords_stay_names(tmp_path):
    """A function of another module that is loaded later knows its arguments by names only."""
    caller = b"def call():\n    from callee import show\n    show(later='x', then='y')\ncall()\n"
    callee = build.compile_module(
        b"def show(*, later, then):\n    print(later + then)\n", "callee.py", cache_folder=tmp_path
    )
    (tmp_path / "callee.mpy").write_bytes(callee)
    compiled = build.compile_module(caller, "caller.py", cache_folder=tmp_path)
    assert (
        run(tmp_path, "caller", with_own_texts(compiled, frozenset(keywords({"caller": caller}))))
        == "xy\n"
    )


@pytest.fixture(scope="module")
def firmware():
    """Each module of the firmware, compiled and as it is."""
    folder = build.FIRMWARE
    sources = {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in (folder / "tenner").rglob("*.py")
    }
    return list(build.compile_modules(sources).values())


def content(data):
    """The text of an object; other objects as they are."""
    reader = mpy.Reader(data)
    return reader.take(reader.number()) if reader.take(1) == b"\5" else data


def meant(compiled):
    """What each function is made of, with texts and names in place of their numbers."""
    module = mpy.read(compiled)
    assert mpy.write(module) == compiled
    texts = []
    reader = mpy.Reader(module.objects)
    for _ in range(module.object_count):
        start = reader.place
        mpy.pass_object(reader)
        texts.append(content(module.objects[start : reader.place]))
    for code in module.codes():
        steps, head = bytecode.parts(code.function)
        yield [module.names[number] for number in head]
        for step in steps:
            if step.opcode == bytecode.LOAD_CONST_OBJ:
                yield step.line, texts[step.number()]
            elif step.opcode == bytecode.LOAD_CONST_STRING:
                yield (
                    step.line,
                    mpy.text(module.names[step.number()]) or module.names[step.number()],
                )
            else:
                rest = module.names[step.number()] if step.names else step.rest
                yield step.opcode, step.line, rest


def test_nothing_else_changes(firmware):
    fewer = 0
    for module in firmware:
        small = with_own_texts(module)
        assert list(meant(small)) == list(meant(module))
        fewer += len(names(module)) - len(names(small))
    assert fewer > 500


def test_only_what_stays_keeps_its_texts_as_names():
    tree = build.firmware_tree(workspace=False)
    assert b"+%.1fs" in names(tree["/lib/tenner/log.mpy"])
    assert b"\n- " not in names(tree["/lib/tenner/channels/telegram_update.mpy"])


def test_another_format_is_left_alone():
    for data in (b"M\x07\x00\x1fxyz", b"M\x06\x0b\x1fxyz", b"C\x06\x00\x1f"):
        assert with_own_texts(data) == data
