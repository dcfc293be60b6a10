# tenner agent.accounting: what is done before and after turns: histories are kept, tokens counted, people told.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.agent import history
from tenner.agent.history_records import record
from tenner.log import log
from tenner.tools.untrusted import SOMEBODY


def keep(agent, session, lines=()):
    """Check `session` and add the lines of a turn to it; False when flash cannot do that now."""
    try:
        history.check(session)
        if lines:
            history.append(session, lines)
            agent.full = False
    except OSError as error:
        not_kept(agent, error)
        return False
    if session.repaired:
        session.repaired = False
        agent.notify("A damaged part of our conversation was set aside (.bad).")
    return True


def not_kept(agent, error):
    """What was said is lost to memory only: the person is answered, and told once."""
    log("session", "not kept: %s" % error)
    if not agent.full:
        agent.full = True
        agent.notify("I cannot keep our conversation on flash: %s" % error)


def account(agent, kind, who, result):
    """Count and log what a turn has cost."""
    try:
        agent.part("budget").spend(result.tokens(), kind, result.estimated)
    except OSError as error:
        log("budget", "not kept: %s" % error)
    log(
        "agent",
        "%s: %d rounds, %d tool calls, %d tokens, %d ms"
        % (who, result.rounds, result.tool_calls, result.tokens(), result.ms),
    )


def remember(agent, channel, chat, text, untrusted=False):
    """
    Put what is sent of the agent's own accord into that chat's session, so it can be answered. `untrusted`: has it come of
    what somebody else wrote?
    """
    head = "(you reported by yourself%s)" % (", also of what is " + SOMEBODY if untrusted else "")
    lines = (record("u", head), record("a", text))
    keep(agent, agent.session(channel, chat), lines)


def report(agent, channel, chat, text, untrusted=False):
    """Tell whoever asked what came of a background task, and let them answer it."""
    if chat is None:
        channel, chat = agent.app.owner()
    if chat is None:
        log("agent", "nobody to tell: " + text)
        return
    remember(agent, channel, chat, text, untrusted)
    agent.app.deliver(channel, chat, text)
