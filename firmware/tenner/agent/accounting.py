# tenner agent.accounting: stores histories, counts tokens and reports results around turns.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.agent import history
from tenner.agent.history_records import record
from tenner.log import log
from tenner.tools.untrusted import SOMEBODY


def keep(agent, session, lines=()):
    """Check `session` and add the lines of a turn to it; return False when flash fails."""
    try:
        history.check(session)
        if lines:
            history.append(session, lines)
            agent.full = False
    except OSError as error:
        not_stored(agent, error)
        return False
    if session.repaired:
        session.repaired = False
        agent.notify("Part of our chat history was corrupt; I saved it as .bad.")
    return True


def not_stored(agent, error):
    """Log that the history could not be stored, and notify the owner once; the answer is still
    sent."""
    log("session", "history not stored: %s" % error)
    if not agent.full:
        agent.full = True
        agent.notify("I cannot keep our conversation on flash: %s" % error)


def account(agent, kind, who, result):
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


def remember(agent, channel, chat, text, untrusted=False):
    """
    Add a text the agent sends unasked to that chat's session, so that the person can answer it.
    `untrusted`: does it rest on text of somebody else?
    """
    head = "(you reported by yourself%s)" % (", also of text " + SOMEBODY if untrusted else "")
    lines = (record("u", head), record("a", text))
    keep(agent, agent.session(channel, chat), lines)


def report(agent, channel, chat, text, untrusted=False):
    """Report the result of a background task to the chat that asked, and let the person answer
    it."""
    if chat is None:
        channel, chat = agent.app.owner()
    if chat is None:
        log("agent", "no owner to notify: " + text)
        return
    remember(agent, channel, chat, text, untrusted)
    agent.app.deliver(channel, chat, text)
