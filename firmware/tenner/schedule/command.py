# tenner schedule.command: /heartbeat, /alarms, /trigger, /why and /cron.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio

from tenner.channels import question
from tenner.schedule import alarm_commands, status

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Coroutine
    from typing import Any

    from tenner.types import Reporting


def command(
    app: "Reporting", name: str, args: str, channel: str, chat: int | str
) -> "str | Coroutine[Any, Any, str]":
    """Return the answer to one of these, or a coroutine that returns it; see
    channels.commands."""
    if name == "cron":
        return _cron(app.get("cron"))
    service = app.get("heartbeat")
    if name == "why":
        return status.why(service, args)
    if name == "alarms":
        return alarm_commands.answer(service, args)
    if name == "trigger":
        return _trigger(service, args, channel, chat)
    words = args.split()
    if words and words[0] in ("use", "ask", "off"):
        if not question.is_owner(app, channel, chat):
            return "Only the owner changes the lines."
        return status.answer(service, words)
    return status.heartbeat(service, args)


def _cron(jobs):
    lines = list(jobs.lines())
    if not lines:
        return "No jobs. Ask for one, or write CRON.json."
    return "\n".join(lines + [status.zone_note(jobs)[2:]]).rstrip()


def _trigger(service, args, channel, chat):
    lines = True
    if args:
        if not args.encode().isdigit():
            return "expected the number of a line of HEARTBEAT.md, or nothing"
        lines = (int(args),)
    asyncio.create_task(service.trigger(channel, chat, lines))
    return "Running the heartbeat now."
