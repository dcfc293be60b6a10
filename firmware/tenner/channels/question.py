# tenner channels.question: a question to the owner that waits for yes or no.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio
from binascii import hexlify
from os import urandom

from tenner.log import log


class Question:
    """
    A question with yes or no. `answer` is None until the owner answers. `id` is random, so that a
    late answer to an old question cannot count for this one.
    """

    answer: bool | None = None
    message_id: int | None = None  # Telegram's, once it is sent
    sending: "asyncio.Task[None] | None" = None  # the task that sends it to Telegram

    def __init__(self, text: str) -> None:
        self.id = hexlify(urandom(4)).decode()
        self.text = text
        self._answered = asyncio.Event()

    def resolve(self, answer: bool) -> None:
        """Set the answer; True is yes."""
        self.answer = answer
        self._answered.set()

    async def wait(self, timeout_s: float) -> bool:
        """Wait for the answer; a timeout means no."""
        try:
            await asyncio.wait_for(self._answered.wait(), timeout_s)
        except asyncio.TimeoutError:
            log("ask", "no answer in %d s: denied" % timeout_s)
        return self.answer is True
