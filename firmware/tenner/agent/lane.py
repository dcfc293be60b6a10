# tenner agent.lane: one turn at a time per board, and a person first.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio

from tenner.port.compat import ticks_diff, ticks_ms


class LaneBusy(Exception):
    """The lane is taken; args[0] is its holder, such as `telegram:1234`."""


class PutBack(Exception):
    """A background turn made way for a person and must be run again."""


class Lane:
    """
    Gives the board to one turn at a time. People wait in the order they came; a turn of the
    heartbeat or of cron starts only when nobody is there, and makes way for a person: its
    `turn.interrupt()` cancels a model request at once and lets a tool call end.
    """

    def __init__(self):
        self.holder = None
        self.put_backs = 0
        self._lock = asyncio.Lock()
        self._people = 0
        self._turn = None
        self._is_person = False
        self._idle_since = ticks_ms()
        self._freed = asyncio.Event()
        self._freed.set()

    def busy(self):
        """Return the holder's name, or None when a background turn could start."""
        if self._people and not self.holder:
            return "a person"
        return self.holder

    def idle_s(self):
        """Seconds since a person's turn last ended."""
        return 0 if self._people else ticks_diff(ticks_ms(), self._idle_since) // 1000

    async def wait_free(self):
        """Wait until no turn runs; somebody else may still be quicker."""
        await self._freed.wait()

    def stop(self, reason="stop"):
        """Interrupt the running turn; return False when there is none."""
        if self._turn is None:
            return False
        self._turn.interrupt(reason)
        return True

    async def person(self, who, turn):
        """Run `turn` for a person as soon as the running turn allows; return its result."""
        self._people += 1
        try:
            if self._turn is not None and not self._is_person:
                self._turn.interrupt("person")
            async with self._lock:
                return await self._run(who, turn, True)
        finally:
            self._people -= 1
            self._idle_since = ticks_ms()

    async def background(self, who, turn):
        """Run `turn` if the lane is free, else raise LaneBusy. PutBack when a person came."""
        if self._people or self._lock.locked():
            raise LaneBusy(self.holder or "a person")
        async with self._lock:
            result = await self._run(who, turn, False)
        if result.interrupted == "person":
            self.put_backs += 1
            raise PutBack(result)
        return result

    async def _run(self, who, turn, is_person):
        self.holder = who
        self._turn = turn
        self._is_person = is_person
        self._freed.clear()
        try:
            return await turn.run()
        finally:
            self.holder = None
            self._turn = None
            self._freed.set()
