"""`Way`: how sealed messages get to a board and back: through a broker, or over HTTP."""

from __future__ import annotations

from abc import ABC, abstractmethod

from tenner_host.errors import BoardSilent


class Busy(BoardSilent):
    """The board has not looked at the message, and may be asked again soon."""


class Way(ABC):
    """The way to one board. Its messages may be forged: only the seal counts."""

    #: Where the board is, for sentences.
    place: str
    #: The board is asked at least so often for the state of its update, in seconds.
    most_s: float
    #: Does the board announce its starts on this way?
    announces: bool

    @abstractmethod
    def send(self, data: bytes) -> None:
        """Send a message; BoardSilent with a sentence if that is impossible."""

    @abstractmethod
    def receive(self, limit_s: float) -> bytes | None:
        """Return the next message, which may be anybody's; None if none comes within the limit, or
        none can come any more. Busy if the board was busy."""

    @abstractmethod
    def drop(self) -> None:
        """Drop the messages that have come, before a new session."""

    def has_spoken(self) -> bool:
        """Has the board sent something since its last reply, so to another command? Its message
        is dropped. A way that cannot know it says no."""
        return False

    @abstractmethod
    def done(self) -> None:
        """Note that a reply is complete."""

    @abstractmethod
    def why(self) -> str:
        """Return a sentence's end with the reason for silence, as far as the way knows it; "" if
        it does not."""

    @abstractmethod
    def away(self) -> str:
        """Return why the board cannot be reached now, "" if it may be."""

    @property
    def is_off(self) -> bool:
        """Is the board known to be off the network at the moment?"""
        return False

    @abstractmethod
    def hear(self, limit_s: float) -> bool:
        """Wait so long for news; return True as soon as the board has just connected."""

    @abstractmethod
    def opened(self) -> None:
        """Note that the board has answered on this way."""

    @abstractmethod
    def close(self) -> None:
        """Release the connection."""
