# tenner agent.accounting: stores histories, counts tokens and reports results around turns.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.agent import history
from tenner.agent.history_records import record
from tenner.log import log
from tenner.port.compat import const
from tenner.tools.untrusted import SOMEBODY

_HISTORY = const("history")

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from tenner.agent.agent import Agent, Session
    from tenner.agent.types import Cost


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
