# tenner page.now: the board's and the agent's present state, and past runs.
# MIT license; Copyright (c) 2026 the tenner authors
"""
The answer goes out in steps: a board without PSRAM has memory for the code of one of them. So no
step calls another, and `send` keeps little between them.
"""

from tenner import __version__, log, overlay
from tenner.agent import health
from tenner.channels import status_lines
from tenner.channels.console import KEPT
from tenner.page import readings
from tenner.page.connection import NO_STORE
from tenner.schedule import schedule_files, status

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    from tenner.page.channel import Page
    from tenner.page.connection import Connection
    from tenner.page.types import Application
    from tenner.schedule.types import Service


_CHANGED = "HEARTBEAT.md has changed, and the agent has not read it yet: look again in a moment."


async def send(page: "Page", connection: "Connection") -> None:
    """Send the present state, the tasks, the next step and the sensors."""
    app = page.app
    heartbeat = app.get("heartbeat")
    waiting = await overlay.step("VIEW", count_waiting, app)
    next_s, wake_s, is_read = await overlay.step("VIEW", times, heartbeat)
    await overlay.step("VIEW", send_status, page, connection, waiting)
    await connection.put(', "next_s": ')
    await connection.put_value(wake_s)
    await connection.put(', "tasks": ')
    await overlay.step("VIEW", send_tasks, heartbeat, connection, next_s)
    await connection.put(', "decisions": ')
    await overlay.step("VIEW", send_decisions, heartbeat, connection)
    await connection.put('}, "problem": ')
    await connection.put_value(None if is_read else _CHANGED)
    await connection.put(', "sensors": [')
    await overlay.step("VIEW", readings.sparks, app, connection)
    await connection.put('], "files_at": %d}' % app.clock.now())
    await connection.flush()


async def count_waiting(app: "Application") -> int:
    """Return the number of messages in the outbox."""
    return len(app.get("delivery").outbox)


async def times(heartbeat: "Service") -> "tuple[list[int | None], int | None, bool]":
    """Return (seconds until the next look at each task, and at anything; are the tasks those of
    the file?)."""
    found = await status.times(heartbeat), await status.wake_s(heartbeat)
    is_read = schedule_files.of(heartbeat).signature() == heartbeat.signature
    if not is_read:
        heartbeat.poke()
    return found + (is_read,)


async def send_status(page: "Page", connection: "Connection", waiting: int) -> None:
    """Send the board, the lines of /status, and their parts that a program reads."""
    app = page.app
    with connection:
        await connection.start(200, "application/json", (NO_STORE,))
        await connection.put('{"board": ')
        await connection.put_value(about(page))
        await connection.put(', "agent": {"at": %d, "status": ' % app.clock.now())
        await connection.put_value(_status(app, waiting))


def _status(app: "Application", waiting):
    lines = list(status_lines.lines(app, waiting))
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
        "outbox": waiting,
        "failing": health.sentences(),
    }
    if app.telegram is not None:
        found["telegram"] = app.telegram.status
    return found


async def send_tasks(
    heartbeat: "Service", connection: "Connection", next_s: "Sequence[int | None]"
) -> None:
    """Send the tasks of HEARTBEAT.md."""
    with connection:
        await connection.put_value(_visible(status.tasks(heartbeat, next_s)))


async def send_decisions(heartbeat: "Service", connection: "Connection") -> None:
    """Send the last decisions, as /why has them."""
    with connection:
        await connection.put_value(_visible(status.decisions(heartbeat)))


async def send_log(page: "Page", connection: "Connection", is_guest: bool) -> None:
    """Send the log and the past runs; no lines to a guest, since one may have a pairing code."""
    found = {
        "last_event": page.last_event(),
        "lines": [] if is_guest else page.log_lines(),
        "runs": _visible(status.recent(page.app.get("heartbeat"), page.runs)),
    }
    await connection.answer(200, found)


def _visible(found: "Iterable[dict[str, Any]]") -> "Iterator[dict[str, Any]]":
    for fields in found:
        for name in fields:
            if isinstance(fields[name], str):
                fields[name] = log.visible(fields[name], KEPT)
        yield fields


def about(page: "Page") -> "dict[str, Any]":
    """Return the board and its connection as JSON."""
    name = page.app.config.get("name")
    return {
        "label": name,
        "name": name,
        "state": "connected",
        "text": "",
        "restarts_for_files": False,
    }
