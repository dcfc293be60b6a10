# tenner channels.status_lines: the answer to /status.
# MIT license; Copyright (c) 2026 the tenner authors

import json
import sys

from tenner import __version__, overlay
from tenner.agent import health
from tenner.port.compat import const
from tenner.sensors import ring
from tenner.sensors.units import unit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterator
    from typing import Any

    from tenner.types import Reporting, Shown

_GOAL = const(4096)  # bytes


def command(
    app: "Reporting", name: str, args: str, channel: str, chat: int | str
) -> "str | Coroutine[Any, Any, str]":
    """Return the answer to `/status [json]`, or a coroutine that returns it; see commands."""
    waiting = len(app.get("delivery").outbox)
    if args == "json":
        return overlay.step("COMMAND", as_json, app, waiting)
    return "\n".join(lines(app, waiting))


def lines(app: "Shown", waiting: int) -> "Iterator[str]":
    """Yield the lines of /status; `waiting` is the number of unsent messages."""
    free, used = app.port.memory()
    up_s = app.clock.mono_s()
    yield "tenner %s, %s %s" % (
        __version__,
        sys.implementation.name,
        ".".join(str(n) for n in sys.implementation.version[:3]),
    )
    yield "up %d h %d min, heap %d KB free, %d KB used" % (
        up_s // 3600,
        up_s // 60 % 60,
        free // 1024,
        used // 1024,
    )
    system = app.port.system_memory()
    if system:
        yield "for Wi-Fi and TLS: %d KB free, %d KB of it in one block, %d KB at the least" % (
            system[0] // 1024,
            system[1] // 1024,
            system[2] // 1024,
        )
        why = app.get("semaphore").why()
        if not why and system[2] < _GOAL and app.port.shares_memory:
            why = (
                "only %d KB were left at the worst moment, in place of %d: connections may fail"
                % (
                    system[2] // 1024,
                    _GOAL // 1024,
                )
            )
        if why:
            yield "memory: " + why
    yield "network %s, clock %s%s" % (
        "up" if app.port.network_up() else "down",
        app.now_text(),
        " (%s)" % app.get("zone").name(app.clock.now()) if app.clock.trusted else "",
    )
    if app.telegram is not None:
        yield "telegram: " + app.telegram.status
    yield "outbox: %d waiting" % waiting
    for sentence in health.sentences():
        yield "failing: " + sentence


async def as_json(app: "Shown", waiting: int) -> str:
    """Return the same as JSON, for programs, with the newest stored reading of each sensor."""
    free, used = app.port.memory()
    system = app.port.system_memory()
    names = ("free_bytes", "largest_block_bytes", "least_free_bytes")
    now = app.clock.now() if app.clock.trusted else 0
    zone = app.get("zone")
    runtime = sys.implementation
    found = {
        "at": zone.iso(now) if now else None,
        "versions": {
            "tenner": __version__,
            "runtime": runtime.name,
            "runtime_version": ".".join([str(n) for n in runtime.version[:3]]),
        },
        "uptime_s": app.clock.mono_s(),
        "heap": {"free_bytes": free, "used_bytes": used},
        "system_memory": dict(zip(names, system)) if system else None,
        "network_up": bool(app.port.network_up()),
        "telegram": app.telegram.status if app.telegram is not None else None,
        "unsent_messages": waiting,
        "services": health.services(),
        "sensors": await _newest(app, zone, now),
    }
    return json.dumps(found)


async def _newest(app: "Shown", zone, now):
    found = []
    kept = ring.of(app.state, app.config)
    for name in kept.names():
        newest: "list[Any]" = []

        def take(at, value, newest=newest):
            newest[:] = (at, value)

        await kept.visit(name, 0, now, take)
        # JSON has no infinity.
        if newest and abs(newest[1]) < 1e38:
            found.append(
                {
                    "name": name,
                    "value": newest[1],
                    "unit": unit(name.rpartition(".")[2]) or "",
                    "at": zone.iso(newest[0]),
                    "age_s": now - newest[0],
                }
            )
    return found
