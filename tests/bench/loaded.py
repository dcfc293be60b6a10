"""The heap that each overlay takes when it is loaded, and the bytes of each tool in a prompt.

Measured on the 32-bit interpreter beside the core: the heap that loading an overlay takes, and the
rest that stays after its eviction, which is its names.
"""

from __future__ import annotations

from functools import cache

from rich.console import Console
from rich.table import Table

from tenner_host import FIRMWARE, build
from tests.bench import code
from tests.bench.rows import Row

# Loads modules beside the core, and evicts everything that came with them.
_SCRIPT = """
import asyncio, gc, sys
import esp32, machine, network, ntptime
# The agent has used these already: asyncio loads its parts on first use.
asyncio.Lock, asyncio.Event, asyncio.wait_for, asyncio.open_connection
import tenner.app
keep = list(sys.modules)
# A table holds some hundred names; begin a fresh one, so that the next module needs none.
size, number = gc.mem_alloc(), 0
while gc.mem_alloc() - size < 1000:
    size, number = gc.mem_alloc(), number + 1
    hasattr(gc, "name%d" % number)
sorted([number, size])  # nothing of the last name is left on the stack
gc.collect()
before = gc.mem_alloc()
for name in sys.argv[1:]:
    __import__(name)
gc.collect()
used = gc.mem_alloc() - before
for name in [one for one in sys.modules if one not in keep]:
    package, _, leaf = name.rpartition(".")
    del sys.modules[name]
    if hasattr(sys.modules.get(package), leaf):
        delattr(sys.modules[package], leaf)
gc.collect()
print("measured", used, gc.mem_alloc() - before)
"""
_FOLDER = "/lib/tenner/"
_FIGURES = ("heap", "left", "mpy")


@cache
def _tree() -> dict[str, bytes]:
    return build.firmware_tree(workspace=False, form=build.Form.FILES)


def overlays() -> list[str]:
    """The overlays of the build, without the core."""
    paths = [path for path in _tree() if path.startswith(_FOLDER) and path.endswith(".mpy")]
    names = [path.removeprefix(_FOLDER).removesuffix(".mpy") for path in paths]
    return [name for name in names if name != "app"]


def tools() -> dict[str, int]:
    """Bytes of the schema of each tool that a chip has, which is in every prompt."""
    return {
        path.stem: len(build.minify_json(path.read_bytes(), path.name))
        for path in sorted((FIRMWARE / "tenner/tools").glob("*.json"))
        if path.stem != "exec"
    }


def mqtt_kb() -> float:
    """KB of heap for the code of the MQTT channel that stays."""
    return round(loading("tenner.mqtt_channel")[0] / 1024, 1)


@cache
def loading(*modules: str) -> tuple[int, int]:
    """Return the bytes of heap that modules and their imports take, and the bytes that stay after
    eviction."""
    what = f"loading {' and '.join(modules)}"
    taken, left = code.measured(_tree(), _SCRIPT, *modules, what=what)
    return taken, left


def rows() -> list[Row]:
    """`overlay.turn.heap`, `.left` and `.mpy`; `tool.i2c.schema`."""
    found = []
    for name in overlays():

        def heap(which: int, name: str = name) -> float:
            return loading(f"tenner.{name}")[which]

        def size(name: str = name) -> float:
            return len(_tree()[f"{_FOLDER}{name}.mpy"])

        for figure, what, measure in (
            ("heap", "heap when it is loaded", lambda heap=heap: heap(0)),
            ("left", "heap that stays when it is evicted", lambda heap=heap: heap(1)),
            ("mpy", "code on flash", size),
        ):
            found.append(Row(f"overlay.{name}.{figure}", what, "B", measure))
    for name, length in tools().items():

        def schema(length: int = length) -> float:
            return length

        found.append(Row(f"tool.{name}.schema", "in every prompt", "B", schema))
    return found


def show(measured: list[Row], console: Console) -> None:
    """One line for each part."""
    table = Table(title="loaded when used, in bytes", title_justify="left", box=None)
    table.add_column("part", no_wrap=True)
    for heading in (*_FIGURES, "schema"):
        table.add_column(heading, justify="right", no_wrap=True)
    parts: dict[str, dict[str, str]] = {}
    for row in measured:
        part, _, figure = row.name.rpartition(".")
        parts.setdefault(part, {})[figure] = "-" if row.value is None else f"{row.value:g}"
    for part, figures in parts.items():
        table.add_row(part, *(figures.get(name, "") for name in (*_FIGURES, "schema")))
    console.print(table, markup=False)
    for note in sorted({row.note for row in measured if row.note}):
        console.print(note, markup=False, highlight=False)
