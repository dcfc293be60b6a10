# tenner schedule.dedup: the same alert is not sent twice within a day.
# MIT license; Copyright (c) 2026 the tenner authors
"""
Only what was confirmed as sent counts, and it counts over reboots. Nothing is kept in memory
but the few alerts that wait for their confirmation.
"""

from tenner.port.compat import const

_MAX_KEPT = const(48)
_MAX_WAITING = const(8)


class Dedup:
    """Works on state/said.json: [[mark of a text, when it arrived], ...]"""

    def __init__(self, heartbeat):
        config = heartbeat.config
        self._stores = heartbeat.stores()
        self._clock = heartbeat.clock
        self._waiting = heartbeat.waiting
        self._window_s = config.get("heartbeat.dedup_h") * 3600
        self._mask = config.get("heartbeat.dedup_numbers")

    def repeats(self, text):
        """Whether the text was sent within the window, or is on its way."""
        mark = self._mark(text)
        return bool(self._window_s) and (
            mark in self._waiting or any(said == mark for said, _ in self._recent())
        )

    def queued(self, text):
        """The text is queued; it must not be queued again before it is confirmed."""
        self._waiting.append(self._mark(text))
        del self._waiting[:-_MAX_WAITING]

    def given_up(self, text):
        """The text will never be sent: it may be said again."""
        mark = self._mark(text)
        while mark in self._waiting:
            self._waiting.remove(mark)

    def confirm(self, text):
        """The text has arrived."""
        import json

        self.given_up(text)
        mark = self._mark(text)
        kept = [pair for pair in self._recent() if pair[0] != mark]
        kept.append([mark, self._clock.now()])
        self._stores.save("said", [json.dumps(kept[-_MAX_KEPT:])])

    def _recent(self):
        """Yield what was sent within the window."""
        now = self._clock.now()
        for pair in self._stores.load("said")[0] or ():
            age_s = now - pair[1]
            # A time to come was written by another clock. Without a trusted one nobody knows how
            # long ago that was, and saying nothing twice is the promise.
            if -self._window_s < age_s < self._window_s or (age_s < 0 and not self._clock.trusted):
                yield pair

    def _mark(self, text):
        from binascii import hexlify
        from hashlib import sha256

        text = " ".join(text.lower().split())
        if self._mask:
            text = mask_numbers(text)
        return hexlify(sha256(text.encode()).digest()[:8]).decode()


def mask_numbers(text):
    """`12.5 of 30` becomes `# of #`."""
    for digit in "0123456789":
        text = text.replace(digit, "#")
    for part in ("#.#", "#,#", "##"):
        while part in text:
            text = text.replace(part, "#")
    return text
