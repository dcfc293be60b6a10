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
    """`waiting` is a list that is kept for it from one use to the next."""

    def __init__(self, stores, config, waiting):
        self._stores = stores
        self._window_s = config.get("heartbeat.dedup_h") * 3600
        self._mask = config.get("heartbeat.dedup_numbers")
        self._waiting = waiting

    def repeats(self, text, now, trusted):
        """Whether the text was sent within the window, or is on its way."""
        mark = self._mark(text)
        if not self._window_s:
            return False
        if mark in self._waiting:
            return True
        for said, when in self._load():
            if said == mark and self._counts(when, now, trusted):
                return True
        return False

    def queued(self, text):
        """The text is queued; it must not be queued again before it is confirmed."""
        self._waiting.append(self._mark(text))
        if len(self._waiting) > _MAX_WAITING:
            self._waiting.pop(0)

    def given_up(self, text):
        """The text will never be sent: it may be said again."""
        mark = self._mark(text)
        while mark in self._waiting:
            self._waiting.remove(mark)

    def confirm(self, text, now, trusted):
        """The text has arrived."""
        self.given_up(text)
        if not self._window_s:
            return
        mark = self._mark(text)
        kept = []
        for said, when in self._load():
            if said != mark and self._counts(when, now, trusted):
                kept.append((said, when))
        kept.append((mark, now))
        self._stores.save("said", _pieces(kept[-_MAX_KEPT:]))

    def _counts(self, when, now, trusted):
        # A time to come was written by another clock. Without a trusted one nobody knows how
        # long ago that was, and saying nothing twice is the promise.
        if when > now:
            return not trusted or when - now < self._window_s
        return now - when < self._window_s

    def _load(self):
        value, _ = self._stores.load("said")
        if not isinstance(value, list):
            return []
        return [(pair[0], pair[1]) for pair in value if isinstance(pair, list) and len(pair) == 2]

    def _mark(self, text):
        from binascii import hexlify
        from hashlib import sha256

        text = " ".join(text.lower().split())
        if self._mask:
            text = mask_numbers(text)
        return hexlify(sha256(text.encode()).digest()[:8]).decode()


def mask_numbers(text):
    """`12.5 of 30` becomes `# of #`."""
    out = []
    for char in text:
        if "0" <= char <= "9":
            if out[-2:] in (["#", "."], ["#", ","]):
                out.pop()
            elif out[-1:] != ["#"]:
                out.append("#")
        else:
            out.append(char)
    return "".join(out)


def _pieces(pairs):
    yield "["
    for index, (mark, when) in enumerate(pairs):
        yield '%s["%s",%d]' % ("," if index else "", mark, when)
    yield "]\n"
