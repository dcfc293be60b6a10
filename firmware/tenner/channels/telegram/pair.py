# tenner channels.telegram.pair: makes the sender of a one-time code from the console the owner.
# MIT license; Copyright (c) 2026 the tenner authors
"""
The holder of the serial line owns the board. So a code printed there, and sent to the bot in a
private chat, identifies the owner's chat. Settings win: pairing does not replace a chat named by
`telegram.owner`.
"""

from tenner.channels import pairing_code
from tenner.log import log
from tenner.port.compat import const
from tenner.store.two_slot import TwoSlots

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.channels.telegram.types import Pairing

_LENGTH = const(8)


def kept(state: str) -> str:
    """Return the paired chat, "" when there is none."""
    return TwoSlots(state + "/owner").load().get("w", "")


def offer(bot: "Pairing", state: str) -> str:
    """Make a new code, valid once and until the next start; return the sentence that shows it."""
    code = pairing_code.new(_LENGTH)
    bot.pair = (code, state)
    return "To own this agent, send its bot %s this message: %s" % (
        "@" + bot.bot_name if bot.bot_name else "on Telegram",
        code,
    )


def take(bot: "Pairing", update: dict, text: str) -> bool:
    """Make the writer of an update the owner if `text` is the offered code; return whether it
    is."""
    code, state = bot.pair
    words = text.split()
    # `t.me/<bot>?start=<code>` arrives as "/start <code>".
    if words[:1] == ["/start"]:
        words = words[1:]
    if update.get("chat.type") != "private" or [w.lower() for w in words] != [code]:
        return False
    chat = str(update["chat.id"])
    # On flash first: Telegram will not send the code again.
    TwoSlots(state + "/owner").save({"w": chat})
    bot.config.put("telegram.owner", chat)
    bot.owner = bot.home = chat
    bot.pair = None
    log("telegram", "paired: chat %s is the owner" % chat)
    bot.say(chat, "This agent is yours now. /help lists its commands.")
    return True
