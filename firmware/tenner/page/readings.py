# tenner page.readings: the stored readings, for curves, plots and scripts.
# MIT license; Copyright (c) 2026 the tenner authors

import json

from tenner.page.request import Refused
from tenner.port.compat import const, sleep_ms
from tenner.schedule import notices
from tenner.sensors import ring
from tenner.sensors.units import unit
from tenner.store import files
from tenner.store.posix_tz import Zone

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tenner.page.channel import Page
    from tenner.page.connection import Connection
    from tenner.page.request import Request
    from tenner.page.types import Application

_DAY_S = const(86400)
# So that those of 18 series fit into 12 KB.
_SPARK_POINTS = const(34)
_POINTS = const(4000)
_YEAR_H = const(8784)
_CSV_HEAD = ('Content-Disposition: attachment; filename="readings.csv"', "Cache-Control: no-store")


class Thinned:
    """
    Takes readings between two times and passes about `count` of them to `keep(time, value)`: the
    lowest and the highest of each of equal spans, so that no peak is lost.
    """

    def __init__(
        self, since: int, until: int, count: int, keep: "Callable[[int, float], None]"
    ) -> None:
        self._since = since
        self._step = max((until - since) * 2 // count, 1)
        self._pass = keep
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
            self.end()
            self._span = span
            self._low = self._high = point
        elif value < self._low[1]:
            self._low = point
        elif value >= self._high[1]:
            self._high = point
        if self.last is None or time >= self.last[0]:
            self.last = point

    def end(self) -> None:
        """Pass on the rest."""
        if self._span is not None:
            self._span = None
            first, second = sorted((self._low, self._high))
            self._pass(*first)
            if first != second:
                self._pass(*second)


def _live(app: "Application"):
    """Return {name: value} of the conditions' sensors, which are read more often than stored."""
    found = {}
    heartbeat = app.get("heartbeat")
    for task in heartbeat.tasks or ():
        condition = task.condition
        # Of several values, the one that was seen does not tell whose it is.
        if condition and not condition.also and condition.seen is not None:
            fault = heartbeat.faults.get(condition.sensor)
            if not (fault and fault[notices.COUNT]):
                found[condition.name()] = condition.seen
    return found


def in_owners_order(workspace: str, names: "Iterable[str]") -> "list[str]":
    """Return the names of values as SENSORS.json has their sensors, and behind them all others."""
    places = {}
    path = workspace + "/SENSORS.json"
    lines = files.lines_of(files.blocks(path)) if files.exists(path) else ()
    for number, line in enumerate(lines):
        for name in names:
            at = line.find(b'"%s"' % name.rpartition(".")[0].encode())
            if at >= 0 and name not in places:
                places[name] = (number, at)
    return sorted(names, key=lambda name: (places.get(name, (1 << 30, 0)), name))


async def sparks(app: "Application", connection: "Connection") -> None:
    """Put a curve of each value's last day, and its newest reading, into the answer."""
    now = app.clock.now()
    kept = ring.of(app.state, app.config)
    live = _live(app)
    old_s = 2 * app.config.get("sensors.every")
    mark = ""
    with connection:
        for name in in_owners_order(app.workspace, set(kept.names() + list(live))):
            points = _Points(connection, mark, name, now - _DAY_S)
            thinned = Thinned(now - _DAY_S, now, _SPARK_POINTS, points.keep)
            await kept.visit(name, now - _DAY_S, now, thinned.take, points.send)
            if name in live:
                thinned.take(now, live[name])
            thinned.end()
            await points.send()
            if thinned.last:
                at, value = thinned.last
                old = ', "old": true' if now - at > old_s else ""
                await connection.put('], "value": %s, "at": %d%s}' % (json.dumps(value), at, old))
                mark = ", "


class _Points:
    """The points of a series, sent as they come: as numbers they would take 64 bytes each. `mark`
    and the name come before the first. Times are seconds behind `since`, which is sent too, and
    values have two decimals; without it both are complete."""

    def __init__(self, connection: "Connection", mark: str, name: str, since: int = 0) -> None:
        self._connection = connection
        self._since = since
        about = '{"name": %s, "unit": %s, ' % (json.dumps(name), json.dumps(_unit(name)))
        if since:
            about += '"since": %d, ' % since
        self._mark = mark + about + '"points": ['
        self._held: list[str] = []
        #: Was any sent?
        self.any = False

    def keep(self, at: int, value: float) -> None:
        value = json.dumps(round(value, 2) if self._since else value)
        self._held.append("[%d,%s]" % (at - self._since, value))

    async def send(self, _: int = 0) -> None:
        """Send those kept so far."""
        for point in self._held:
            await self._connection.put(self._mark + point)
            self._mark = ","
            self.any = True
        self._held = []
        await sleep_ms(0)


async def send(page: "Page", connection: "Connection", request: "Request") -> None:
    """Send the series of the readings, one after the other."""
    hours, names = _asked(request)
    kept = ring.of(page.app.state, page.app.config)
    now = page.app.clock.now()
    since = now - int(hours * 3600)
    await connection.start(200, "application/json", ("Cache-Control: no-store",))
    await connection.put('{"series": [')
    mark = ""
    for name in _chosen(kept, names):
        points = _Points(connection, mark, name)
        thinned = Thinned(since, now, _POINTS, points.keep)
        await kept.visit(name, since, now, thinned.take, points.send)
        thinned.end()
        await points.send()
        if points.any:
            await connection.put("]}")
            mark = ", "
    await connection.put("]}")
    await connection.flush()


async def send_csv(page: "Page", connection: "Connection", request: "Request") -> None:
    """Send every stored reading as a row."""
    hours, names = _asked(request)
    kept = ring.of(page.app.state, page.app.config)
    now = page.app.clock.now()
    rows = ["time,name,value\n"]
    utc = Zone("UTC")
    await connection.start(200, "text/csv", _CSV_HEAD)

    async def send_rows(_=0):
        for row in rows:
            await connection.put(row)
        rows[:] = []
        await sleep_ms(0)

    for name in _chosen(kept, names):
        quoted = '"%s"' % name.replace('"', '""')

        def take(at, value, quoted=quoted):
            # Ports differ in the year from which gmtime counts, and in its largest number.
            moment = utc.local(at)[:6]
            rows.append("%d-%02d-%02dT%02d:%02d:%02dZ,%s,%g\n" % (moment + (quoted, value)))

        await kept.visit(name, now - int(hours * 3600), now, take, send_rows)
    await send_rows()
    await connection.flush()


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


def _chosen(kept, names):
    for name in kept.names():
        if not names or any(name.startswith(one) for one in names):
            yield name


def _unit(name):
    return unit(name.rpartition(".")[2])
