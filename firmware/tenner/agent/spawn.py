# tenner agent.spawn: background turns with a short context of their own, reported once.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio

from tenner.agent.lane import LaneBusy, PutBack
from tenner.agent.turn import Turn


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

    def start(self, text, parent):
        """Begin `text` for the turn `parent`; return the sentence the model is told."""
        if parent.kind == "spawn":
            return "error: a background task cannot start another one"
        if len(self.running) >= self.limit:
            return "error: %d background task(s) already running; wait for the report" % self.limit
        self._number += 1
        name = "spawn:%d" % self._number
        self.running.append(name)
        asyncio.create_task(self._run(name, text, parent.channel, parent.chat))
        return "started as %s; its result will be sent when it is done" % name

    async def _run(self, name, text, channel, chat):
        try:
            result = await self._turn(name, text)
        finally:
            self.running.remove(name)
        report = result.text if result.error is None else "could not be done: " + result.error
        self.agent.account("spawn", name, result)
        await self.agent.report(channel, chat, "Background task (%s): %s" % (text[:60], report))

    async def _turn(self, name, text):
        agent = self.agent
        while True:
            turn = Turn(agent, "spawn", text)
            if not agent.port.small:
                return await turn.run()
            await agent.lane.wait_free()
            try:
                return await agent.lane.background(name, turn)
            except (LaneBusy, PutBack):
                continue
