"""What the parts cost that a board loads when they are used: each driver and each tool.

Measured on the 32-bit interpreter beside the modules that the idle agent keeps: what loading one takes with all that it
needs, and what is left when a small board has let go of it, which is its names.
"""

from __future__ import annotations

import subprocess
import tempfile
from functools import cache
from pathlib import Path

from rich.console import Console
from rich.table import Table

from host_tools import FIRMWARE, build, interpreters
from host_tools.bench import code
from host_tools.bench.rows import NotMeasured, Row

# Loads the modules named last beside those named first, and lets go of what came with it.
_SCRIPT = """
import asyncio, gc, sys
import esp32, machine, network, ntptime
# The agent has used these by then: asyncio loads its parts with the first use.
asyncio.Lock, asyncio.Event, asyncio.wait_for, asyncio.open_connection
for name in sys.argv[1:-1]:
    __import__(name)
from tenner.store.modules import forget
keep = list(sys.modules)
# Names are kept in tables of some hundred; a fresh one, so that none falls due for whoever comes next.
size, number = gc.mem_alloc(), 0
while gc.mem_alloc() - size < 1000:
    size, number = gc.mem_alloc(), number + 1
    hasattr(gc, "name%d" % number)
sorted([number, size])  # nothing of the last name is left on the stack
gc.collect()
before = gc.mem_alloc()
for name in sys.argv[-1].split(","):
    __import__(name)
gc.collect()
used = gc.mem_alloc() - before
forget("tenner.", keep)
gc.collect()
print("loaded", used, gc.mem_alloc() - before)
"""
#: A tool is called through these, a sensor is read through the others.
_BESIDE = {
    "tool": ["tenner.tools.registry", "tenner.tools.runner", "tenner.tools.verify"],
    "driver": ["tenner.sensors.reading"],
    "channel": [],
}


def drivers() -> list[str]:
    """The modules that chips.tsv leads to."""
    lines = (FIRMWARE / "tenner/sensors/chips.tsv").read_text().splitlines()
    return sorted({line.split()[1] for line in lines})


def tools() -> list[str]:
    return sorted(path.stem for path in (FIRMWARE / "tenner/tools").glob("*.json"))


@cache
def _tree(libraries: tuple[str, ...] = ()) -> dict[str, bytes]:
    return build.firmware_tree(workspace=False, libraries=libraries)


def mqtt_kb() -> float:
    """KB of heap for the MQTT channel with its library."""
    modules = "chumicro_mqtt.client,tenner.channels.mqtt,tenner.net.rawsocket"
    return round(loading("channel", modules, ("mqtt",))[0] / 1024, 1)


@cache
def loading(kind: str, module: str, libraries: tuple[str, ...] = ()) -> tuple[int, int]:
    """Bytes of heap that a module takes with what it needs, and those that stay when it is let go."""
    try:
        found = interpreters.find_micropython32()
    except interpreters.InterpreterMissing as exc:
        raise NotMeasured(str(exc)) from exc
    with tempfile.TemporaryDirectory() as folder:
        build.write_tree({**_tree(libraries), **code.chip_tree()}, Path(folder))
        done = subprocess.run(
            found.command("-c", _SCRIPT, *code.resident_modules(), *_BESIDE[kind], module),
            cwd=folder,
            env={"MICROPYPATH": code.MODULE_PATH},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    words = done.stdout.split()
    if done.returncode or words[:1] != ["loaded"]:
        last = (done.stderr or done.stdout).strip().splitlines()[-1:] or ["no output"]
        raise NotMeasured(f"loading {module} failed: {last[0]}")
    return int(words[1]), int(words[2])


def rows() -> list[Row]:
    """`driver.sht.heap`, `.left` and `.mpy`; a tool has `.schema` too."""
    found = []
    for kind, package, names in (
        ("driver", "sensors", drivers()),
        ("tool", "tools", tools()),
    ):
        for name in names:
            module = f"tenner.{package}.{name}"
            path = f"/lib/tenner/{package}/{name}"

            def size(path: str) -> float:
                return len(_tree()[path])

            def heap(which: int, kind: str = kind, module: str = module) -> float:
                return loading(kind, module)[which]

            for figure, what, measure in (
                ("heap", "heap when it is loaded", lambda heap=heap: heap(0)),
                ("left", "heap that stays when it is let go", lambda heap=heap: heap(1)),
                ("mpy", "code on flash", lambda path=path: size(path + ".mpy")),
                ("schema", "in every prompt", lambda path=path: size(path + ".json")),
            ):
                if figure != "schema" or kind == "tool":
                    found.append(Row(f"{kind}.{name}.{figure}", what, "B", measure))
    return found


def show(measured: list[Row], console: Console) -> None:
    """One line for each part."""
    table = Table(title="loaded when used, in bytes", title_justify="left", box=None)
    table.add_column("part", no_wrap=True)
    for heading in ("heap", "left", "mpy", "schema"):
        table.add_column(heading, justify="right", no_wrap=True)
    parts: dict[str, dict[str, str]] = {}
    for row in measured:
        part, _, figure = row.name.rpartition(".")
        parts.setdefault(part, {})[figure] = "-" if row.value is None else f"{row.value:g}"
    for part, figures in parts.items():
        table.add_row(part, *(figures.get(name, "") for name in ("heap", "left", "mpy", "schema")))
    console.print(table, markup=False)
    for note in sorted({row.note for row in measured if row.note}):
        console.print(note, markup=False, highlight=False)
