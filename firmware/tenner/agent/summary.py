# tenner agent.summary: replaces the old part of a session by a summary, outside a person's turn.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.agent import accounting, history
from tenner.agent.errors import LaneBusy, Preempted
from tenner.agent.turn import Turn
from tenner.log import log
from tenner.port.compat import const
from tenner.port.package import locate
from tenner.store import files
from tenner.tools.untrusted import mark_untrusted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.agent.agent import Agent, Session
    from tenner.agent.turn import Result

_HARD_FACTOR = const(4)  # a session this many windows long loses its oldest turns even offline


async def tidy(agent: "Agent", session: "Session", who: str, pressing: bool = False) -> None:
    """Summarize a history that has outgrown its window, and count the cost."""
    result = None
    try:
        result = await compact(agent, session, who, pressing)
    except OSError as error:
        accounting.not_stored(agent, error)
    if result is not None:
        accounting.account(agent, "summary", who, result)


async def compact(
    agent: "Agent", session: "Session", who: str, pressing: bool = False
) -> "Result | None":
    """
    Let the model summarize the older half of `session` together with the old summary, and replace
    both by rename. People preempt it unless it is `pressing`; the next turn retries it.
    Return the turn's Result; None when nothing ran or a person preempted it.
    """
    history.check(session)
    cut = history.cut_for(session, session.window // 2)
    turn = Turn(agent, "summary", "Write the summary now.", session=session)
    turn.preemptible = not pressing
    turn.system = b"".join(files.blocks(*locate("agent/summary.md"))).decode()
    keep = 2 * session.window
    start = history.cut_for(session, keep)
    # A small context has windows shorter than a turn.
    while start >= cut and keep < session.size:
        keep *= 2
        start = history.cut_for(session, keep)
    turn.span = start, cut
    turn.tools = ()
    turn.is_tight = True
    if turn.span[0] >= cut or agent.spent("summary"):
        return None
    lane = agent.lane
    try:
        result = await (lane.person if pressing else lane.background)("summary:" + who, turn)
    except (LaneBusy, Preempted):
        return None
    if result.interrupted:
        return result
    history.check(session)  # this chat may have got a report meanwhile
    before = session.size
    if result.error is None and result.text:
        text = result.text
        if turn.untrusted_input:
            text = mark_untrusted("of an earlier conversation", text)
        history.compact(session, cut, text)
    else:
        log("session", "%s not compacted: %s" % (who, result.error or "the model said nothing"))
        if before <= _HARD_FACTOR * session.window:
            return result
        history.compact(session, cut)
    log("session", "%s compacted: %d -> %d bytes" % (who, before, session.size))
    return result
