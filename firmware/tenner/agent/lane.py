# tenner agent.lane: one turn at a time per board, and a person first.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio

from tenner.agent.errors import LaneBusy, Preempted


class Lane:
    """
    Gives the board to one turn at a time. People wait in the order they came; a turn of the
    heartbeat or of cron starts only when nobody is there, and makes way for a person: its
    `turn.interrupt()` cancels a model request at once and lets a tool call end. `clock` is a net.clock.Clock.
    """

    def __init__(self, clock):
        self.put_backs = 0
        self._clock = clock
        #: Who runs a turn now.
        self.holder = None
        self._lock = asyncio.Lock()
        #: Held by the person who is served, or is the next one.
        self.queue = asyncio.Lock()
        self._people = 0
        self._turn = None
        self._idle_since = clock.mono_s()
        self._freed = asyncio.Event()
        #: Has a /stop that is still to be answered stopped a turn?
        self.stopped = False

    def busy(self):
        """Return the holder's name, or None when a background turn could start."""
        return self.holder or ("a person" if self._people else None)

    def idle_s(self):
        """Seconds since a person's turn last ended."""
        return 0 if self._people else self._clock.mono_s() - self._idle_since

    async def wait_free(self):
        """Wait until no turn runs and nobody waits for one; somebody else may still be quicker."""
        while self.busy():
            self._freed.clear()
            await self._freed.wait()

    async def wait_turn(self):
        """Wait until the running turn has ended, for somebody who has asked for the lane by `request`."""
        while self.holder:
            self._freed.clear()
            await self._freed.wait()

    def stop(self, reason="stop"):
        """Interrupt the running turn; return False when there is none."""
        if self._turn is None:
            return False
        self._turn.interrupt(reason)
        return True

    def overheard(self, stops):
        """A message of the owner waits until there is memory for it; `stops`: it is /stop."""
        if self._turn is not None:
            if stops:
                self.stopped = self.stop()
            elif self._turn.kind != "person" and self._turn.preemptible:
                self._turn.interrupt("person")

    def draft(self, who):
        """Return what the model has written so far in the turn of `who`, "" when none runs."""
        return self._turn.draft() if self.holder == who else ""

    def request(self, who):
        """Somebody waits, with words for the agent if `who` is given: what runs makes way. See release."""
        self._people += 1
        if self._turn is not None:
            if self._turn.kind != "person" and self._turn.preemptible:
                self._turn.interrupt("person")
            elif self.holder == who:
                self._turn.cancel_question()

    def release(self):
        """Release the lane after `request`."""
        self._people -= 1
        self._idle_since = self._clock.mono_s()
        self._freed.set()

    async def person(self, who, turn):
        """Run `turn` for a person as soon as the running turn allows; return its result."""
        self.request(who)
        try:
            return await self._run(who, turn)
        finally:
            self.release()

    async def background(self, who, turn):
        """Run `turn` if the lane is free, else raise LaneBusy. Preempted when a person came."""
        if self.busy():
            raise LaneBusy(self.busy())
        result = await self._run(who, turn)
        if result.interrupted == "person":
            self.put_backs += 1
            raise Preempted(result)
        return result

    async def _run(self, who, turn):
        async with self._lock:
            self.holder = who
            self._turn = turn
            try:
                return await turn.run()
            finally:
                self.holder = self._turn = None
                self._freed.set()
