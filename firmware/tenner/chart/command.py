# tenner chart.command: /chart.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner import charts, overlay
from tenner.port.compat import const
from tenner.schedule.line_words import duration
from tenner.sensors import ring
from tenner.store import attachments

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Coroutine
    from typing import Any

    from tenner.types import Reporting

_BUTTONS = const(24)
_DATA = const(62)


def command(
    app: "Reporting", name: str, args: str, channel: str, chat: int | str
) -> "str | Coroutine[Any, Any, str]":
    """Return the answer to `/chart [VALUE [TIME]]`, or a coroutine that returns it; see
    channels.commands."""
    if not args:
        return _choices(app, channel, chat)
    value, _, span = args.partition(" ")
    try:
        seconds = duration(span or "24h")
    except ValueError:
        value = ""
    if not value or seconds < 300:
        return "expected a value and a time of 5 minutes or more, as room.temperature 24h"
    return overlay.step("CHART", charts.answer, app, value, seconds, channel, chat)


def _choices(app: "Reporting", channel, chat):
    names = ring.of(app.state, app.config).names()
    if not names:
        return charts.why_not(app.config, app.clock, names, "") or ""
    lines = []
    buttons = []
    most = _BUTTONS if channel == "telegram" else 0
    for name in names:
        # Telegram takes 64 bytes of data.
        if len(buttons) < most and " " not in name and len(name.encode()) <= _DATA:
            buttons.append((name, "c:" + name))
        else:
            lines.append("/chart " + name)
    if not buttons:
        return "Send one of these, with a time such as 7d behind it if you like:\n" + "\n".join(
            lines
        )
    text = "Which one? A tap draws the last 24 hours. For other times send, for example, "
    text += "/chart %s 7d" % buttons[0][0]
    if lines:
        text += "\nWithout a button:\n" + "\n".join(lines)
    app.deliver(channel + attachments.SUFFIX, chat, attachments.menu(text, buttons))
    return ""
