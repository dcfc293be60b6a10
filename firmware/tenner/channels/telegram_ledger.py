# tenner channels.telegram_ledger: which updates were begun, and which are finished.
# MIT license; Copyright (c) 2026 the tenner authors
"""
The state is the lowest update id that is not finished, and two masks for the ids from there on. It is
written before a message is handed over and after it was answered.
"""

from tenner.log import log
from tenner.port.compat import const, ticks_diff, ticks_ms

_WINDOW = const(30)  # ids the masks can tell apart
_FORGET_MS = const(20 * 60 * 1000)


class Ledger:
    """`state` is a TwoSlots, `kept` what it loaded."""

    #: Most messages that wait for their answer; further ones wait at Telegram.
    max_open = 8

    def __init__(self, state, kept):
        self.offset = kept.get("o", 0)
        self.strangers = kept.get("s", [])  # whom the owner was told of
        self.strangers_day = 0
        self._state = state
        self._begun = kept.get("b", 0)  # bit n: update offset + n was handed over
        self._done = kept.get("d", 0)
        self._open = []  # (update id, message, message_id, since) of what waits for its answer

    def waits(self):
        """Is a message being worked on?"""
        for entry in list(self._open):
            # Nobody works that long on an answer; without this the queue would stand still.
            if ticks_diff(ticks_ms(), entry[3]) > _FORGET_MS:
                log("telegram", "no answer to update %d in 20 minutes: forgotten" % entry[0])
                self.done(entry[1])
        return bool(self._open)

    def limit(self):
        """How many updates to ask for, so that a new one is among them."""
        return 1 + sum(self._begun >> bit & 1 for bit in range(_WINDOW + 1))

    def seen(self, id, confirmed):
        """
        Is this update finished, or being worked on since the last restart? `confirmed`: Telegram has
        forgotten all we know of, so that any id is new.
        """
        bit = id - self.offset
        if not self._begun:
            return bit < 0 and not confirmed
        if bit < 0 or self._done >> bit & 1:
            return True
        return any(entry[0] == id for entry in self._open)

    def meet(self, id=None):
        """
        The first update not seen before has this id; None: there is none. What was begun before the
        restart and is older is gone, as Telegram keeps updates for a day only.
        """
        gone = self._begun & ~self._done
        if id is not None:
            # The first id ever is some hundred millions away from the 0 of an empty state.
            gone &= (1 << min(max(0, id - self.offset), _WINDOW + 1)) - 1
        for entry in self._open:
            gone &= ~(1 << (entry[0] - self.offset))
        if gone:
            self._done |= gone
            self._advance()
        if id is not None and not self._begun:
            self.offset = id

    def interrupted(self, id):
        """Was this update begun before the last restart, and not finished?"""
        bit = id - self.offset
        return bool(self._begun >> bit & 1) if 0 <= bit <= _WINDOW else False

    def has_room(self, id):
        """Can this update be begun, or must something be finished first?"""
        return id - self.offset <= _WINDOW and len(self._open) < self.max_open

    def begin(self, id, message=None, message_id=None):
        """Note that an update is being worked on; with a `message` until `done(message)`."""
        self._begun |= 1 << (id - self.offset)
        if message is not None:
            self._open.append((id, message, message_id, ticks_ms()))
        self.save()

    def finish(self, id):
        """Note that an update needs no more work."""
        bit = id - self.offset
        self._begun |= 1 << bit
        self._done |= 1 << bit
        self._advance()

    def _advance(self):
        """Move the offset to the lowest id that is not finished, and keep that."""
        unfinished = self._begun & ~self._done
        # Ids in between that were never seen do not exist.
        while self._begun and not unfinished & 1:
            self.offset += 1
            self._begun >>= 1
            self._done >>= 1
            unfinished >>= 1
        self.save()

    def save(self):
        self._state.save(
            {"o": self.offset, "b": self._begun, "d": self._done, "s": self.strangers}
        )

    def done(self, message):
        """The answer to this message is in the outbox: it need not be remembered any more."""
        for entry in list(self._open):
            if entry[1] is message:
                self._open.remove(entry)
                self.finish(entry[0])

    def reply_to(self, message):
        """Return the id to quote when answering this message, or None."""
        for entry in self._open:
            if entry[1] is message:
                return entry[2]
        return None
