# tenner schedule.rule_words: the words of a line, and a place among them.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.schedule.line_words import is_digits, is_letter, words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.schedule.known_values import Known
    from tenner.schedule.line_words import Head

_SIGNS = (">=", "<=", "==", "!=", "=>", "=<", ">", "<", "=")
_OWN = (
    (b"notify", "c:notify"), (b"urgent", "c:urgent"), (b"resolve", "c:resolve"),
    (b"repeat", "c:repeat"), (b"chart", "c:chart"), (b"model", "c:model"), (b"cron", "cron"),
    (b"escalate", "c:escalate"),
)  # fmt: skip


_SHORT = "s m h d w sec secs min mins hr hrs".split()


class Stop(Exception):
    """The words from here on are no clause."""


class Words:
    """The words of a folded line."""

    def __init__(
        self, head: "Head", known: "Known | None", start: int = 0, end: int | None = None
    ) -> None:
        self.head = head
        self.known = known
        self.end = len(head.plain) if end is None else end
        own = list(_OWN)
        if known:
            for name in known.phrases():
                own.append(name)
        #: Kind, text, beginning and end of each word.
        self.tokens = _tokens(head.plain, start, self.end, words(head.plain, own))
        self.at = 0

    def kind(self, ahead: int = 0) -> str:
        """Return the kind of the word here, "" behind the last."""
        place = self.at + ahead
        return self.tokens[place][0] if place < len(self.tokens) else ""

    def said(self, ahead: int = 0) -> str:
        """Return the word here itself."""
        place = self.at + ahead
        return self.tokens[place][1] if place < len(self.tokens) else ""

    def _raw(self, ends=b" ;,)"):
        if not self.kind():
            raise Stop
        start = self.tokens[self.at][2]
        plain = self.head.plain
        end = start
        while end < self.end and plain[end] not in ends:
            end += 1
        while self.kind() and self.tokens[self.at][2] < end:
            self.at += 1
        return self.head.cut(start, end)

    def _skip(self, *kinds):
        while self.kind() in kinds and self.kind():
            self.at += 1

    def _is_number(self, ahead=0):
        return self.kind(ahead) == "num" or self.kind(ahead)[:2] == "n:"

    def _number(self):
        """Return the number here, as text, and go on."""
        text = self.said() if self.kind() == "num" else self.kind()[2:]
        if not self._is_number():
            raise Stop
        self.at += 1
        return text

    def _duration(self):
        """Return the seconds of `10 minutes`, `1 h 30 min`, `half an hour`, `an hour`."""
        seconds = 0
        before = 1000000
        while self._is_number() or (before == 1000000 and self._unit_s()):
            back = self.at
            is_one = not self._is_number()
            if is_one and self.said() in _SHORT:
                raise Stop
            number = "1" if is_one else self._number()
            self._skip("fill", "clock") if not self._unit_s() else None
            size = self._unit_s()
            if not size:
                self.at = back
                break
            if size >= before or is_one and self._is_number(1):
                raise Stop
            before = size
            self.at += 1
            try:
                seconds += float(number.replace(",", ".")) * size
            except ValueError:
                raise Stop
            if self.kind() == "and" and self._is_number(1):
                self.at += 1
        if seconds < 1:
            raise Stop
        return int(seconds)

    def _unit_s(self):
        kind = self.kind()
        if kind[:2] == "u:":
            return int(kind[2:])
        return 3600 if kind in ("clock", "hours") else 0

    def _clock(self, part):
        """Return HH:MM of `7`, `7:30`, `7 uhr 30`, `7h30`, `7 pm`, `noon`."""
        kind = self.kind()
        if kind[:5] == "time:":
            self.at += 1
            return kind[5:]
        number = self._number()
        hour, dot, minute = number.replace(".", ":").replace(",", ":").partition(":")
        marked = bool(dot)
        if self.kind() == ":" and self.kind(1) == "num":
            minute = self.said(1)
            if len(minute) != 2:
                raise Stop
            marked = True
            self.at += 2
        if self.kind() in ("clock", "u:3600"):
            self.at += 1
            marked = True
            if self.kind() == "half":
                self.at += 1
                minute = "30"
            elif self.kind() == "num" and len(self.said()) == 2 and not minute:
                minute = self._number()
                self._skip("u:60")
        elif self.kind()[:2] == "u:":
            raise Stop
        if self.kind() in ("am", "pm") and is_digits(hour) and int(hour[:2]) > 12:
            raise Stop
        if self.kind() in ("am", "pm"):
            part = self.kind()[-2:]
            self.at += 1
            marked = True
        if (
            not is_digits(hour)
            or len(hour) > 2
            or (minute and (not is_digits(minute) or len(minute) != 2))
        ):
            raise Stop
        hour, minute = int(hour), int(minute or 0)
        if part == "pm" and hour < 12 and hour > 4:
            hour += 12
        elif part == "pm" and hour < 5 and hour and marked:
            hour += 12
        elif part == "am" and hour == 12:
            hour = 0
        if hour > 23 or minute > 59:
            raise Stop
        return "%02d:%02d" % (hour, minute)


def _tokens(plain, start, end, found):
    """Return [(kind, text, start, end)] of a folded line."""
    tokens = []
    at = start
    while at < end:
        byte = plain[at]
        if byte == 32:
            at += 1
            continue
        stop = at
        if 48 <= byte <= 57 or (
            byte in b"+-" and at + 1 < end and 48 <= plain[at + 1] <= 57
            and (at == start or plain[at - 1] in b" ><=.(" )
        ):  # fmt: skip
            stop = at + 1
            while stop < end and (48 <= plain[stop] <= 57 or (
                plain[stop] in b".," and stop + 1 < end and 48 <= plain[stop + 1] <= 57
            )):  # fmt: skip
                stop += 1
            tokens.append(("num", plain[at:stop].decode(), at, stop))
            at = stop
            continue
        if is_letter(byte) or byte == 95:
            while stop < end and (
                is_letter(plain[stop]) or 48 <= plain[stop] <= 57 or plain[stop] == 95
                or (plain[stop] == 46 and stop + 1 < end and is_letter(plain[stop + 1]))
            ):  # fmt: skip
                stop += 1
            word = plain[at:stop]
            if b"." in word and word not in (b"a.m", b"p.m"):
                tokens.append(("dot", word.decode(), at, stop))
                at = stop
                continue
        if at in found and found[at][0] <= end:
            stop, meaning = found[at]
            text = plain[at:stop].decode()
            if meaning == "fill" and is_letter(byte) and 48 <= (plain + b" ")[stop] <= 57:
                meaning = "w"
            if meaning[:5] == "name:":
                tokens.append(("name", meaning[5:], at, stop))
            else:
                tokens.append((meaning, text, at, stop))
            at = stop
            continue
        if stop > at:
            # Letters before digits, such as every30m, are a word of their own.
            tokens.append(("w", plain[at:stop].decode(), at, stop))
            at = stop
            continue
        for sign in _SIGNS:
            if plain[at : at + len(sign)] == sign.encode():
                tokens.append(("sign", sign, at, at + len(sign)))
                at += len(sign)
                break
        else:
            if plain[at : at + 2] == b"..":
                tokens.append(("..", "..", at, at + 2))
                at += 2
                continue
            stop = at + 1
            while byte >= 0xC0 and stop < end and plain[stop] & 0xC0 == 0x80:
                stop += 1
            text = plain[at:stop].decode()
            tokens.append((text if byte < 0x80 else "w", text, at, stop))
            at = stop
    return tokens
