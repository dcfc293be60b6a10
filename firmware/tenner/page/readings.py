# tenner page.readings: the stored readings, for curves, plots and scripts.
# MIT license; Copyright (c) 2026 the tenner authors

import json
import time

from tenner.page.request import Refused
from tenner.port.compat import const, sleep_ms
from tenner.sensors.ring import Ring
from tenner.sensors.units import unit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from tenner.app import App
    from tenner.page.channel import Page
    from tenner.page.connection import Connection
    from tenner.page.request import Request

_DAY_S = const(86400)
_SPARK_POINTS = const(96)
_POINTS = const(4000)
_YEAR_H = const(8784)
#: The longest text of CSV that waits to be sent.
_FULL = const(4096)
_CSV_HEAD = ('Content-Disposition: attachment; filename="readings.csv"', "Cache-Control: no-store")


class Thinned:
    """
    Takes readings between two times and keeps about `count` of them: the lowest and the highest of
    each of equal spans, so that no peak is lost.
    """

    def __init__(self, since: int, until: int, count: int) -> None:
        self._since = since
        self._step = max((until - since) * 2 // count, 1)
        self._points: list = []
        self._span: int | None = None
        self._low = self._high = (0, 0.0)
        #: The newest reading.
        self.last: tuple[int, float] | None = None

    def take(self, time: int, value: float) -> None:
        if not abs(value) < 1e38:
            # JSON has no infinity.
            return
        point = (time, value)
        span = (time - self._since) // self._step
        if span != self._span:
            self._keep()
            self._span = span
            self._low = self._high = point
        elif value < self._low[1]:
            self._low = point
        elif value >= self._high[1]:
            self._high = point
        if self.last is None or time >= self.last[0]:
            self.last = point

    def points(self) -> list:
        """Return the points by time."""
        self._keep()
        self._span = None
        # The clock may have been set back.
        self._points.sort()
        return self._points

    def _keep(self):
        if self._span is not None:
            self._points.append(self._low)
            if self._high != self._low:
                self._points.append(self._high)


def _ring(app):
    return Ring(app.state + "/readings", app.config.get("sensors.history_kb") * 1024)


def _live(app):
    """Return {name: value} of the conditions' sensors, which are read more often than stored."""
    found = {}
    for task in app.get("heartbeat").tasks or ():
        condition = task.condition
        # Of several values, the one that was seen does not tell whose it is.
        if condition and not condition.also and condition.seen is not None:
            found[condition.name()] = condition.seen
    return found


async def sparks(app: "App") -> "list[dict[str, Any]]":
    """Return each value's newest reading, and a curve of its last day."""
    now = app.clock.now()
    ring = _ring(app)
    live = _live(app)
    found = []
    for name in sorted(set(ring.names() + list(live))):
        thinned = Thinned(now - _DAY_S, now, _SPARK_POINTS)
        await ring.visit(name, now - _DAY_S, now, thinned.take)
        if name in live:
            thinned.take(now, live[name])
        if thinned.last:
            at, value = thinned.last
            found.append(
                {
                    "name": name,
                    "unit": _unit(name),
                    "value": value,
                    "at": at,
                    "points": thinned.points(),
                }
            )
    return found


async def send(page: "Page", connection: "Connection", request: "Request") -> None:
    """Send the series of the readings, one after the other."""
    hours, names = _asked(request)
    ring = _ring(page.app)
    now = page.app.clock.now()
    since = now - int(hours * 3600)
    await connection.start(200, "application/json", ("Cache-Control: no-store",))
    text = '{"series": ['
    for name in _chosen(ring, names):
        thinned = Thinned(since, now, _POINTS)
        await ring.visit(name, since, now, thinned.take)
        points = thinned.points()
        if points:
            series = {"name": name, "unit": _unit(name), "points": points}
            await connection.send((text + json.dumps(series)).encode())
            text = ", "
    await connection.send(((text if text[0] == "{" else "") + "]}").encode())


async def send_csv(page: "Page", connection: "Connection", request: "Request") -> None:
    """Send every stored reading as a row."""
    hours, names = _asked(request)
    ring = _ring(page.app)
    now = page.app.clock.now()
    rows = ["time,name,value\n"]
    await connection.start(200, "text/csv", _CSV_HEAD)

    async def send_rows(limit):
        if sum([len(row) for row in rows]) >= limit:
            data = "".join(rows).encode()
            rows[:] = []
            await connection.send(data)
        await sleep_ms(0)

    for name in _chosen(ring, names):
        quoted = '"%s"' % name.replace('"', '""')

        def take(at, value, quoted=quoted):
            moment = tuple(time.gmtime(at)[:6])
            rows.append("%d-%02d-%02dT%02d:%02d:%02dZ,%s,%g\n" % (moment + (quoted, value)))

        await ring.visit(name, now - int(hours * 3600), now, take, lambda _: send_rows(_FULL))
    await send_rows(1)


def _asked(request):
    """Return (hours, beginnings of names) of the query."""
    text = (request.asked("hours") or ["24"])[-1]
    try:
        hours = float(text)
    except ValueError:
        hours = 0.0
    if not 0 < hours <= _YEAR_H:
        raise Refused(400, "hours must be a number over 0, up to a year")
    return hours, request.asked("name")


def _chosen(ring, names):
    for name in ring.names():
        if not names or any(name.startswith(one) for one in names):
            yield name


def _unit(name):
    return unit(name.rpartition(".")[2])
