# tenner page.now: the agent's present state, and its past runs.
# MIT license; Copyright (c) 2026 the tenner authors

import json

from tenner import __version__, log
from tenner.channels.console import KEPT
from tenner.port.compat import const
from tenner.schedule.occurrences import Occurrences

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from tenner.app import App
    from tenner.page.channel import Page

_RUNS = const(200)


async def agent(page: "Page") -> "dict[str, Any]":
    """Return the state, the tasks and the next step, as the commands tell them."""
    app = page.app
    lines = await page.command("/status")
    tasks = await page.command("/heartbeat json")
    why = _objects(await page.command("/why json"))
    next_s = None
    for one in why:
        next_s = one.get("next_s", next_s)
    return {
        "at": app.clock.now(),
        "status": _status(app, lines.split("\n")),
        "tasks": _objects(tasks),
        "decisions": [one for one in why if "task" in one],
        "next_s": next_s,
    }


def _status(app, lines):
    free, used = app.port.memory()
    found = {
        "lines": lines,
        "version": __version__,
        "runtime": lines[0].partition(", ")[2],
        "up_s": app.clock.mono_s(),
        "heap_free_kb": free // 1024,
        "heap_used_kb": used // 1024,
        "network": "up" if app.port.network_up() else "down",
        "clock": app.now_text(),
        "outbox": len(app.get("delivery").outbox),
    }
    if app.telegram is not None:
        found["telegram"] = app.telegram.status
    return found


def runs(app: "App") -> "list[dict[str, Any]]":
    """Return the last entries of the run log, oldest first."""
    entries = Occurrences(app.get("heartbeat")).log.tail(_RUNS)
    return [_visible(entry) for entry in entries if isinstance(entry, dict)]


def _objects(text):
    """Return the objects of an answer, a line each; the agent says `[]` for none."""
    found = [json.loads(line) for line in text.split("\n")]
    return [_visible(one) for one in found if isinstance(one, dict)]


def _visible(fields):
    for name in fields:
        if isinstance(fields[name], str):
            fields[name] = log.visible(fields[name], KEPT)
    return fields
