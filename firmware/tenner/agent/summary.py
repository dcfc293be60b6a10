# tenner agent.summary: replaces the old part of a session by a summary, outside a person's turn.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.agent.lane import LaneBusy, PutBack
from tenner.agent.turn import Turn
from tenner.log import log
from tenner.port.compat import const
from tenner.port.package import package_path
from tenner.store import files

_HARD_FACTOR = const(4)  # a session this many windows long loses its oldest turns even offline


async def compact(agent, session, who):
    """
    Let the model sum up the older half of `session`, with the old summary as an input, and put
    that in its place by rename. Gives way to people; tried again after the next turn.
    """
    session.open()
    cut = session.cut_for(session.window // 2)
    turn = Turn(agent, "summary", "Write the summary now.", session=session)
    turn.system = files.read_text(package_path("agent/summary.md"))
    turn.span = (session.cut_for(2 * session.window), cut)
    turn.tools = ()
    try:
        result = await agent.lane.background("summary:" + who, turn)
    except (LaneBusy, PutBack):
        return False
    agent.account("summary", who, result)
    if result.error is None and result.text:
        before = session.size()
        session.replace(result.text, cut)
        log("session", "%s summed up: %d -> %d bytes" % (who, before, session.size()))
        return True
    log("session", "%s not summed up: %s" % (who, result.error or "the model said nothing"))
    if session.size() > _HARD_FACTOR * session.window:
        session.drop(cut)
        log("session", "%s: the oldest turns were dropped, the summary stays" % who)
    return False
