# tenner channels.telegram.part: makes the channel, and names its services; see channels.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner import overlay
from tenner.channels.telegram import pair, receive
from tenner.channels.telegram.channel import Telegram
from tenner.log import log

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tenner.channels.telegram.types import Application

#: Safe mode has it, too: a person has to be able to repair the board.
IN_SAFE_MODE = True


def make(app: "Application") -> Telegram:
    """Return the channel, whose owner is in the settings or paired."""
    paired = pair.kept(app.state)
    if paired and not app.config.get("telegram.owner"):
        app.config.put("telegram.owner", paired)
    made = Telegram(app.config, app.http, app.slots, app.inbox, say=app.say, now=app.clock.known)
    made.lane = app.agent.lane
    if not app.port.small:
        made.draft = lambda message: app.agent.lane.draft("telegram:" + message.chat)
    return made


def services(app: "Application", bot: Telegram) -> "Iterator[tuple[str, Callable]]":
    """Yield its service; log how the board gets an owner, if it has none."""
    app.telegram = bot
    if bot.interrupted:
        # Before the outbox sends: it knows the id of an answer that it has, or has sent just now.
        overlay.later("SEND", None, receive.tell_interrupted, bot)
    if not bot.owner:
        log("telegram", "no owner yet. " + pair.offer(bot, app.state))
    yield "telegram", bot.poll
