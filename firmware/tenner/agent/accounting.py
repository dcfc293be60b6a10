# tenner agent.accounting: stores histories, counts tokens, holds the budget of the day.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.agent import history
from tenner.agent.history_lines import record
from tenner.log import log
from tenner.port.compat import const
from tenner.tools.untrusted import SOMEBODY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tenner.agent.agent import Agent, Session
    from tenner.agent.types import Cost
    from tenner.net.clock import Clock
    from tenner.store.posix_tz import Zone
    from tenner.store.two_slot import TwoSlots

_HISTORY = const("history")

_DAY_S = 86400


def keep(agent: "Agent", session: "Session", lines: "Sequence[bytes]" = ()) -> bool:
    """Check `session` and add the lines of a turn to it; return False when flash fails."""
    try:
        history.check(session)
        if lines:
            history.append(session, lines)
            if agent.full == _HISTORY:
                agent.full = ""
                agent.notify("I can keep our conversation on flash again.")
    except OSError as error:
        not_stored(agent, error)
        return False
    if session.repaired:
        session.repaired = False
        agent.notify("Part of our chat history was corrupt; I saved it as .bad.")
    return True


def not_stored(agent: "Agent", error: OSError) -> None:
    """Log that the history could not be stored, and notify the owner once; the answer is still
    sent."""
    log("session", "history not stored: %s" % error)
    if not agent.full:
        agent.full = _HISTORY
        agent.notify("I cannot keep our conversation on flash: %s" % error)


def account(agent: "Agent", kind: str, who: str, result: "Cost") -> None:
    """Count and log the cost of a turn."""
    try:
        agent.get("budget").spend(result.tokens(), kind, result.estimated)
    except OSError as error:
        log("budget", "token count not stored: %s" % error)
    log(
        "agent",
        "%s: %d model calls, %d tool calls, %d tokens, %d ms"
        % (who, result.rounds, result.tool_calls, result.tokens(), result.ms),
    )


def remember(
    agent: "Agent", channel: str, chat: int | str, text: str, untrusted: bool = False
) -> None:
    """
    Add a text the agent sends unasked to that chat's session, so that the person can answer it.
    `untrusted`: does it rest on text of somebody else?
    """
    head = "(you reported by yourself%s)" % (", also of text " + SOMEBODY if untrusted else "")
    lines = (record("u", head), record("a", text))
    keep(agent, agent.session(channel, chat), lines)


def report(
    agent: "Agent", channel: str, chat: int | str, text: str, untrusted: bool = False
) -> None:
    """Report the result of a background task to the chat that asked, and let the person answer
    it."""
    if chat is None:
        channel, chat = agent.app.owner()
    if chat is None:
        log("agent", "no owner to notify: " + text)
        return
    remember(agent, channel, chat, text, untrusted)
    agent.app.deliver(channel, chat, text)


# Scheduled turns stop at the day's budget; people have a reserve on top of it. The budget counts
# the tokens that providers report, or else an estimate, and marks the figure as estimated.
class Budget:
    """
    `slots` is a store.two_slot.TwoSlots, `clock` a net.clock.Clock, `zone` a
    store.posix_tz.Zone; `tokens_per_day` 0 is no limit; `notify(text)` notifies the owner.
    """

    def __init__(
        self,
        slots: "TwoSlots",
        clock: "Clock",
        zone: "Zone",
        tokens_per_day: int,
        reserve_percent: int = 20,
        notify: "Callable[[str], None] | None" = None,
    ) -> None:
        self._slots = slots
        self._clock = clock
        self._zone = zone
        self._notify = notify
        self.per_day = tokens_per_day
        self.reserve = tokens_per_day * reserve_percent // 100
        self._state: dict | None = None

    def left(self, kind: str) -> int | None:
        """Return the tokens left today for turns of this kind; None without a limit."""
        if not self.per_day:
            return None
        limit = self.per_day + (self.reserve if kind == "person" else 0)
        return limit - self._today()["u"]

    def spend(self, tokens: int, kind: str, estimated: bool = False) -> None:
        """Count the tokens of a turn of this kind, and notify the owner when the budget is
        spent."""
        state = self._today()
        state["u"] += tokens
        if kind != "person":
            state["s"] += tokens
        if estimated:
            state["e"] = 1
        told = state["n"]
        if self.per_day and state["u"] >= self.per_day:
            state["n"] = 1
        self._slots.save(state)
        if state["n"] != told:
            text = (
                "Today's budget of %d tokens is spent: heartbeat and scheduled jobs rest until "
                "midnight. You can go on with %d more." % (self.per_day, self.reserve)
            )
            log("budget", text)
            if self._notify is not None:
                self._notify(text)

    def used(self) -> tuple[int, int, bool]:
        """Return (tokens used today, of them by scheduled turns, whether a part is estimated)."""
        state = self._today()
        return state["u"], state["s"], bool(state["e"])

    def lines(self) -> "Iterator[str]":
        """Yield the lines of `/budget`."""
        used, scheduled, estimated = self.used()
        about = "about " if estimated else ""
        yield "today: %s%d tokens, %d of them by heartbeat and jobs" % (about, used, scheduled)
        if not self.per_day:
            yield "limit: none (budget.tokens_per_day)"
            return
        yield "limit: %d a day, %d left; people may use %d more" % (
            self.per_day,
            max(self.per_day - used, 0),
            self.reserve,
        )

    def _today(self):
        """Return the counters of today, reset to 0 on a new day."""
        if self._state is None:
            self._state = self._slots.load()
        state = self._state
        day = state.get("d")
        # Without a trusted clock the day is unknown: tokens count for the last known day.
        if self._clock.trusted:
            now = self._clock.now()
            day = (now + self._zone.offset(now)) // _DAY_S
        # The first known day includes the tokens spent before the clock was set.
        if "u" not in state or day != state.get("d", day):
            for name in "usen":
                state[name] = 0
        if day is not None:
            state["d"] = day
        return state
