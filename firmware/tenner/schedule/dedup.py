# tenner schedule.dedup: the same alert is not sent twice within a day.
# MIT license; Copyright (c) 2026 the tenner authors
"""
A text is known by its mark. Only what was confirmed as sent counts, and it counts over reboots; that an
alert still waits is known to whoever queued it, by the same mark.
"""

from tenner.port.compat import const

_MAX_KEPT = const(48)


class Dedup:
    """Works on state/said.json: [[mark of a text, when it arrived], ...]"""

    def __init__(self, heartbeat):
        config = heartbeat.config
        self._stores = heartbeat.stores()
        self._clock = heartbeat.clock
        self._window_s = config.get("heartbeat.dedup_h") * 3600
        self._mask = config.get("heartbeat.dedup_numbers")

    def repeats(self, mark):
        """Whether the text of that mark was sent within the window."""
        return any(said == mark for said, _ in self._recent())

    def confirm(self, mark):
        """The text of that mark has arrived."""
        import json

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

    def mark(self, text):
        """What a text is known by; None when everything may be said again at once."""
        if not self._window_s:
            return None
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
