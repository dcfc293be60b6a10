# tenner agent.answer: runs a turn for a person's message and queues its answer.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner import overlay
from tenner.agent import accounting, again, cut_off, spool, summary
from tenner.agent.history_records import record
from tenner.agent.turn import Turn
from tenner.tools.untrusted import SOMEBODY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.agent.agent import Agent
    from tenner.agent.message_queue import Message


async def answer(agent: "Agent", message: "Message") -> None:
    """Run a person's turn and put its answer, or an error, into the outbox."""
    # The code of this function stays in memory during the turn, so it leaves most to others.
    turn = await _prepare(agent, message)
    if turn is not None:
        session = turn.session
        turn.on_result = lambda result: _reply(agent, message, turn)
        await agent.lane.person(_who(message), turn)
        _account(agent, message, turn.result, session)


def _who(message):
    return "%s:%s" % (message.channel, message.chat)


async def _prepare(agent, message):
    """Return the Turn for a message, None when the day's tokens are spent."""
    if agent.spent("person"):
        text = "Today's token budget is used up, including the reserve. It resets at midnight."
        return agent.app.reply(message, text, True)
    head = "" if message.by_owner else "(%s than the owner)\n" % SOMEBODY
    end = "\n\n(now: %s)" % agent.app.now_text()
    # The turn may be tried again: the message stays whole.
    spooled = spool.put(agent, message, head, end) if message.pieces else 0
    session = agent.session(message.channel, message.chat)
    if session.size > session.window * 3 // 2:
        # A stream of messages left no pause for a summary; text older than two windows would be
        # lost.
        await summary.tidy(agent, session, _who(message), True)
    session.window, session.most = agent.window()  # the last turn may have reduced them
    text = head + message.text + end
    turn = Turn(agent, "person", text, message.channel, message.chat, session)
    turn.spooled = spooled
    turn.untrusted_input = message.quotes_agent or not message.by_owner
    if message.image:
        # Anybody may have written the text in a picture.
        turn.untrusted_input = True
        turn.image = record("i", message.image[1], message.image[0])
    return turn


def _account(agent, message, result, session):
    accounting.account(agent, "person", _who(message), result)
    if session.size > session.window and not agent.tidying:
        agent.tidying = True
        overlay.later("TURN", agent.wait_quiet, summary.tidy, agent, session, _who(message))


def _reply(agent, message, turn):
    result = turn.result
    if result.error is not None and again.keep(agent.app, message, turn):
        turn.session = None  # its history holds the second turn alone
        return
    text = result.error or result.text
    if result.kept and result.error is None:
        text = cut_off.deliver(agent, message, result)
    failed = result.error is not None or not text
    agent.app.reply(message, text or "(The model gave no text.)", failed)
