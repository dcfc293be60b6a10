"""The owner on Telegram: writes to the board and sees its messages."""

from __future__ import annotations

from tenner_sim.services import OWNER, Sent, Telegram
from tests.hw.line import Line


class Failed(Exception):
    """A step failed; the text says why."""


class Owner:
    """Waits for at most `patience_s`, then raises Failed with the last lines of the board."""

    def __init__(self, telegram: Telegram, patience_s: float) -> None:
        self._telegram = telegram
        self._patience_s = patience_s

    def polls(self) -> int:
        """Return how many times the board has asked for messages."""
        with self._telegram.changed:
            return sum("getUpdates" in one.path for one in self._telegram.requests)

    def wait_polls(self, count: int) -> None:
        """Wait for so many polls; TimeoutError without them."""
        self._telegram.wait_requests(count, self._patience_s, "getUpdates")

    def told(self, part: str = "") -> list[str]:
        """Return the texts so far that hold `part`."""
        return [one.text for one in self._messages(part)]

    def wait_told(self, part: str, count: int, line: Line) -> None:
        """Wait until `count` texts hold `part`."""
        with self._telegram.changed:
            found = self._telegram.changed.wait_for(
                lambda: len(self.told(part)) >= count, self._patience_s
            )
        if not found:
            told = self.told()[-3:]
            raise Failed(f"{part!r} was not told, the last was {told}; {line.last()}")

    def say(self, text: str) -> None:
        """Write to the board."""
        self._telegram.say(OWNER, text)

    def ask(self, text: str, line: Line, part: str = "") -> str:
        """Write to the board, agree when it asks, and return the next answer that holds
        `part`."""
        before = len(self.told(part))
        self.say(text)
        while True:
            self.wait_told(part, before + 1, line)
            answer = self._messages(part)[before]
            if not answer.buttons:
                return answer.text
            # A question for approval, and its text is no answer.
            self._telegram.allow(answer)
            before += 1

    def _messages(self, part: str) -> list[Sent]:
        with self._telegram.changed:
            return [s for s in self._telegram.sent if s.chat_id == OWNER and part in s.text]
