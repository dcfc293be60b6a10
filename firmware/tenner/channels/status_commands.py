# tenner channels.status_commands: texts and actions of commands, the same in every channel.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio

from tenner import charts, overlay
from tenner.agent import history
from tenner.channels import status_lines
from tenner.channels.telegram import pair as telegram_pair
from tenner.schedule import alarm_commands, status
from tenner.schedule.quantity import duration
from tenner.store import files
from tenner.update import offer, request, slot

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterator
    from typing import Any

    from tenner.types import Reporting


class Report:
    """The texts and actions behind `channels.commands`; one object per command."""

    def __init__(self, app: "Reporting") -> None:
        self.app = app

    # --- shows

    def show_cron(self) -> str:
        cron = self.app.get("cron")
        lines = list(cron.lines())
        if not lines:
            return "No jobs. Ask for one, or write CRON.json."
        return "\n".join(lines + [status.zone_note(cron)[2:]]).rstrip()

    def show_lanes(self) -> "Iterator[str]":
        lane = self.app.agent.lane
        yield "running: %s" % (lane.holder or "nothing")
        yield "waiting: %d message(s)" % len(self.app.inbox)
        yield "preempted by people: %d" % lane.preemptions
        if self.app.agent.spawned:
            yield "in the background: " + ", ".join(self.app.agent.spawned)

    def show_budget(self) -> "Iterator[str]":
        return self.app.get("budget").lines()

    # --- acts, or takes arguments

    def act_heartbeat(
        self, args: str, channel: str, chat: int | str
    ) -> "str | Coroutine[Any, Any, str]":
        words = args.split()
        if words[:1] and words[0] in ("use", "ask", "off"):
            if not self._is_owner(channel, chat):
                return "Only the owner changes the lines."
            return status.answer(self.app.get("heartbeat"), words)
        return status.heartbeat(self.app.get("heartbeat"), args)

    def act_status(
        self, args: str, channel: str, chat: int | str
    ) -> "str | Coroutine[Any, Any, str]":
        waiting = len(self.app.get("delivery").outbox)
        if args == "json":
            return overlay.step("COMMAND", status_lines.as_json, self.app, waiting)
        return "\n".join(status_lines.lines(self.app, waiting))

    def act_why(self, args: str, channel: str, chat: int | str) -> "Coroutine[Any, Any, str]":
        return status.why(self.app.get("heartbeat"), args)

    def act_alarms(self, args: str, channel: str, chat: int | str) -> "Coroutine[Any, Any, str]":
        return alarm_commands.command(self.app.get("heartbeat"), args)

    def act_trigger(self, args: str, channel: str, chat: int | str) -> str:
        lines = True
        if args:
            if not args.encode().isdigit():
                return "expected the number of a line of HEARTBEAT.md, or nothing"
            lines = (int(args),)
        asyncio.create_task(self.app.get("heartbeat").trigger(channel, chat, lines))
        return "Running the heartbeat now."

    def act_chart(
        self, args: str, channel: str, chat: int | str
    ) -> "str | Coroutine[Any, Any, str]":
        value, _, span = args.partition(" ")
        try:
            seconds = duration(span or "24h")
        except ValueError:
            value = ""
        if not value or seconds < 300:
            return "expected a value and a time of 5 minutes or more, as room.temperature 24h"
        return overlay.step("CHART", charts.answer, self.app, value, seconds, channel, chat)

    def act_new(self, args: str, channel: str, chat: int | str) -> str:
        history.clear(self.app.agent.session(channel, chat))
        return "A fresh conversation. The old one is kept until the next /new."

    def act_pair(self, args: str, channel: str, chat: int | str) -> str:
        app = self.app
        owner = app.config.get("telegram.owner")
        if channel != "console":
            return "Only on the serial console, since its user holds the board."
        if app.telegram is None:
            return "Telegram is off: there is no telegram.token."
        if owner and owner != telegram_pair.kept(app.state):
            return "telegram.owner is set in config.json: change it there."
        return telegram_pair.offer(app.telegram, app.state)

    def act_update(self, args: str, channel: str, chat: int | str) -> str:
        app = self.app
        owner = app.owner()
        if channel == "mqtt" and owner[0] != "telegram":
            return (
                "Everybody at the broker could send this, and there is no Telegram to ask you: "
                "run `tenner update`, or send it on the console."
            )
        if channel != "mqtt" and not self._is_owner(channel, chat):
            return "Only the owner updates this agent."
        if not slot.is_possible(app):
            return (
                "This agent is updated by your computer: `tenner deploy`, or `tenner flash` for "
                "its image."
            )
        if not app.config.get("update.url"):
            return "Updates are off: there is no update.url in config.json."
        if files.exists(app.port.path("lib/trial")):
            return "The trial of the last update is not over yet."
        if channel == "mqtt":
            asyncio.create_task(offer.answer(app, *owner))
            return "Looking at update.url; the owner decides on Telegram."
        if args:
            overlay.later("UPDATE", None, request.run, app, channel, chat, args)
        else:
            asyncio.create_task(offer.answer(app, channel, chat))
        return "Looking at update.url."

    def act_web(self, args: str, channel: str, chat: int | str) -> str:
        page = self.app.page
        if page is None:
            return (
                "This agent serves no page: set web.enabled, and run `tenner sync` for a board "
                "on USB. `tenner web` on your computer shows any board."
            )
        if not self._is_owner(channel, chat):
            return "Only the owner opens the page."
        if channel == "page":
            return "Guests read this chat: send it on the console or on Telegram."
        if args and args != "guest":
            return "expected nothing, or guest: a guest only looks"
        return ("A guest only looks. " if args else "") + page.offer(bool(args))

    def _is_owner(self, channel, chat):
        owner = self.app.owner()
        # In any topic of their chat.
        return channel in ("console", "page") or (
            channel == owner[0] and str(chat).split(":")[0] == str(owner[1]).split(":")[0]
        )

    def act_stop(self, args: str, channel: str, chat: int | str) -> str:
        return self.app.agent.stop()
