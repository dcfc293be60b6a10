# tenner schedule.heartbeat: the service that runs what HEARTBEAT.md asks for.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio

from tenner.schedule.alarm import Service


class Heartbeat(Service):
    """
    What it needs beside what every Service does:

    config    .get("heartbeat.every") and the others of that section, "budget.tokens_per_day"
    deliver   await deliver(text, mark): "yes", "queued", or "repeat" when a text of that mark is queued
              already; whoever sends a queued text calls confirm(mark) before forgetting it
    ask       await ask(pieces, model) -> llm.reply.Reply of one request that offers only the tool
              of schedule/heartbeat.json; needed for the mode "decide"
    """

    #: Whether the beat has anything to do.
    work = False
    #: Boots have been too short for a beat: the first one comes early.
    early = False
    put_backs = 0
    #: The turn under way beside the service.
    _turn = None

    def __init__(
        self,
        port,
        config,
        clock,
        part,
        lane,
        run_turn,
        deliver,
        notify,
        online,
        ask=None,
        rest=None,
        stores=None,
    ):
        Service.__init__(
            self, "heartbeat", port, "HEARTBEAT.md", clock, part, lane, run_turn, deliver, notify,
            online, rest,
        )  # fmt: skip
        self.config = config
        self.ask = ask
        self.kept = stores
        self.every_s = config.get("heartbeat.every")
        self.window = config.get("heartbeat.active_hours")
        if self.window:
            from tenner.schedule.hours import Hours

            # A window that cannot be is an error at the start, not "never" or "always".
            Hours(self.window)
        #: Sensors reported as silent.
        self.failed = []

    async def beat(self, forced=False):
        """
        One beat to its end; `forced` passes the gates due, active hours and sensors. Returns
        (action, reason): ("run", what came of it), or why not.
        """
        return await self.step(forced)

    async def step(self, forced=False, aside=False):
        """
        Look once at the file, the clock and the sensors, and run what is due. (action, reason)
        `aside`: gates are looked at, and alerts sent, while a model thinks.
        """
        from tenner.schedule.wake import Wake

        return await Wake(self).step(forced, aside)

    def run_aside(self, tasks):
        self._turn = asyncio.create_task(_run_aside(self, tasks))

    def dedup(self):
        """What the owner was told: .mark(text), .repeats(mark), .confirm(mark)"""
        from tenner.schedule.dedup import Dedup

        return Dedup(self)

    def confirm(self, mark):
        """The owner has received that text: it is not said again within `heartbeat.dedup_h`."""
        self.dedup().confirm(mark)

    def status(self):
        """The chain of gates, line by line, for `/heartbeat`."""
        from tenner.schedule.wake import Wake

        return Wake(self).status()

    def why(self, count=10):
        """The last decisions, oldest first, and what is next, for `/why`."""
        from tenner.schedule.wake import Wake

        return Wake(self).why(count)


async def _run_aside(heartbeat, tasks):
    from tenner.schedule import turns

    try:
        await turns.run_groups(heartbeat, tasks)
    finally:
        heartbeat.running_s = heartbeat._turn = None
        heartbeat.poke()
