# tenner agent.summary: replaces the old part of a session by a summary, outside a person's turn.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner import overlay
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

_HARD_FACTOR = const(4)  # a session this many windows long loses its oldest turns even offline


async def tidy(agent: "Agent", session: "Session", who: str, pressing: bool = False) -> None:
    """
    Let the model summarize the older half of a history that has outgrown its window, together with
    the old summary, and replace both by rename. People preempt it unless it is `pressing`; the
    next turn retries it.
    """
    if not pressing:
        agent.tidying = False
    # Each half leaves the memory during the model's call.
    try:
        turn = await overlay.step("TURN", _begin, agent, session)
        if turn is None:
            return
        turn.preemptible = not pressing
        run = agent.lane.person if pressing else agent.lane.background
        result = await run("summary:" + who, turn)
        await overlay.step("KEEP", _end, agent, turn, who, result)
    except (LaneBusy, Preempted):
        pass
    except OSError as error:
        accounting.not_stored(agent, error)


async def _begin(agent, session):
    """Return the Turn that asks for a summary, None when there is nothing to do."""
    # Another one may have done it already.
    if session.size <= session.window:
        return None
    history.check(session)
    cut = history.cut_for(session, session.window // 2)
    keep = 2 * session.window
    start = history.cut_for(session, keep)
    # A small context has windows shorter than a turn.
    while start >= cut and keep < session.size:
        keep *= 2
        start = history.cut_for(session, keep)
    if start >= cut or agent.spent("summary"):
        return None
    turn = Turn(agent, "summary", "Write the summary now.", session=session)
    turn.system = b"".join(files.blocks(*locate("agent/summary.md"))).decode()
    turn.span = start, cut
    turn.tools = ()
    turn.is_tight = True
    return turn


async def _end(agent, turn, who, result):
    """Replace the history before the end of `turn.span` by the summary, and count the cost."""
    if turn.span and not result.interrupted:
        # Now: a second try for want of memory must not cut the new history.
        cut, turn.span = turn.span[1], None
        _replace(turn, who, cut, result)
    accounting.account(agent, "summary", who, result)


def _replace(turn, who, cut, result):
    session = turn.session
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
            return
        history.compact(session, cut)
    log("session", "%s compacted: %d -> %d bytes" % (who, before, session.size))
