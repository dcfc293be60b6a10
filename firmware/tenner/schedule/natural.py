# tenner schedule.natural: clauses as people write them, put into the grammar of clauses.py.
# MIT license; Copyright (c) 2026 the tenner authors
"""
`Sentence` reads "when the room is above 30, tell me", "every day at 7", `daily 07:30: report` and
the like, in the languages of clause_words.tsv. It goes as far as it understands, and writes that
part as clauses: `when room.temperature > 30`.
"""

from tenner.schedule.line_words import Head
from tenner.schedule.rule_conditions import Conditions
from tenner.schedule.rule_times import STARTS
from tenner.schedule.rule_words import Stop


class Sentence(Conditions):
    """A line that can be a rule."""

    def is_meant(self) -> bool:
        """Return whether any word of it is one of a rule: a time, a comparison, a sensor."""
        if len([token for token in self.tokens if token[0] in ("num", "*")]) > 2:
            return True
        for index, token in enumerate(self.tokens):
            kind = token[0]
            ahead = self.tokens[index + 1][0] if index + 1 < len(self.tokens) else ""
            if kind in STARTS or kind[:2] in ("d:", "c:", "s:") and kind != "s:1" and index == 0:
                return True
            if kind in ("dot", "name", "sign") or kind[:5] == "time:" or kind[:3] == "op:":
                return kind != "op:=="
            if kind == "num" and (ahead in ("am", "pm", "clock", ":", "per") or ahead[:2] == "u:"):
                return True
            if kind in ("at", "on", "for", "in", "hours", "am") and ahead == "num":
                return True
        return False

    def clauses(self) -> tuple[list[str], int]:
        """Return the clauses and the place in `plain` behind them."""
        found: list[str] = []
        end = 0
        while True:
            back = self.at
            while found and (
                self.kind() in (";", ",", "and", "fill", ")")
                or (self.kind() == "(" and self.kind(1)[:2] == "c:")
            ):
                self.at += 1
            if not self.kind():
                break
            try:
                clause = self._clause()
            except Stop:
                self.at = back
                break
            found += clause
            end = self.tokens[self.at - 1][3]
        at = self.at
        # A verb at the end of its clause, as in German, belongs to it.
        while self.kind() in ("fill", "op:==") or (found and self.kind()[:2] == "v:"):
            self.at += 1
        if self.kind() in (",", ":", ";", "", ")") and at:
            end = self.tokens[self.at - 1][3] if self.at else end
        else:
            self.at = at
        return found, end

    def is_done(self) -> bool:
        """Return whether nothing but punctuation is left."""
        while self.kind() in (",", ":", ";", ".", ")", "fill"):
            self.at += 1
        return not self.kind()

    def is_order(self, rest: str) -> bool:
        """Return whether a task's text only says that the owner wants to be told."""
        words = Sentence(Head(rest), None)
        kinds = [token[0] for token in words.tokens]
        return "to:notify" in kinds and not [
            kind for kind in kinds if kind not in ("to:notify", "fill", "clock", ".", "!", ",")
        ]

    def first_time(self) -> str:
        """Return the first HH:MM that it names, 07:30 without any."""
        for index, token in enumerate(self.tokens):
            self.at = index
            if token[0] == "num" or token[0][:5] == "time:":
                try:
                    return self._clock("")
                except Stop:
                    pass  # another number
        return "07:30"

    def _clause(self):
        kind = self.kind()
        if kind[:2] == "c:":
            return [self._own(kind[2:])]
        if kind == "when":
            self.at += 1
            return ["when " + self._condition()]
        if kind in ("name", "dot") or kind[:2] == "v:":
            return ["when " + self._condition()]
        if kind == "cron":
            return [self._cron()]
        if kind in ("between", "from", "hours") and self.kind(1)[:2] != "d:":
            return [self._hours()]
        if kind == "to:notify" and self.at and self.end < len(self.head.plain):
            self.at += 1
            return ["notify"]
        if kind == "for" and not self._is_number(1):
            raise Stop
        return self._time()

    def _own(self, name):
        self.at += 1
        if name == "model":
            word = self._raw()
            return "model " + word
        if name == "escalate":
            seconds = self._duration()
            self._skip("to")
            return "escalate %ds to %s" % (seconds, self._raw())
        if name in ("repeat", "chart"):
            back = self.at
            try:
                self._skip("every")
                return "%s %ds" % (name, self._duration())
            except Stop:
                self.at = back
                if name == "repeat":
                    raise
        return name

    def _cron(self):
        self.at += 1
        start = self.tokens[self.at][2] if self.kind() else 0
        if self._raw(b" ;)")[:1] != "@":
            for _ in range(4):
                self._raw(b" ;)")
        fields = [self.head.plain[start : self.tokens[self.at - 1][3]].decode()]
        return "cron " + " ".join(fields)
