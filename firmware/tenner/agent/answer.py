# tenner agent.answer: runs a turn for a person's message, and queues its answer.
# MIT license; Copyright (c) 2026 the tenner authors

import json

from tenner import overlay
from tenner.agent import accounting, cut_off, spool, summary
from tenner.agent.history_lines import record
from tenner.agent.message_queue import Message
from tenner.agent.turn import Turn
from tenner.log import log
from tenner.store import files, json_strict
from tenner.tools.untrusted import SOMEBODY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.agent.agent import Agent
    from tenner.agent.message_queue import Message
    from tenner.agent.parts import Inbox
    from tenner.agent.types import Answered


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
    if result.error is not None and keep(agent.app, message, turn):
        turn.session = None  # its history holds the second turn alone
        return
    text = result.error or result.text
    if result.kept and result.error is None:
        text = cut_off.deliver(agent, message, result)
    failed = result.error is not None or not text
    agent.app.reply(message, text or "(The model gave no text.)", failed, turn.lines)


# A turn cannot reach its model on a chip whose heap has grown into the memory of TLS. Such a board
# restarts itself (memory_guard). The message waits for that in state/again, `[chat, text, sender,
# reply_to, by_owner]`, and the start asks it again.
def keep(app: "Inbox", message: Message, turn: "Answered") -> bool:
    """Keep a message for a second turn; return False if its error is the answer."""
    result = turn.result
    if (
        message.again
        or app.again
        or message.channel != "telegram"
        or message.file  # it is gone after the turn
        or not result.outage
        or result.tool_calls  # no tool runs twice
        or not app.port.shares_memory
        or not app.get("semaphore").shortages
        or app.get("semaphore").why()  # a restart would not help
    ):
        return False
    text = message.text
    if turn.spooled:
        text = spool.text(turn.agent, turn.spooled, not message.by_owner)
    by_owner = message.by_owner and not message.quotes_agent
    kept = [message.chat, text, message.sender, message.reply_to, by_owner]
    try:
        files.write_atomic(path(app), json.dumps(kept))
    except OSError as error:
        log("agent", "a message was not kept for later: %s" % error)
        return False
    log("agent", "%s: asked again after a restart" % message.chat)
    app.again = True
    app.telegram.done(message)
    return True


async def ask(app: "Inbox") -> None:
    """Put the message that the last start kept into the inbox."""
    message = _load(app)
    if message is not None:
        message.again = True
        # First of all: a power cut from now on is told like one in any turn.
        app.telegram.open.append(message)
        app.telegram.save(app.telegram.offset)
        app.inbox.put_nowait(message)
    files.remove(path(app))


def path(app: "Inbox") -> str:
    """Return the path of the kept message."""
    return app.state + "/again"


def _load(app: "Inbox"):
    try:
        chat, text, sender, reply_to, by_owner = json_strict.loads(files.read_text(path(app)))
        if not (isinstance(text, str) and isinstance(sender, str)):
            raise ValueError("it is no message")
    except (ValueError, TypeError) as error:
        log("agent", "state/again is damaged: %s" % error)
        return None
    message = Message("telegram", chat, text, sender)
    message.reply_to = reply_to
    message.by_owner = by_owner
    return message
