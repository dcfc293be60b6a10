# tenner schedule.line_rule: finds the rule in a line that is not written as clauses.py has it.
# MIT license; Copyright (c) 2026 the tenner authors
"""A line like a rule is one, or off with a sentence. It never becomes a paid task."""

from tenner.schedule.line_words import Head, is_letter
from tenner.schedule.natural import Sentence
from tenner.schedule.rule_times import STARTS
from tenner.store.suggest import nearest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.schedule.known_values import Known

_MEANT = '"%s" is no clause; did you mean "%s"?'
_TIMES = (
    "every", "daily", "weekdays", "weekends", "hourly", "weekly", "monthly", "yearly", "part:am",
    "part:pm",
)  # fmt: skip
_WRITTEN = (
    "every", "daily", "when", "weekly", "monthly", "weekdays", "weekends", "hourly", "tomorrow",
    "wenn", "jeden", "taglich", "chaque", "quand", "cuando", "cada",
)  # fmt: skip
_LONG = ("hourly", "notify", "urgent", "resolve", "weekly", "monthly")
# Behind a rule that was understood these would be more of it.
_MORE = STARTS + (
    "sign",
    "for",
    "within",
    "reset",
    "or",
    "not",
    "hours",
    "num",
)


def read(
    text: str, known: "Known | None", is_item: bool
) -> tuple[list[str] | None, str, str | None]:
    """
    Return (clauses, the task's text, problem) of a line's text: clauses in the words of
    clauses.py, None without a rule; then the text is all of it.
    """
    head = Head(text)
    plain = head.plain
    start = 0
    while start < len(plain) and not _begins(plain, start):
        start += 1
    if plain[start : start + 1] == b"(":
        end = plain.find(b")", start)
        sentence = Sentence(head, known, start + 1, end if end >= 0 else None)
        clauses, _ = sentence.clauses()
        if clauses and sentence.is_done() and end >= 0:
            if is_cut(plain[end + 1 :]):
                return (
                    None,
                    text,
                    'a bracket is closed twice; write "(%s)" once' % "; ".join(clauses),
                )
            return _complete(sentence, clauses, _behind(head, start, end + 1), text)
        if end >= 0 and _resembles(plain[start + 1 : end]):
            return None, text, _problem(sentence, known)
        if sentence.is_meant() or (clauses and end >= 0):
            return None, text, _problem(sentence, known) if end >= 0 else (
                'the bracket is never closed; expected ")"'
            )  # fmt: skip
    else:
        found = _first(head, known, start, text, is_item)
        if found:
            return found
    return _later(head, known, start, text) if is_item else (None, text, None)


def is_cut(rest: bytes) -> bool:
    """Return whether a text closes a bracket that it did not open, smileys aside."""
    for smiley in (b":)", b";)", b":-)", b";-)", b"=)"):
        rest = rest.replace(smiley, b"")
    return rest.count(b")") > rest.count(b"(")


def _resembles(inner):
    """Return whether a bracket has nothing but a misspelled clause."""
    word = b"".join([bytes((byte,)) for byte in inner if is_letter(byte)]).decode()
    return len(inner) < 12 and len(word) > 4 and bool(nearest(word, _LONG))


def _begins(plain, at):
    """Return whether a line's first word or bracket stands here, not decoration before it."""
    byte = plain[at]
    if byte >= 0x80 or is_letter(byte) or 48 <= byte <= 57 or byte in b"(@":
        return True
    return byte in b"<>=+-" and plain[at + 1 : at + 2].strip()[:1].isdigit()


def _behind(head, start, end):
    """Return the text behind a rule, without separators and decoration."""
    decoration = "*_`~ " if head.plain[:start].strip() else ""
    rest = head.cut(end).strip()
    while (
        rest[:1] and rest[0] in " ,:;.)]}-\u2013\u2014\u3001\uff0c\uff1a\u3002\uff1b" + decoration
    ):
        rest = rest[1:]
    return rest.rstrip(decoration) if decoration else rest


def _complete(sentence, clauses, rest, text):
    if rest and clauses[0][:4] == "when" and len(clauses) == 1 and sentence.is_order(rest):
        # "Tell me" alone: the text is the reading itself, which needs no model.
        name = clauses[0].split()[1]
        return clauses + ["notify"], "%s: {%s}" % (clauses[0][5:], name), None
    return clauses, rest, None


def _first(head, known, start, text, is_item):
    """Read a line that begins with a rule; return None for any other."""
    sentence = Sentence(head, known, start)
    tokens = sentence.tokens
    if not tokens:
        return None
    first = tokens[0][0]
    ahead = tokens[1][0] if len(tokens) > 1 else ""
    is_start = _is_start(tokens, first, ahead)
    clauses, end = sentence.clauses()
    if clauses and (is_start or first in ("name", "dot") or first[:2] == "v:"):
        if first[:2] == "c:" and len(clauses) == 1 and not sentence.is_done():
            # "Notify me of mail" is an intent, `notify: mail` is a clause.
            if not is_item or sentence.kind() != ":":
                return None
        more = sentence.kind()
        if more == "-" and sentence.kind(1) == "num":
            more = "num"
        if more in ("and", ",", "/") and sentence.kind(2) in (":", "clock", "am", "pm"):
            # A second time of day.
            more = sentence.kind(1)
        if more in _MORE or more[:2] in ("d:", "u:", "c:") or more[:3] == "op:":
            return None, text, _problem(sentence, known)
        rest = _behind(head, start, end)
        return _complete(sentence, clauses, rest, text)
    if not is_start and first == "w" and len(tokens[0][1]) > 3:
        near = nearest(tokens[0][1], _WRITTEN)
        is_start = bool(near) and near[0] == tokens[0][1][0] and _has_evidence(tokens[1:10])
    is_word = ahead and is_letter(head.plain[tokens[1][2]]) and " " not in tokens[0][1]
    if not is_start and is_item and is_word:
        # A word with a space in it.
        joined = bytes(head.plain[start : tokens[0][3]] + head.plain[tokens[1][2] :])
        if _has_evidence(tokens[1:8]):
            other = Sentence(Head(joined.decode()), known)
            clauses, _ = other.clauses()
            if clauses and clauses[0] != "notify":
                return None, text, _MEANT % (tokens[0][1], "; ".join(clauses))
    if not is_start or (first[:2] == "c:" and ":" not in text[:20]):
        return None
    if not is_item and ahead == ":":
        return None
    if is_item or _has_evidence(tokens[:12], first != "when"):
        return None, text, _problem(sentence, known)
    return None


def _is_start(tokens, first, ahead):
    """Return whether the first words are those of a rule."""
    behind = tokens[2][0] if len(tokens) > 2 else ""
    if first in ("at", "on", "in", "for", "from", "am", "within", "fill"):
        near = [token[0] for token in tokens[1:4]]
        if first != "fill" and ahead != "w" and ("num" in near[:2] or "daily" in near):
            return True
        is_one = ahead[:2] == "n:" or tokens[1:] and tokens[1][1] in ("a", "an")
        return (
            ahead in ("num", "sunset", "sunrise")
            or ahead[:2] == "d:"
            or (is_one and behind[:2] == "u:")
        )
    if first == "num" or first[:2] == "n:":
        if ahead in ("am", "pm", "clock", ":", "per") or ahead[:2] == "u:" or ahead in _TIMES:
            return True
        if len([token for token in tokens[:6] if token[0] in ("num", "*")]) > 4:
            return True
        # A date.
        is_long = len(tokens[0][1]) > 3 or ahead != "-"
        return ahead in ("-", "/", ".") and behind == "num" and is_long
    if first == "next":
        return ahead[:2] in ("d:", "u:") or ahead in STARTS
    if first == "dot":
        return "num" in (ahead, behind) or ahead == "sign" or ahead[:3] == "op:"
    if first[:2] == "u:":
        return ahead == "at"
    if first == "w" and ahead[:3] == "op:" and behind == "num":
        return ahead != "op:=="
    if first == "w" and ahead == "num":
        is_short = len(tokens[0][1]) < 4
        return behind == ":" or (is_short and (behind[:2] == "u:" or behind in _TIMES))
    return first in STARTS or first == "sign" or first[:2] in ("d:", "c:") or first[:5] == "time:"


def _has_evidence(tokens, by_words=True):
    """Return whether a time, a number or a sensor is named."""
    for kind, _, _, _ in tokens:
        if kind in ("num", "sign", "dot", "name") or kind[:2] in ("d:", "n:"):
            return True
        if by_words and (kind in _TIMES or kind[:2] == "u:"):
            return True
    return False


def _later(head, known, start, text):
    """Read a rule behind other words."""
    plain = head.plain
    if is_cut(plain[start:]):
        sentence = Sentence(head, known, start, plain.rfind(b")"))
        if _has_evidence(sentence.tokens) or _resembles(plain[start : plain.find(b")")]):
            return None, text, _problem(sentence, known)
    at = plain.find(b"(", start + 1)
    while at >= 0:
        end = plain.find(b")", at)
        if end < 0:
            break
        sentence = Sentence(head, known, at + 1, end)
        clauses, _ = sentence.clauses()
        if clauses and sentence.is_done() and plain[at - 1 : at] != b"{":
            if not plain[end + 1 :].strip(b" .!:,*_`"):
                return _complete(sentence, clauses, head.cut(start, at).strip(), text)
            return None, text, _put_first(clauses)
        is_near = at - start < 10 and plain[at - 1 : at] != b")"
        # `{room.temperature}` is a value in a text.
        if is_near and head.cut(at, at + 1) != "{" and sentence.is_meant():
            return None, text, _problem(sentence, known)
        at = plain.find(b"(", end)
    sentence = Sentence(head, known, start)
    tokens = sentence.tokens
    for index in range(1, len(tokens)):
        kind = tokens[index][0]
        if kind == "sign" and _compares(tokens, index):
            return None, text, _problem(sentence, known)
        if kind in ("name", "dot") or kind[:2] == "v:":
            # Not "the door is open", which a person may say of anything.
            sentence.at = index
            clauses, _ = sentence.clauses()
            if clauses and ("<" in clauses[0] or ">" in clauses[0]):
                return None, text, _put_first(clauses)
            continue
        ahead = tokens[index + 1][0] if index + 1 < len(tokens) else ""
        if kind in ("at", "in") and ahead != "num":
            continue
        if (
            kind not in ("when", "tomorrow", "at", "in")
            and kind not in _TIMES
            and kind[:2] != "d:"
        ):
            continue
        sentence.at = index
        clauses, _ = sentence.clauses()
        if clauses and sentence.is_done():
            rest = head.cut(start, tokens[index][2]).strip(" ,;:-")
            return _complete(sentence, clauses, rest, text)
        if clauses:
            return None, text, _put_first(clauses)
        if kind == "when":
            near = [token[0] for token in tokens[index : index + 9]]
            if "num" in near and [one for one in near if one[:4] in ("op:>", "op:<")]:
                return None, text, _problem(sentence, known)
        sentence.at = index + 1
        sentence.at += sentence.kind() in _TIMES
        if kind in _TIMES and kind != "every" and sentence.is_done():
            return None, text, 'it names no hour; expected "daily 07:30" in brackets before it'
    kinds = [token[0][:2] for token in tokens]
    if "to" in kinds and "nu" in kinds and "u:" in kinds and "s:" in kinds:
        # "Tell me, 10 minutes, open" in any order.
        return None, text, _problem(sentence, known)
    return None, text, None


def _compares(tokens, index):
    """Return whether a sign is a comparison with a number, no arrow."""
    ahead = tokens[index + 1][0] if index + 1 < len(tokens) else ""
    return ahead == "num" and tokens[index - 1][0] not in ("-", "=", "num")


def _put_first(clauses):
    return 'a rule stands first; write "(%s)" before the text' % "; ".join(clauses)


def _problem(sentence, known):
    """Return a sentence about a rule that is not understood, with the nearest right one."""
    tokens = sentence.tokens
    word = tokens[min(sentence.at, len(tokens) - 1)][1]
    kinds = [token[0] for token in tokens]
    for kind, text, start, end in tokens:
        near = nearest(text, _WRITTEN) if kind == "w" and len(text) > 3 else None
        if near:
            plain = sentence.head.plain
            right = plain[:start].strip(b"( ") + b" " + near.encode() + plain[end : sentence.end]
            clauses, _ = Sentence(Head(right.decode()), known).clauses()
            if clauses:
                return _MEANT % (text, "; ".join(clauses))
    if kinds.count("*") > 1:
        example = "cron 0 9 * * 1-5"
    elif "when" in kinds or "sign" in kinds or "dot" in kinds:
        name = known.example() if known else "room.temperature"
        for kind, dotted, _, _ in tokens:
            if kind == "dot" and known and not known.problem(*dotted.rsplit(".", 1)):
                name = dotted
        example = "when %s > 30" % name
    elif "tomorrow" in kinds or "today" in kinds:
        example = "tomorrow " + sentence.first_time()
    else:
        example = "every 10m"
        for index, kind in enumerate(kinds):
            if kind == "num" and index + 1 < len(kinds) and kinds[index + 1][:2] == "u:":
                example = "every %s%s" % (tokens[index][1], tokens[index + 1][1])
                break
            if kind in ("at", "num", "clock", "daily", "on") or kind[:5] in ("time:", "part:"):
                example = "daily %s" % sentence.first_time()
    text = '"%s" is not understood; write a rule like "%s" in brackets' % (word, example)
    return text + ', or "tomorrow 08:00" for one time' if example[:5] == "daily" else text
