# tenner charts: draws and sends a chart, for people, for the model and for alarms.
# MIT license; Copyright (c) 2026 the tenner authors

import os

from tenner import overlay
from tenner.chart import layout, picture, series
from tenner.log import log, log_exception
from tenner.port.compat import const
from tenner.schedule import alarms
from tenner.sensors import ring
from tenner.sensors.units import unit
from tenner.store import attachments, files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    #: The arguments of App.chart.
    Request = tuple[str, int, str, int | str, bool, tuple]
    from tenner.net.clock import Clock
    from tenner.store.config import Config
    from tenner.types import Drawing

_DAY_S = const(86400)


async def draw_next(app: "Drawing") -> bool:
    """Draw and queue the first of app.charts; return False if there are more."""
    value, seconds, channel, chat, tells, *seen = app.charts[0]
    try:
        sent, sentence = await send(app, value, seconds, channel, chat, *seen)
    except Exception as error:
        # Also a lack of memory: the steps have tried twice.
        sent, sentence = (
            False,
            "The chart of %s failed (%s)." % (value, log_exception("a chart", error)),
        )
    app.charts = app.charts[1:]
    if not sent:
        log("chart", sentence)
        if tells:
            app.deliver(channel, chat, sentence)
    return not app.charts


async def answer(app: "Drawing", value: str, seconds: int, channel: str, chat: int | str) -> str:
    """Do the same for a command; return its answer, "" where the picture is the answer."""
    sent, sentence = await send(app, value, seconds, channel, chat)
    return "" if sent and channel == "telegram" else sentence


async def send(
    app: "Drawing",
    value: str,
    seconds: int,
    channel: str,
    chat: int | str,
    seen: "Sequence[tuple[int, float]]" = (),
) -> tuple[bool, str]:
    """
    Draw the last `seconds` of a value such as `room.temperature`, and queue the picture for a
    chat. `seen`: (time, value) that are drawn though they were not kept. Return (whether it is on
    its way, a sentence about it or about the fault).
    """
    # Steps of their own, so that the memory holds either the readings or the picture.
    problem, name, caption, found = await overlay.step("CHART", _plan, app, value, seconds, seen)
    if found is None:
        return False, problem
    path = None
    try:
        path = attachments.new_path(app.state, ".png")
        await overlay.step("PICTURE", _paint, path + files.TEMP, found)
        return True, _queue(app, path, name, caption, channel, chat)
    except OSError as error:
        return False, "The chart of %s could not be written: %s." % (name, error)
    finally:
        if path:
            # Also after a lack of memory.
            files.remove(path + files.TEMP)


async def _plan(app: "Drawing", value, seconds, seen):
    """Return (reason that there is no chart, name, caption, Layout or None)."""
    kept = ring.of(app.state, app.config)
    known = kept.names()
    problem = why_not(app.config, app.clock, known, value)
    if problem:
        return problem, None, None, None
    name = find(known, value)
    now = app.clock.now()
    bands, levels = _alarms(app, name, now)

    def visit(take):
        return _visit(kept, name, (now - seconds, now), take, seen)

    sign = unit(_last(name))
    zone = app.get("zone")
    found = await layout.make(name, sign, zone, now - seconds, now, visit, bands, levels)
    if found is None:
        problem = "No reading of %s was kept in the last %s." % (name, _span(seconds))
        return problem, None, None, None
    return None, name, "%s, last %s: %s" % (name, _span(seconds), _range(found, sign)), found


async def _visit(kept, name, span, take, seen):
    """Call `take` for the readings that were kept and those that were seen, by their time."""
    left = [one for one in seen if span[0] <= one[0] <= span[1]]

    def merge(time, value):
        while left and left[0][0] < time:
            take(*left.pop(0))
        take(time, value)

    await kept.visit(name, span[0], span[1], merge)
    for time, value in left:
        take(time, value)


async def _paint(path, found):
    with files.open_own(path, "wb") as file:
        await picture.draw(lambda piece: files.put(file, piece), found)


def _queue(app: "Drawing", path, name, caption, channel, chat):
    """Queue the drawn picture; return a sentence about it."""
    temp = path + files.TEMP
    if channel == "console" or (channel != "telegram" and app.mqtt is None):
        place = app.workspace + "/chart.png"
        os.rename(temp, place)
        return "chart.png in the workspace: " + caption
    os.rename(temp, path)
    if app.mqtt is not None:
        text = attachments.pack("photo", path, name)
        app.deliver("mqtt" + attachments.SUFFIX, app.mqtt.alert_chat, text)
    if channel == "telegram":
        text = attachments.pack("photo", path, caption)
        app.deliver("telegram" + attachments.SUFFIX, chat, text)
        return caption
    return "The chart is at the broker: " + caption


def _alarms(app: "Drawing", name, now):
    """Return ((start, end) of the alarms of a value, the numbers of their conditions)."""
    bands = series.ended(app.state, name)
    levels = []
    for task in app.get("heartbeat").tasks or ():
        condition = task.condition
        if not condition:
            continue
        alarm = condition.alarm
        if _name(condition) == name and isinstance(alarm, list):
            if not alarm[alarms.FLAGS] & alarms.OVER:
                bands.append((alarm[alarms.START], now))
        for term in (condition,) + tuple(condition.also):
            if _name(term) == name and term.op and term.op[0] in "<>o":
                levels += [term.number] if term.number2 is None else [term.number, term.number2]
    return bands, levels


def _name(term):
    # Its own method is code of a beat.
    return "%s.%s" % (term.sensor, term.value)


def _last(name):
    return name.rpartition(".")[2]


def _range(found, sign):
    text = "%.4g" % found.low
    if found.high != found.low:
        text += " to %.4g" % found.high
    return ("%s %s" % (text, sign)).strip()


def _span(seconds):
    """Return `24 h`, `7 d`, `90 min`."""
    for size, name in ((_DAY_S, "d"), (3600, "h")):
        if seconds >= 2 * size and not seconds % size:
            return "%d %s" % (seconds // size, name)
    return "%d min" % (seconds // 60) if seconds % 3600 else "%d h" % (seconds // 3600)


def find(names: "Sequence[str]", value: str) -> str | None:
    """Return the full name of a value: a sensor with only one needs no more than its own."""
    if value in names:
        return value
    own = [name for name in names if name.rpartition(".")[0] == value]
    return own[0] if len(own) == 1 else None


def why_not(config: "Config", clock: "Clock", names: "Sequence[str]", value: str) -> str | None:
    """Return the reason that there is no chart of a value, or None when there may be one."""
    if find(names, value) and clock.trusted:
        return None
    if not config.get("sensors.every"):
        return "No readings are kept: sensors.every is off."
    if not clock.trusted:
        return "There is no chart before the clock is set."
    if not names:
        return "No reading has been kept yet: the first comes within sensors.every."
    return "There are no readings of %s, only of: %s." % (value, ", ".join(names))
