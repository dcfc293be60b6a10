# tenner chart.command: /chart.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner import charts, overlay
from tenner.schedule.quantity import duration

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Coroutine
    from typing import Any

    from tenner.types import Reporting


def command(
    app: "Reporting", name: str, args: str, channel: str, chat: int | str
) -> "str | Coroutine[Any, Any, str]":
    """Return the answer to `/chart VALUE [TIME]`, or a coroutine that returns it; see
    channels.commands."""
    value, _, span = args.partition(" ")
    try:
        seconds = duration(span or "24h")
    except ValueError:
        value = ""
    if not value or seconds < 300:
        return "expected a value and a time of 5 minutes or more, as room.temperature 24h"
    return overlay.step("CHART", charts.answer, app, value, seconds, channel, chat)
