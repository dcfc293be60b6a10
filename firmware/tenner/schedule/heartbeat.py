# tenner schedule.heartbeat: the service that runs what HEARTBEAT.md asks for.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio

from tenner.schedule.alarm import Service, later


class Heartbeat(Service):
    #: The turn under way beside the service.
    _turn = None

    def __init__(self, app):
        Service.__init__(self, app, "heartbeat", "HEARTBEAT.md")
        self.every_s = app.config.get("heartbeat.every")
        self.window = app.config.get("heartbeat.active_hours")
        if self.window:
            from tenner.schedule.hours import Hours

            # A window that cannot be is an error at the start, not "never" or "always".
            Hours(self.window)

    async def step(self, forced=False, aside=False):
        """
        Look once at the file, the clock and the sensors, and run what is due. (action, reason): "run" and
        what came of it, or why not. `forced` passes the gates due, active hours and sensors; `aside`:
        gates are looked at, and alerts sent, while a model thinks.
        """
        from tenner.schedule.wake import step

        return await step(self, forced, aside)

    def run_aside(self, tasks):
        self._turn = asyncio.create_task(self._run_aside(tasks))

    async def _run_aside(self, tasks):
        from tenner.schedule.turns import run_groups

        try:
            await self.app.alone(run_groups(self, tasks))
        finally:
            self.running_s = self._turn = None
            self.poke()

    #: confirm(mark): the owner has received that text, it is not said again within `heartbeat.dedup_h`
    confirm = later("dedup", "confirm")

    #: status(): the chain of gates for `/heartbeat`, why(count): the last decisions for `/why`, line by line
    status = later("tell", "status")
    why = later("tell", "why")
