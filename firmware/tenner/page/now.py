# tenner page.now: the agent's present state, and its past runs.
# MIT license; Copyright (c) 2026 the tenner authors

import json

from tenner import __version__, log, overlay
from tenner.channels.console import KEPT
from tenner.page import board, readings
from tenner.schedule.occurrences import Occurrences

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from tenner.app import App
    from tenner.page.channel import Page
    from tenner.page.connection import Connection


async def send(page: "Page", connection: "Connection") -> None:
    """Send the present state, the tasks and the next step, as the commands tell them."""
    # A step each: memory has room for the code of one command.
    status = await overlay.step("VIEW", page.command, "/status")
    tasks = await overlay.step("VIEW", page.command, "/heartbeat json")
    why = await overlay.step("VIEW", page.command, "/why json")
    await connection.start(200, "application/json", ("Cache-Control: no-store",))
    await connection.put('{"board": ')
    await connection.put_value(board.about(page))
    await connection.put(', "problem": null, "agent": ')
    await overlay.step("VIEW", _send_agent, page, connection, [status, tasks, why])
    status = tasks = why = None
    await connection.put(', "sensors": [')
    await overlay.step("VIEW", readings.sparks, page.app, connection)
    await connection.put('], "files_at": %d}' % page.app.clock.now())
    await connection.flush()


async def _send_agent(page, connection, texts):
    why = _objects(texts[2])
    next_s = None
    for one in why:
        next_s = one.get("next_s", next_s)
    found = {
        "at": page.app.clock.now(),
        "status": _status(page.app, texts[0].split("\n")),
        "tasks": _objects(texts[1]),
        "decisions": [one for one in why if "task" in one],
        "next_s": next_s,
    }
    await connection.put_value(found)


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


async def send_log(page: "Page", connection: "Connection", is_guest: bool) -> None:
    """Send the log and the past runs; no lines to a guest, since one may have a pairing code."""
    found = {
        "last_event": page.last_event(),
        "lines": [] if is_guest else page.log_lines(),
        "runs": runs(page.app, page.runs),
    }
    await connection.answer(200, found)


def runs(app: "App", count: int) -> "list[dict[str, Any]]":
    """Return the last entries of the run log, oldest first."""
    entries = Occurrences(app.get("heartbeat")).log.tail(count)
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
