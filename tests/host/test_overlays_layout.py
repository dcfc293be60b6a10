"""The layout: the record, the symbols that belong together, and the place of unknown ones."""

import subprocess

import pytest

from mpy_linker import CORE, OverlayError, Table, layout
from mpy_linker.compare import replay
from mpy_linker.compare import table as lines_of
from mpy_linker.grouping import Grouping, Moment
from mpy_linker.marks import MARKS, RUN_TIME, mark
from mpy_linker.place import (
    Layout,
    Placed,
    gone,
    place,
    placed,
    read_layout,
    symbols_of,
    text_of,
    tidied,
    unplaced,
)
from tenner_host import interpreters
from tests.host.overlays_support import NAMES, RUNTIME, both, package

RULES = {CORE: ["tenner.app", *(path[:-3].replace("/", ".") for path in RUNTIME)]}


def rules(**more):
    return Table(
        {CORE: [*RULES[CORE]]},
        phases={"IDLE": [], "WORK": []},
        linux=["tenner.port.cpython"],
        room={"SPARE": 16_000, "ROOMY": 42_000},
        names=NAMES,
        **more,
    )


def read(modules, **more):
    """Return the symbols and the rules of a package."""
    found = rules(**more)
    return symbols_of(package({"app": "def main(): pass\n", **modules}), found), found


# --- marks

MARKED = """
class Thing:
    def __init__(self): self.x = 1
    def use(self): return helper()

def helper(): return 1

def wait():
    yield Thing()
"""
RUN = f"""
import {MARKS}
from tenner.a import Thing, wait
{MARKS}.phase("ONE")
thing = Thing()
thing.use()
waiting = wait()
next(waiting)
{MARKS}.phase("TWO")
waiting = thing = None
{MARKS}.phase("THREE")
{MARKS}.phase("END")
"""


def test_a_marked_board_prints_what_ran_and_what_was_alive(tmp_path):
    marked = mark({"tenner/a.py": MARKED.encode()}, NAMES)
    (tmp_path / "tenner").mkdir()
    (tmp_path / "tenner" / "a.py").write_bytes(marked.sources["tenner/a.py"])
    (tmp_path / f"{MARKS}.py").write_text(RUN_TIME)
    (tmp_path / "run.py").write_text(RUN)
    done = subprocess.run(
        interpreters.find_micropython().command("run.py"),
        cwd=tmp_path,
        env={"MICROPYPATH": "."},
        capture_output=True,
        text=True,
        check=True,
    )
    found = {}
    for line in done.stdout.splitlines():
        ran, _, alive = line.partition("|")
        _, phase, *numbers = ran.split()
        names = [marked.names[int(one)].partition(":")[2] for one in numbers]
        found[phase] = names, [marked.names[int(one)].partition(":")[2] for one in alive.split()]
    assert found["START"] == ([], [])
    assert sorted(found["ONE"][0]) == ["Thing", "Thing.__init__", "Thing.use", "helper", "wait"]
    # These were alive when TWO began, and are gone at the begin of THREE.
    assert sorted(found["TWO"][1]) == ["Thing", "wait"]
    assert found["THREE"] == ([], [])


# --- ties and places

TIED = {
    "a": "count = 0\nplain = []\n"
    "def add():\n    global count\n    count += 1\n    return count\n"
    "def other(): return plain\n"
    "class Box:\n"
    "    def __init__(self): self.n = 1\n"
    "    def __len__(self): return self.n\n"
    "    def far(self): return 2\n",
    "b": "from tenner.a import Box\ndef make(): return Box()\n"
    "def also(): return isinstance(1, Box)\n",
}


def test_a_variable_is_with_the_functions_that_change_it():
    symbols, _ = read(TIED)
    assert symbols.unit("tenner.a:count") == symbols.unit("tenner.a:add")
    assert symbols.unit("tenner.a:plain") != symbols.unit("tenner.a:other")
    assert symbols.unit("tenner.a:Box.__len__") == symbols.unit("tenner.a:Box")
    assert symbols.methods["tenner.a:Box"] == ["tenner.a:Box.far"]
    assert symbols.makers["tenner.a:Box"] == {"tenner.b:make"}


def test_what_a_layout_does_not_know_is_cold():
    symbols, found = read(TIED)
    homes = placed(symbols, found, Layout()).homes
    assert homes["tenner.a:add"] == homes["tenner.a:Box.far"] == "a_cold"
    assert homes["tenner.app:main"] == CORE
    known = Layout({"tenner.a:add": "hot"}, {"WORK": ["hot", "gone"]})
    made = placed(symbols, found, known)
    assert made.homes["tenner.a:count"] == "hot" and made.homes["tenner.a:other"] == "a_cold"
    assert made.stays["WORK"] == ["hot"] and made.stays["IDLE"] == []


def test_a_constructor_goes_where_all_objects_are_made():
    symbols, found = read(TIED)
    away = {"tenner.a:Box": CORE, "tenner.a:Box.__init__": "make"}
    homes = placed(symbols, found, Layout({**away, "tenner.b:make": "make"})).homes
    assert homes["tenner.a:Box.__init__"] == "make"
    # Another overlay makes them, or anybody may.
    homes = placed(symbols, found, Layout({**away, "tenner.b:make": "other"})).homes
    assert homes["tenner.a:Box.__init__"] == CORE
    value = {**TIED, "b": "from tenner.a import Box\ndef make(): return [Box][0]()\n"}
    symbols, found = read(value)
    homes = placed(symbols, found, Layout({**away, "tenner.b:make": "make"})).homes
    assert homes["tenner.a:Box.__init__"] == CORE


def test_methods_do_not_outlast_their_class():
    symbols, found = read(TIED)
    known = Layout(
        {"tenner.a:Box": "box", "tenner.a:Box.far": "far"},
        {"WORK": ["far"], "IDLE": ["far", "box"]},
    )
    stays = placed(symbols, found, known).stays
    assert stays["WORK"] == [] and stays["IDLE"] == ["box", "far"]


def test_a_base_that_may_be_gone_moves():
    modules = {"a": "class A: pass\n", "b": "from tenner.a import A\nclass B(A): pass\n"}
    symbols, found = read(modules)
    known = Layout({"tenner.a:A": "one", "tenner.b:B": "two"}, {"WORK": ["two"]})
    assert placed(symbols, found, known).homes["tenner.a:A"] == "two"
    known.phases["WORK"] = []
    assert placed(symbols, found, known).homes["tenner.a:A"] == "one"


def test_a_pack_has_no_code_of_others():
    symbols, found = read(TIED, packs={"page": ["tenner.b"]})
    known = Layout({"tenner.b:make": "x", "tenner.b:also": "x", "tenner.a:add": "x"})
    made = placed(symbols, found, known).homes
    assert made["tenner.b:make"] == "x" and made["tenner.a:add"] == "a_cold"
    assert place(symbols, found, known).packs == {"page": ["x"]}


def test_a_package_runs_by_any_layout(tmp_path):
    modules = {
        "app": "from tenner.a import add, Box\nfrom tenner.b import make\n"
        "def main(): print(add(), make().far(), len(Box()))\n",
        **TIED,
    }
    found = rules()
    symbols = symbols_of(package(modules), found)
    assert both(tmp_path, modules) == "1 2 1\n"
    for number, homes in enumerate(
        ({}, {"tenner.a:add": "x", "tenner.a:Box.far": "y", "tenner.b:make": "x"})
    ):
        made = place(symbols, found, Layout(homes))
        short = {
            name: [one.removeprefix("tenner.") for one in entries]
            for name, entries in made.overlays.items()
        }
        short[CORE] = ["app"]
        assert both(tmp_path / str(number), modules, short) == "1 2 1\n"


# --- groups

RAN = {
    "a": "def one(): return 1\ndef two(): return 2\ndef three(): return 3\n"
    "def never(): return 4\nclass Box:\n    def far(self): return 2\n"
}
SIZES = {f"tenner.a:{name}": 3000 for name in ("one", "two", "three", "never")}


def moments(*ran):
    return [
        Moment(phase, frozenset(f"tenner.a:{one}" for one in names.split()), frozenset())
        for phase, names in ran
    ]


OFTEN = moments(*[("WORK", "one two"), ("IDLE", "three")] * 20)
DIFFERENT = moments(*[(f"P{number}", "one two") for number in range(9)], ("IDLE", "three"))


def test_symbols_of_the_same_moments_share_an_overlay():
    symbols, found = read(RAN)
    made = layout.make(symbols, found, SIZES, [DIFFERENT])
    homes = made.homes
    assert homes["tenner.a:one"] == homes["tenner.a:two"] != homes["tenner.a:three"]
    assert "tenner.a:never" in made.cold and "tenner.a:never" not in homes


def test_what_is_new_joins_the_overlay_of_its_moments_and_nothing_else_moves():
    symbols, found = read(RAN)
    known = Layout({"tenner.a:one": "x", "tenner.a:three": "y"}, {"WORK": ["y"]})
    sizes = {**SIZES, "tenner.a:two": 300}
    made = layout.make(symbols, found, sizes, [DIFFERENT], known)
    assert made.homes == {**known.homes, "tenner.a:two": "x"} | {
        name: CORE for name, home in made.homes.items() if home == CORE
    }
    assert made.phases["WORK"] == ["y"]


def test_an_overlay_stays_where_half_of_the_begins_need_it():
    symbols, found = read(RAN)
    run = moments(*[("WORK", "one"), ("IDLE", "one three")] * 4, ("WORK", "one"))
    known = Layout({"tenner.a:one": "x", "tenner.a:three": "y"})
    made = layout.make(symbols, found, SIZES, [run], known)
    assert made.phases["IDLE"] == ["x"] and made.phases["WORK"] == ["x"]


def test_a_layout_is_replayed():
    sizes = {"tenner.a:one": 1000, "tenner.a:two": 500}
    homes = {"tenner.a:one": "x", "tenner.a:two": "y"}
    run = moments(("WORK", "one"), ("WORK", "two"))
    before = replay(Placed(homes, {}), [run], sizes)["WORK"]
    made = replay(Placed(homes, {"WORK": ["x"]}), [run], sizes)["WORK"]
    assert (before.peak, before.loads, made.loads) == (1420, 2, 2)
    assert made.peak == 1420 + 920
    assert list(lines_of({"WORK": before}, {"WORK": made}))[-1].split()[-4:] == [
        "1,420",
        "2,340",
        "2",
        "2",
    ]


def test_the_weights_fit_any_profile():
    symbols, _ = read(RAN)
    assert Grouping(symbols, SIZES, OFTEN, [], {}).group()


# --- the file


def test_a_layout_is_written_and_read(tmp_path):
    made = Layout({"tenner.a:B.c": "x", "tenner.a:d": "x"}, {"WORK": ["x"]}, {"tenner.a:e"})
    path = tmp_path / "layout.json"
    path.write_text(text_of(made))
    assert read_layout(path) == made
    assert read_layout(tmp_path / "none.json") == Layout()
    path.write_text("{}")
    with pytest.raises(OverlayError, match="layout.json: .*: make it again"):
        read_layout(path)


def test_a_stale_layout_is_a_sentence():
    symbols, _ = read(RAN)
    known = Layout(dict.fromkeys(symbols.names, "x"), {"WORK": ["x", "y"]})
    assert gone(symbols, known) == unplaced(symbols, known) == ""
    known.homes["tenner.a:gone"] = "y"
    assert gone(symbols, known) == (
        "the layout has symbols that are gone (tenner.a:gone, 1 in all)"
    )
    assert tidied(symbols, known).phases == {"WORK": ["x"]}
    assert gone(symbols, tidied(symbols, known)) == unplaced(symbols, known) == ""
    assert "does not know" in unplaced(symbols, Layout())
