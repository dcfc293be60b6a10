# tenner chart.command: /chart.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner import charts, overlay
from tenner.schedule.quantity import duration
from tenner.sensors import ring

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Coroutine
    from typing import Any

    from tenner.types import Reporting


def command(
    app: "Reporting", name: str, args: str, channel: str, chat: int | str
) -> "str | Coroutine[Any, Any, str]":
    """Return the answer to `/chart [VALUE [TIME]]`, or a coroutine that returns it; see
    channels.commands."""
    if not args:
        return _choices(app)
    value, _, span = args.partition(" ")
    try:
        seconds = duration(span or "24h")
    except ValueError:
        value = ""
    if not value or seconds < 300:
        return "expected a value and a time of 5 minutes or more, as room.temperature 24h"
    return overlay.step("CHART", charts.answer, app, value, seconds, channel, chat)


def _choices(app: "Reporting"):
    names = ring.of(app.state, app.config).names()
    if not names:
        return charts.why_not(app.config, app.clock, names, "") or ""
    return "Send one of these, with a time such as 7d behind it if you like:\n" + "\n".join(
        ["/chart " + name for name in names]
    )
