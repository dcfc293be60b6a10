# tenner agent.spawn: background turns with a short context of their own, reported once.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio

from tenner.agent.lane import LaneBusy, PutBack


class Spawner:
    """
    Runs tasks a turn has handed over. A small board runs one, in the lane like any background
    turn, so a person still comes first; elsewhere `limit` of them run beside the lane.
    """

    def __init__(self, agent, limit):
        self.agent = agent
        self.limit = limit
        self.running = []
        self._number = 0

    def start(self, text, turn):
        """Begin `text` for `turn`; return the sentence the model is told."""
        if turn.kind == "spawn":
            return "error: a background task cannot start another one"
        if len(self.running) >= self.limit:
            return "error: %d background task(s) already running; wait for the report" % self.limit
        if self.agent.spent("spawn"):
            return "error: today's tokens for background tasks are spent"
        self._number += 1
        name = "spawn:%d" % self._number
        self.running.append(name)
        asyncio.create_task(self._run(name, text, turn.channel, turn.chat))
        return "started as %s; its result will be sent when it is done" % name

    async def _run(self, name, text, channel, chat):
        report = "could not be done: "
        try:
            result = await self._turn(name, text)
            # The turn's code makes room for what comes after it.
            await self.agent.app.rest()
            self._account(name, result)
            report = result.text if result.error is None else report + result.error
        except Exception as error:
            # Whoever asked is told, also when the fault is ours.
            report += "%s: %s" % (type(error).__name__, error)
        finally:
            self.running.remove(name)
        from tenner.agent.upkeep import report as tell

        tell(self.agent, channel, chat, "Background task (%s): %s" % (text[:60], report))

    def _account(self, name, result):
        from tenner.agent.upkeep import account

        account(self.agent, "spawn", name, result)

    async def _turn(self, name, text):
        agent = self.agent
        while True:
            if agent.port.small:
                await agent.lane.wait_free()
            try:
                return await self._once(name, text)
            except LaneBusy:
                pass
            except PutBack as back:
                self._account(name, back.args[0])

    async def _once(self, name, text):
        # By itself: a task that waits must not hold the code of a turn.
        from tenner.agent.turn import Turn

        turn = Turn(self.agent, "spawn", text)
        if self.agent.port.small:
            return await self.agent.app.alone(self.agent.lane.background, name, turn)
        return await turn.run()
