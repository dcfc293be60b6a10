# tenner channels.question: questions to the owner: whether to ask, and the wait for yes or no.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio
from binascii import hexlify
from os import urandom

from tenner.log import log
from tenner.port.compat import const
from tenner.store.hours import Hours

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.agent.parts import Channels, Parts, Reaching
    from tenner.tools.types import Turn

#: Why a question failed: no code or connection for it fits into memory.
SHORT = const("the owner could not be asked: too little memory. Try again later")


#: The end of the text of a question that was sent as a file.
IN_FILE = const("\n(all of it is in the file)")


def is_owner(app: "Reaching", channel: str, chat: int | str) -> bool:
    """Return whether a person there is the owner, in any topic of their chat."""
    owner = app.owner()
    return channel in ("console", "page") or (
        channel == owner[0] and str(chat).split(":")[0] == str(owner[1]).split(":")[0]
    )


class Question:
    """
    A question with yes or no. `answer` is None until the owner answers. `id` is random, so that a
    late answer to an old question cannot count for this one. The owner sees `text`.
    """

    answer: bool | None = None
    message_id: int | None = None  # Telegram's, once it is sent
    sending: "asyncio.Task[None] | None" = None  # the task that sends it to Telegram
    failure: str | None = None  # why nobody can answer it

    def __init__(self, text: str) -> None:
        self.id = hexlify(urandom(4)).decode()
        self.text = text
        self._answered = asyncio.Event()

    def resolve(self, answer: bool) -> None:
        """Set the answer; True is yes."""
        self.answer = answer
        self._answered.set()

    def fail(self, why: str) -> None:
        """End the wait: the question cannot be asked."""
        self.failure = why
        self._answered.set()

    async def wait(self, timeout_s: float) -> bool:
        """Wait for the answer; a timeout means no. Raise OSError where it could not be asked."""
        try:
            await asyncio.wait_for(self._answered.wait(), timeout_s)
        except asyncio.TimeoutError:
            log("ask", "no answer in %d s: denied" % timeout_s)
        if self.failure:
            raise OSError(self.failure)
        return self.answer is True


async def ask(app: "Channels", text: str, turn: "Turn") -> bool:
    """Ask the owner, in the channel of `turn` where possible; return False for no."""
    if turn.kind != "person" and is_quiet(app):
        log("agent", "quiet hours: not asking")
        return False
    asked = app.telegram or app.mqtt or app.console
    for channel in (app.console, app.mqtt, app.page):
        if channel is not None and turn.channel == channel.name:
            asked = channel
    if asked is not None:
        return await asked.ask(text)
    log("agent", "no channel to the owner")
    return False


def is_quiet(app: "Parts") -> bool:
    """Return whether it is outside the heartbeat's hours; an unknown time counts as outside."""
    window = app.config.get("heartbeat.active_hours")
    if not window:
        return False
    local = app.get("zone").local(app.clock.now())
    return not (app.clock.trusted and Hours(window).active(local[3] * 60 + local[4]))
