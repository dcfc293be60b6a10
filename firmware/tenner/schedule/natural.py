# tenner schedule.natural: clauses as people write them, put into the grammar of clauses.py.
# MIT license; Copyright (c) 2026 the tenner authors
"""
`Sentence` reads "when the room is above 30, tell me", "every day at 7", `daily 07:30: report` and
the like, in the languages of clause_words.tsv. It goes as far as it understands, and writes that
part as clauses: `when room.temperature > 30`.
"""

from tenner.schedule.line_words import Head, dimensions
from tenner.schedule.rule_times import STARTS, Times
from tenner.schedule.rule_words import Stop

_FILL = ("fill", "or", "to", "from", "in", "on", "at", "of", "and", "th")


class Conditions(Times):
    """A line that can name times and conditions."""

    def _condition(self):
        terms = [self._term()]
        joint = ""
        while self.kind() in ("and", "or"):
            back = self.at
            word = self.kind()
            self.at += 1
            try:
                terms.append(self._term(terms[0]))
            except Stop:
                self.at = back
                break
            if joint and joint != word:
                raise Stop
            joint = word
        return (" %s " % joint).join(terms) + self._lasting()

    def _lasting(self):
        text = ""
        while True:
            kind = self.kind()
            back = self.at
            if kind in ("fill", "op:>") and self.kind(1) in ("for", "within"):
                self.at += 1
                continue
            if kind in ("for", "within", "in"):
                self.at += 1
                try:
                    self._skip("op:>", "op:>=", "fill", "for")
                    text += " %s %ds" % ("for" if kind == "for" else "within", self._duration())
                    continue
                except Stop:
                    self.at = back
                    return text
            if kind == "reset":
                self.at += 1
                self._skip("fill", "to", "at")
                text += " reset " + self._amount()
                continue
            return text

    def _subject(self):
        """Return (sensor, value, whether a value was named) of the words before a comparison."""
        sensor = value = ""
        dotted = ""
        while True:
            kind = self.kind()
            if kind == "dot":
                dotted = self.head.cut(*self.tokens[self.at][2:])
            elif kind == "name":
                # A name may be that of a value too.
                sensor = sensor or self.said()
            elif kind[:2] == "v:":
                value = value or kind[2:]
            elif kind not in _FILL and (kind != "op:==" or sensor or value or dotted):
                break
            if kind == "on" and (sensor or dotted):
                break
            self.at += 1
        return sensor, value, dotted

    def _term(self, before=None):
        back = self.at
        sensor, value, dotted = self._subject()
        if not (sensor or value or dotted):
            self.at = back
            raise Stop
        op, amount, unit = self._comparison()
        implied = ""
        if op.count(":"):
            op, _, implied = op.partition(":")
        if not dotted:
            dotted = self._full_name(sensor, value or implied, unit)
        elif self.known:
            dotted = self.known.spelled(dotted)
        return "%s %s %s%s" % (dotted, op, amount, (" " + unit if unit else ""))

    def _full_name(self, sensor, value, unit):
        found = self.known.find(sensor, value, unit) if self.known else None
        if not found:
            raise Stop
        return found

    def _comparison(self):
        """Return (operator, number, unit) of `above 30 C`, `30 C above`, `is open`."""
        op = ""
        negated = signed = False
        while True:
            kind = self.kind()
            if signed and kind[:3] == "op:" and kind[3:] not in ("==", op):
                # "< above 30"
                raise Stop
            if kind[:3] == "op:":
                # `is above`: the later word says more.
                op = kind[3:] if not op or op == "==" or kind[3:] != "==" else op
            elif kind == "sign":
                # `> =` is one sign, too.
                sign = (op if op in (">", "<") else "") + self.said()
                op = {"=": "==", "=>": ">=", "=<": "<="}.get(sign, sign)
                signed = True
            elif kind == "not":
                negated = True
            elif kind == "for" and not op and self._is_number(1):
                op = ">"
            elif kind == "when" and self.said() == "falls":
                op = "drops by"
            elif kind not in ("fill", "at", "to", "in"):
                break
            self.at += 1
        if kind[:2] == "s:" or kind == "on":
            state = 1 if kind == "on" else int(kind[2:])
            self.at += 1
            if op not in ("", "=="):
                raise Stop
            return ("!=" if negated else "=="), str(state), ""
        if negated and op != "==":
            raise Stop
        if op == "changes" and not self._is_number():
            return op, "", ""
        if op == "outside":
            return self._outside()
        number = self._number()
        if self.kind() == "/":
            raise Stop
        unit = self._unit()
        if not op:
            # Behind the number, as in Japanese.
            self._skip("fill")
            if self.kind()[:3] != "op:":
                raise Stop
            op = self.kind()[3:]
            self.at += 1
        if negated:
            op = "!="
        if op == "changes":
            op = "changes by"
        return op, number, unit

    def _outside(self):
        """Return the same of `outside 20 to 25`."""
        low = self._number()
        self._unit()
        if self.kind() not in ("-", "to", "and", "..") and not (
            self.kind() == "num" and self.said()[0] == "-"
        ):
            raise Stop
        if self.kind() != "num":
            self.at += 1
            high = self._number()
        else:
            high = self._number()[1:]
        return "outside", low + ".." + high, self._unit()

    def _amount(self):
        number = self._number()
        unit = self._unit()
        return number + (" " + unit if unit else "")

    def _unit(self):
        """Return the unit behind a number: a row of the table, or letters that are no word."""
        kind = self.kind()
        if kind[:5] == "unit:":
            self.at += 1
            # `degrees c`, `° c`: both are one unit.
            if kind[5:] == "\u00b0C" and self.kind() == "w" and self.said() in ("c", "f"):
                self.at += 1
                return "\u00b0" + self.tokens[self.at - 1][1].upper()
            return kind[5:]
        is_joined = self.at < len(self.tokens) and (
            self.tokens[self.at][2] == self.tokens[self.at - 1][3]
        )
        if kind == "w" and (is_joined or dimensions(self.said())):
            return self._raw(b" ;,):")
        return self._raw(b" ;,):") if kind[:2] == "u:" and is_joined else ""


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
