"""The agent's present state as JSON, from its console's answers."""

from __future__ import annotations

import json
import re
import time
from collections import deque
from typing import Any

from tenner_host.console.console import failing
from tenner_host.output import visible
from tenner_host.sensors.ring import Series
from tenner_host.sensors.shape import quantity_and_unit
from tenner_host.web.link import Talk

_VERSION = re.compile(r"^tenner (\S+), (.+)$")
_UP = re.compile(r"^up (\d+) h (\d+) min, heap (\d+) KB free, (\d+) KB used$")
_NETWORK = re.compile(r"^network (\w+), clock (.+)$")
_OUTBOX = re.compile(r"^outbox: (\d+) waiting$")
#: A condition of one value; of several, the task's value does not tell whose it is.
_ONE_TERM = re.compile(r"^([^ ]+\.[^ .]+) ")
#: Points of a sparkline, as a board sends, and the seconds that it covers.
_POINTS = 34
SPARK_S = 24 * 3600
_LIVE = 1000
_TIMES = {"at", "since", "last_run", "told"}


def ask(console: Talk) -> dict[str, Any]:
    """The state, the tasks and the next step."""
    status = console.ask_for("/status", lambda lines: lines[0].startswith("tenner "))
    tasks = entries(console.ask_for("/heartbeat json", _is_json))
    why = entries(console.ask_for("/why json", _is_json))
    return {
        "at": int(time.time()),
        "status": status_fields(status),
        "tasks": tasks,
        "decisions": [one for one in why if "task" in one],
        "next_s": next((one["next_s"] for one in why if "next_s" in one), None),
    }


def _is_json(lines: list[str]) -> bool:
    try:
        return all(isinstance(json.loads(line), (dict, list)) for line in lines)
    except ValueError:
        return False


def entries(lines: list[str]) -> list[dict[str, Any]]:
    """The objects of an answer, a line each; the agent says `[]` for none."""
    found = (json.loads(line, object_hook=_visible) for line in lines)
    return [one for one in found if isinstance(one, dict)]


def _visible(fields: dict[str, Any]) -> dict[str, Any]:
    """For the page: without hidden letters, and times without their zone, which is the board's."""
    found = {
        name: visible(value) if isinstance(value, str) else value for name, value in fields.items()
    }
    for name in _TIMES & found.keys():
        found[name] = found[name] and found[name][:16].replace("T", " ")
    return found


def status_fields(lines: list[str]) -> dict[str, Any]:
    """The parts of `/status` that a program reads, and all of it for people."""
    found: dict[str, Any] = {"lines": [visible(line) for line in lines]}
    for line in found["lines"]:
        if match := _VERSION.match(line):
            found.update(version=match[1], runtime=match[2])
        elif match := _UP.match(line):
            hours, minutes, free, used = (int(text) for text in match.groups())
            found["up_s"] = (hours * 60 + minutes) * 60
            found.update(heap_free_kb=free, heap_used_kb=used)
        elif match := _NETWORK.match(line):
            found.update(network=match[1], clock=match[2])
        elif match := _OUTBOX.match(line):
            found["outbox"] = int(match[1])
        elif line.startswith("telegram: "):
            found["telegram"] = line.removeprefix("telegram: ")
    return {**found, "failing": failing(found["lines"])}


class LiveValues:
    """The values of conditions, as the agent told them while this server runs."""

    def __init__(self) -> None:
        self._points: dict[str, deque[tuple[int, float]]] = {}

    def take(self, now: dict[str, Any]) -> None:
        for task in now["tasks"]:
            condition = str(task.get("condition", ""))
            found = _ONE_TERM.match(condition)
            value = task.get("value")
            if found is None or " and " in condition or " or " in condition:
                continue
            if isinstance(value, (int, float)):
                points = self._points.setdefault(found[1], deque(maxlen=_LIVE))
                if not points or points[-1][0] != now["at"]:
                    points.append((now["at"], float(value)))

    def series(self, stored: list[Series]) -> list[Series]:
        """The stored readings, each continued by newer values."""
        found = {one.name: Series(one.name, [*one.times], [*one.values]) for one in stored}
        for name, points in self._points.items():
            series = found.setdefault(name, Series(name))
            last = series.times[-1] if series.times else 0
            for at, value in points:
                if at > last:
                    series.times.append(at)
                    series.values.append(value)
        return [found[name] for name in sorted(found)]


def sparks(series: list[Series], now: int, every_s: float) -> list[dict[str, Any]]:
    """Each value's newest reading, marked as old after two times of `every_s`, and a curve of its
    last day."""
    found = []
    for one in series:
        day = one.since(now - SPARK_S)
        fields: dict[str, Any] = {
            "name": visible(one.name),
            "unit": quantity_and_unit(one)[1],
            "value": one.values[-1],
            "at": one.times[-1],
            "since": now - SPARK_S,
            "points": [
                [at - now + SPARK_S, round(value, 2)] for at, value in thinned(day, _POINTS)
            ],
        }
        if now - one.times[-1] > 2 * every_s:
            fields["old"] = True
        found.append(fields)
    return found


def in_owners_order(series: list[Series], sensors: bytes | None) -> list[Series]:
    """The series as SENSORS.json has their sensors, and behind them all others."""
    try:
        names = list(json.loads(sensors or b"{}"))
    except ValueError:
        # The board itself tells of the mistake.
        names = []
    places = {str(name): place for place, name in enumerate(names)}

    def place(one: Series) -> tuple[int, str]:
        return places.get(one.name.rpartition(".")[0], len(places)), one.name

    return sorted(series, key=place)


def thinned(series: Series, count: int) -> list[tuple[int, float]]:
    """At most about `count` points; of each group the lowest and the highest, so that no peak is
    lost."""
    points = list(zip(series.times, series.values, strict=True))
    if len(points) <= count:
        return points
    size = -(-len(points) * 2 // count)
    found: list[tuple[int, float]] = []
    for start in range(0, len(points), size):
        group = points[start : start + size]
        low = min(group, key=lambda point: point[1])
        high = max(group, key=lambda point: point[1])
        found += sorted({low, high})
    return found
