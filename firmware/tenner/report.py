# tenner report: what the commands of a person show and do, the same in every channel.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio
import sys

from tenner import __version__


class Report:
    """The texts and actions behind `channels.commands`; made when a command comes, and dropped after."""

    def __init__(self, app):
        self.app = app

    # --- shows

    def heartbeat_lines(self):
        return self.app.part("heartbeat").status()

    def why_lines(self):
        return self.app.part("heartbeat").why()

    def cron_lines(self):
        return (
            "\n".join(self.app.part("cron").lines()) or "No jobs. Ask for one, or write CRON.json."
        )

    def lanes_lines(self):
        lane = self.app.agent.lane
        yield "running: %s" % (lane.holder or "nothing")
        yield "waiting: %d message(s)" % len(self.app.inbox)
        yield "put back for a person: %d" % lane.put_backs
        spawner = self.app.part("spawner")
        if spawner.running:
            yield "in the background: " + ", ".join(spawner.running)

    def budget_lines(self):
        return self.app.part("budget").lines()

    def status_lines(self):
        app = self.app
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
        yield "network %s, clock %s" % (
            "up" if app.port.network_up() else "down",
            app.now_text(),
        )
        if app.telegram is not None:
            yield "telegram: " + app.telegram.status
        yield "outbox: %d waiting" % len(app.part("delivery").outbox)

    # --- acts

    def trigger(self, args, channel, chat):
        asyncio.create_task(self._trigger(channel, chat))
        return "Running the heartbeat now."

    async def _trigger(self, channel, chat):
        action, reason = await self.app.alone(self.app.part("heartbeat").step, True)
        self.app.deliver(channel, chat, "heartbeat: %s (%s)" % (action, reason))

    def new(self, args, channel, chat):
        from tenner.agent.history import clear

        clear(self.app.agent.session(channel, chat))
        return "A fresh conversation. The old one is kept until the next /new."

    def pair(self, args, channel, chat):
        from tenner.channels import telegram_pair

        app = self.app
        owner = app.config.get("telegram.owner")
        if channel != "console":
            return "Only on the serial console: who holds the board decides whose it is."
        if app.telegram is None:
            return "Telegram is off: there is no telegram.token."
        if owner and owner != telegram_pair.kept(app.state):
            return "telegram.owner is set in config.json: change it there."
        return telegram_pair.offer(app.telegram, app.state)

    def stop(self, args, channel, chat):
        return self.app.agent.stop()
