"""Overlays come and go on a real MicroPython: firmware/tenner/overlay_loader.py with the names
that the build fills in."""

import pytest

from mpy_linker import bundle
from tenner_host import FIRMWARE, interpreters
from tests.host.overlays_heap import looks, stale
from tests.host.overlays_support import MAIN, both, named, package, run, table, write

INTERPRETERS = ("micropython", "micropython32")

#: An agent of four overlays that prints the code in memory.
MODULES = {
    "app": """
import asyncio
import gc
from tenner import overlay, overlay_loader
from tenner.one import Kept, first
from tenner.two import second

class Holder:
    kept = None

holder = Holder()

def alive():
    print(overlay_loader.phase, sorted(overlay_loader.held))

async def steps():
    print(await overlay.run("ONE", first, 1))
    alive()
    print(await overlay.run("TWO", second, 2))
    alive()
    overlay_loader.load("two")
    try:
        print(await overlay.run("BOTH", leave))
    except KeyError as error:
        print("left", error)
    alive()

async def leave():
    print(await second(3), first.__name__ != "")
    raise KeyError("out")

def main():
    overlay.configure(True)
    asyncio.run(steps())
""",
    "one": """
class Kept:
    def look(self): return 5
async def first(n):
    from tenner.app import alive
    alive()
    return "first %d" % n
""",
    "two": """
from tenner import overlay, overlay_loader
from tenner.app import alive
from tenner.three import third
async def second(n):
    alive()
    return "second %s" % third(n)
""",
    "three": "def third(n): return n * 10\n",
}
OVERLAYS = {"core": ["app"], "one": ["one"], "two": ["two"], "three": ["three"]}
PHASES = {
    "BOOT": [],
    "IDLE": [],
    "ONE": ["one"],
    "TWO": ["two", "three"],
    "BOTH": ["one", "two", "three"],
}


def built(folder, modules, overlays=None, debug=False, is_packed=False, **rest):
    phases = rest.pop("phases", PHASES)
    names = table(dict(overlays or OVERLAYS), phases=phases, **rest)
    files = package(modules)
    made = bundle(files, names, scripts={"main.py": MAIN}, debug=debug, is_packed=is_packed)
    write(made, folder)
    return made


def find(name):
    return getattr(interpreters, f"find_{name}")()


@pytest.mark.parametrize("is_packed", [False, True])
@pytest.mark.parametrize("name", INTERPRETERS)
def test_a_phase_has_what_it_may_hold_and_idle_nothing(tmp_path, name, is_packed):
    modules = dict(MODULES, app=MODULES["app"].replace('    overlay_loader.load("two")\n', ""))
    made = built(tmp_path, modules, is_packed=is_packed)
    printed = run(tmp_path, find(name))
    for overlay, name in made.places.items():
        printed = printed.replace(f"'{name}'", f"'{overlay}'")
    assert named(printed, PHASES) == [
        "ONE ['one']",
        "first 1",
        "IDLE []",
        "TWO ['two']",
        "second 20",
        "IDLE []",
        "BOTH ['two']",
        "second 30 True",
        "left out",
        "IDLE []",
    ]


#: The steps of an agent whose heap has room to spare, until a step runs out of memory.
ROOMY = MODULES["app"].replace(
    """    overlay.configure(True)
    asyncio.run(steps())
""",
    """    overlay.configure(True, None, 1 << 20)
    asyncio.run(roomy())

async def roomy():
    print(await overlay.run("ONE", first, 1))
    alive()
    print(await overlay.run("TWO", second, 2))
    alive()
    print(await overlay.run("ONE", short))
    alive()

async def short():
    if not holder.kept:
        holder.kept = True
        raise MemoryError
    return "short"
""",
)


def test_overlays_stay_while_there_is_room_and_no_step_ran_out_of_it(tmp_path):
    built(tmp_path, dict(MODULES, app=ROOMY))
    assert named(run(tmp_path, find("micropython32")), PHASES) == [
        "ONE ['one']",
        "first 1",
        "IDLE ['one']",
        "TWO ['one', 'two']",
        "second 20",
        "IDLE ['one', 'three', 'two']",
        "short",
        "IDLE []",
    ]


#: An agent that loads an overlay with each number of free blocks, down to none.
FULL = """
import gc
from tenner.two import second

def main():
    seen = []
    for free in range(0, 16384, 16):
        error = attempt(free)
        if error is None:
            break
        if error not in seen:
            seen.append(error)
    print(seen, error)

def attempt(free):
    gc.collect()
    room = bytearray(free)
    chain = None
    try:
        while True:
            chain = [chain]
    except MemoryError:
        room = None
    gc.collect()
    try:
        second(1)
    except Exception as error:
        chain = None
        return type(error).__name__
"""


@pytest.mark.parametrize("is_packed", [False, True])
@pytest.mark.parametrize("name", INTERPRETERS)
def test_no_memory_to_look_for_an_overlay_is_no_missing_file(tmp_path, name, is_packed):
    modules = {"app": FULL, "two": "def second(n): return n\n"}
    phases = {"BOOT": [], "IDLE": [], "TWO": ["two"]}
    built(tmp_path, modules, {"core": ["app"], "two": ["two"]}, phases=phases, is_packed=is_packed)
    assert run(tmp_path, find(name)) == "['MemoryError'] None\n"


def test_a_module_that_an_overlay_misses_is_no_lack_of_memory(tmp_path):
    modules = {
        "app": """
from tenner.two import second
def main():
    try:
        second(1)
    except ImportError as error:
        print(error)
""",
        "two": "import nowhere\ndef second(n): return nowhere\n",
    }
    phases = {"BOOT": [], "IDLE": [], "TWO": ["two"]}
    built(tmp_path, modules, {"core": ["app"], "two": ["two"]}, phases=phases)
    assert run(tmp_path, find("micropython32")) == "no module named 'nowhere'\n"


def test_a_debug_build_keeps_no_overlay(tmp_path):
    built(tmp_path, dict(MODULES, app=ROOMY), debug=True)
    found = looks(run(tmp_path, find("micropython32")).splitlines())
    assert [look.phase for look in found] == ["ONE", "IDLE", "TWO", "IDLE", "ONE", "ONE", "IDLE"]
    assert stale(found) == []


def test_a_debug_build_shows_what_is_alive(tmp_path):
    modules = dict(MODULES, app=MODULES["app"].replace('    overlay_loader.load("two")\n', ""))
    built(tmp_path / "right", modules, debug=True)
    found = looks(run(tmp_path / "right", find("micropython32")).splitlines())
    assert [look.phase for look in found] == ["ONE", "IDLE", "TWO", "IDLE", "BOTH", "IDLE"]
    assert stale(found) == []
    # An object of an overlay's class that outlives the phase keeps all of the overlay's code.
    wrong = modules["app"].replace(
        "    print(await second(3)", "    holder.kept = Kept()\n    print(await second(3)"
    )
    built(tmp_path / "wrong", dict(modules, app=wrong), debug=True)
    found = looks(run(tmp_path / "wrong", find("micropython32")).splitlines())
    assert stale(found) == ["IDLE (after BOTH): 1 too many: one"]


DYNAMIC = {
    "app": """
from tenner import overlay, overlay_loader
def main():
    for name in ("i2c", "spi", "none"):
        try:
            tool = overlay_loader.module("tenner.tools." + name)
        except ImportError:
            print("there is no", name)
            continue
        print(tool.run(5), hasattr(tool, "check"), getattr(tool, "DEADLINE_S", 60), tool.Broken.__name__)
""",  # noqa: E501
    "errors": "class Broken(Exception): pass\n",
    "tools.i2c": "from tenner.errors import Broken\nDEADLINE_S = 5\ndef run(n): return 'i2c', n\n"
    "def check(n): pass\n",
    "tools.spi": (
        "from tenner.errors import Broken\ndef run(n): return _more(n)\n"
        "def _more(n): return 'spi', n\n"
    ),
}


def test_modules_are_found_by_name(tmp_path):
    printed = both(
        tmp_path,
        DYNAMIC,
        {"core": ["app", "errors"], "buses": ["tools.i2c"], "spi": ["tools.spi"]},
        dynamic={"tenner.tools": ["run", "check", "DEADLINE_S", "Broken"]},
    )
    assert printed == ("('i2c', 5) True 5 Broken\n('spi', 5) False 60 Broken\nthere is no none\n")


OWNED = {
    "app": """
import sys
from tenner.store import expose
def main():
    tool = expose.load("tools", "mine")
    print(tool.run())
    print([name for name in sorted(sys.modules) if name.startswith("tenner.") and len(name) > 12])
    try:
        expose.load("tools", "wrong")
    except ImportError as error:
        print("ImportError")
""",
    "sensors.checks": "from tenner.port.compat import const\n_X = const(5)\nLIMIT = 7\n"
    "def crc8(data, start=0): return len(data) + start + _X\nclass Check:\n"
    "    def both(self, more): return more\n",
    "sensors": "class SensorError(Exception): pass\n",
    "log": "def log(area, text): print(area, text)\n",
    "inner": "def hidden(): pass\n",
}
MINE = """
import tenner.log
from tenner.log import log
from tenner.sensors import SensorError, checks
from tenner.sensors.checks import crc8, Check
from tenner.port.compat import const, ticks_diff
_SIZE = const(3)
def run():
    log("mine", tenner.log.log == log)
    return crc8(b"12", start=1), checks.LIMIT, Check().both(more=4), SensorError.__name__, _SIZE, ticks_diff(5, 3)
"""  # noqa: E501


@pytest.mark.parametrize("name", INTERPRETERS)
def test_owners_files_import_what_they_may_by_its_name(tmp_path, name):
    overlays = {
        "core": ["app", "sensors"],
        "own": ["store.expose", "log", "inner"],
        "drivers": ["sensors.checks"],
    }
    expose = (FIRMWARE / "tenner" / "store" / "expose.py").read_text()
    sources = package({**OWNED, "store.expose": expose})
    sources["tenner/sensors/__init__.py"] = sources.pop("tenner/sensors.py")
    api = ["tenner.log", "tenner.sensors", "tenner.sensors.checks", "tenner.port.compat"]
    names = table(dict(overlays), api=api)
    write(bundle(sources, names, scripts={"main.py": MAIN}), tmp_path)
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "mine.py").write_text(MINE)
    (tmp_path / "tools" / "wrong.py").write_text("from tenner.inner import hidden\n")
    printed = run(tmp_path, find(name))
    assert printed.splitlines() == [
        "mine True",
        "(8, 7, 4, 'SensorError', 3, 2)",
        "[]",
        "ImportError",
    ], printed
