"""A class whose objects outlive a phase has some of its methods in other overlays."""

import pytest

from mpy_linker import OverlayError, bundle
from tenner_host import interpreters
from tests.host.overlays_heap import looks, stale
from tests.host.overlays_support import MAIN, both, named, package, run, table, write

MODULES = {
    "app": """
import asyncio
from tenner import overlay, overlay_loader
from tenner.line import Line

line = Line("a")

def alive():
    print(overlay_loader.phase, sorted(overlay_loader.held))

async def steps():
    print(line.name(), line.kind)
    for _ in range(2):
        print(await overlay.run("SEND", send, "x"))
        print(await overlay.run("LOOK", look))
    print(line.rare(), hasattr(line, "show"), getattr(line, "show", 7))
    try:
        line.missing
    except AttributeError as error:
        print("missing")
    line.missing = 5
    print(line.missing)
    alive()

async def send(text):
    result = await line.send(text)
    alive()
    return result

async def look():
    return line.look()

def main():
    overlay.configure(True)
    asyncio.run(steps())
""",
    "base": """
class Base:
    def __init__(self, kept):
        self._kept = kept
    def name(self):
        return "line " + self._kept
    def rare(self):
        return self.name() + self._mark()
    def _mark(self):
        return "?"
""",
    "line": """
from tenner.base import Base
_MARK = "!"
count = 0
def _twice(text):
    return text + text
class Line(Base):
    kind = "line"
    def __init__(self, kept):
        super().__init__(kept)
        self._sent = []
    async def send(self, text):
        global count
        count += 1
        self._sent.append(_twice(text) + _MARK)
        return self._last()
    def _last(self):
        return self._sent[-1], self.name(), count
    def look(self):
        return len(self._sent), _twice(self._kept)
""",
}
PHASES = {"BOOT": [], "IDLE": [], "SEND": [], "LOOK": []}
SPLIT = {
    "core": ["app", "base: Base Base.name", "line: Line Line._last Line.send count"],
    # The private method of a base, called from another overlay, on an object of its subclass.
    "send": ["line", "base: Base._mark"],
    "looking": ["line: Line.look", "base"],
}


def made(folder, overlays=SPLIT, debug=False, modules=MODULES):
    names = table(dict(overlays), phases={**PHASES})
    result = bundle(package(modules), names, scripts={"main.py": MAIN}, debug=debug)
    write(result, folder)
    return result


@pytest.mark.parametrize("name", ["micropython", "micropython32"])
def test_methods_come_and_go_with_their_overlay(tmp_path, name):
    made(tmp_path)
    interpreter = getattr(interpreters, f"find_{name}")()
    assert named(run(tmp_path, interpreter), PHASES) == [
        "line a line",
        "SEND ['send']",
        "('xx!', 'line a', 1)",
        "(1, 'aa')",
        "SEND ['send']",
        "('xx!', 'line a', 2)",
        "(2, 'aa')",
        "line a? False 7",
        "missing",
        "5",
        "IDLE ['looking', 'send']",
    ]


def test_nothing_of_them_stays_alive(tmp_path):
    modules = {
        **MODULES,
        "app": MODULES["app"].replace("        line.missing\n", "        0 .x\n"),
    }
    made(tmp_path, debug=True, modules=modules)
    found = looks(run(tmp_path, interpreters.find_micropython32()).splitlines())
    assert [look.phase for look in found] == ["SEND", "IDLE", "LOOK", "IDLE"] * 2
    assert stale(found) == []


def test_a_split_module_does_the_same_as_a_whole_one(tmp_path):
    app = MODULES["app"].replace("    alive()\n", "    print()\n")
    both(tmp_path, {**MODULES, "app": app}, SPLIT, phases={**PHASES})


def test_texts_that_name_attributes_keep_them_wherever_they_stand(tmp_path):
    modules = {
        "app": """
from tenner.box import Box, full, look
def main():
    print(Box(3, 4).weight, look(Box(3, 4), 1), full().fineness)
""",
        "box": """
from collections import namedtuple
_FIELDS = ("weight", "gauged")
_DEFAULT = {"fineness": 5}
Box = namedtuple("Box", _FIELDS)
class Full:
    def __init__(self, fineness):
        self.fineness = fineness
def full():
    return Full(**_DEFAULT)
def look(box, number):
    return getattr(box, _FIELDS[number])
""",
    }
    overlays = {
        "core": ["app", "box: _FIELDS"],
        "some": ["box: Box Full full look"],
        "rest": ["box"],
    }
    assert both(tmp_path, modules, overlays, phases={**PHASES}) == "3 4 5\n"


def test_a_constructor_may_be_where_the_objects_are_made(tmp_path):
    modules = {
        **MODULES,
        "base": MODULES["base"].replace("    def name", "    mark = '?'\n    def name"),
        "line": MODULES["line"].replace("super().__init__(kept)", "Base.__init__(self, kept)"),
        "made": "from tenner.line import Line\ndef make():\n    return Line('a')\n",
        "app": MODULES["app"]
        .replace("from tenner.line import Line", "from tenner.made import make")
        .replace('line = Line("a")', "line = None")
        .replace(
            "steps():", 'steps():\n    global line\n    line = await overlay.run("BOOT", new)'
        )
        .replace("async def send", "async def new():\n    return make()\n\nasync def send"),
    }
    overlays = {**SPLIT, "making": ["made", "base: Base.__init__", "line: Line.__init__"]}
    phases = {**PHASES, "BOOT": ["making"]}
    names = table(overlays, phases=phases)
    made = bundle(package(modules), names, scripts={"main.py": MAIN})
    write(made, tmp_path)
    lines = named(run(tmp_path, interpreters.find_micropython32()), phases)
    assert lines[0] == "line a line"
    assert lines[-1] == "IDLE ['looking', 'send']"
    assert "('xx!', 'line a', 2)" in lines


@pytest.mark.parametrize(
    ("entry", "sentence"),
    [
        ("line: Lines", "tenner.line has no Lines"),
        ("line: Line.x Line", "tenner.line has no Line.x"),
        ("line: Line.__init__", "Line.__init__ must be where its class is"),
        ("base: Base.__init__", "tenner.base.Base is made here, but its __init__ is in overlay"),
        ("line: Line count", "count must be in the overlay of the function that changes it"),
        ("lines: Line", "there is no module tenner.lines to split"),
    ],
)
def test_mistakes_are_sentences(entry, sentence):
    overlays = {"core": ["app", "base"], "send": ["line"], "looking": [entry]}
    names = table(overlays, phases={**PHASES})
    with pytest.raises(OverlayError, match=sentence):
        bundle(package(MODULES), names, scripts={"main.py": MAIN})


def test_a_name_is_in_one_overlay():
    overlays = {"core": ["app", "base", "line: Line"], "send": ["line"], "more": ["line: Line"]}
    with pytest.raises(OverlayError, match="a name is in two overlays"):
        bundle(package(MODULES), table(overlays), scripts={"main.py": MAIN})


def test_no_overlay_outlasts_a_class_it_has_methods_of():
    overlays = {"core": ["app", "base"], "send": ["line"], "looking": ["line: Line.look"]}
    app = MODULES["app"].replace('line = Line("a")', "line = None")
    app = app.replace("    for _", "    global line\n    line = Line('a')\n    for _")

    def build(**phases):
        names = table(overlays, phases={**PHASES, **phases})
        return bundle(package({**MODULES, "app": app}), names, scripts={"main.py": MAIN})

    sentence = "looking has methods of tenner.line.Line, and stays in phase LOOK, which evicts"
    with pytest.raises(OverlayError, match=sentence):
        build(LOOK=["looking"])
    build(LOOK=["looking", "send"])
