# tenner agent.lane: runs one turn at a time per board, people first.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio

from tenner.agent.errors import LaneBusy, Preempted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol, TypeVar

    from tenner.net.clock import Clock

    Result_co = TypeVar("Result_co", covariant=True)

    class Running(Protocol[Result_co]):
        """The turn that a lane runs; see agent.turn.Turn."""

        kind: str
        preemptible: bool

        def interrupt(self, reason: str) -> None: ...
        def cancel_question(self) -> None: ...
        def draft(self) -> str: ...
        async def run(self) -> Result_co: ...


class Lane:
    """
    Runs one turn at a time. People wait in the order of their messages. A turn of the heartbeat or
    of cron starts only when no person waits, and a person preempts it: `turn.interrupt()` cancels
    a model request at once and lets a tool call end. `clock` is a net.clock.Clock.
    """

    def __init__(self, clock: "Clock") -> None:
        self.preemptions = 0
        self._clock = clock
        #: The name of the running turn.
        self.holder = None
        self._lock = asyncio.Lock()
        #: Held by the person whose turn runs or is next.
        self.queue = asyncio.Lock()
        self._people = 0
        self._turn: "Running | None" = None
        self._idle_since = clock.mono_s()
        self._freed = asyncio.Event()
        #: Has a /stop that is not answered yet stopped a turn?
        self.stopped = False

    def busy(self) -> str | None:
        """Return the holder's name, or None when a background turn could start."""
        return self.holder or ("a person" if self._people else None)

    def idle_s(self) -> int:
        """Return the seconds since the last turn of a person."""
        return 0 if self._people else self._clock.mono_s() - self._idle_since

    async def wait_free(self) -> None:
        """Wait until no turn runs and no person waits; another task may still take the lane
        first."""
        while self.busy():
            self._freed.clear()
            await self._freed.wait()

    async def wait_turn(self) -> None:
        """Wait until the running turn has ended, after `request`."""
        while self.holder:
            self._freed.clear()
            await self._freed.wait()

    def stop(self, reason: str = "stop") -> bool:
        """Interrupt the running turn; return False when there is none."""
        if self._turn is None:
            return False
        self._turn.interrupt(reason)
        return True

    def overheard(self, stops: bool) -> None:
        """Interrupt the turn for a message of the owner that waits for memory; `stops`: it is
        /stop."""
        if self._turn is not None:
            if stops:
                self.stopped = self.stop()
            elif self._turn.kind != "person" and self._turn.preemptible:
                self._turn.interrupt("person")

    def draft(self, who: str) -> str:
        """Return the text the model has written so far in the turn of `who`, "" when none runs."""
        return self._turn.draft() if self.holder == who else ""

    def request(self, who: str | None) -> None:
        """Announce a waiting person, with a message if `who` is given; preempt a background turn.
        See release."""
        self._people += 1
        if self._turn is not None:
            if self._turn.kind != "person" and self._turn.preemptible:
                self._turn.interrupt("person")
            elif self.holder == who:
                self._turn.cancel_question()

    def release(self) -> None:
        """Release the lane after `request`."""
        self._people -= 1
        self._idle_since = self._clock.mono_s()
        self._freed.set()

    async def person(self, who: str, turn: "Running[Result_co]") -> "Result_co":
        """Run `turn` for a person as soon as the running turn allows; return its result."""
        self.request(who)
        try:
            return await self._run(who, turn)
        finally:
            self.release()

    async def background(self, who: str, turn: "Running[Result_co]") -> "Result_co":
        """Run `turn` if the lane is free, else raise LaneBusy; raise Preempted when a person
        came."""
        if self.busy():
            raise LaneBusy(self.busy())
        result = await self._run(who, turn)
        if result.interrupted == "person":
            self.preemptions += 1
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
