# tenner near_rules: right lines of HEARTBEAT.md with one random edit, and their verdicts.
# MIT license; Copyright (c) 2026 the tenner authors
"""`edited(choose)` makes a line; `verdict(line, right)` says how it is read. `choose(n)` gives a
number below n."""

from tenner.schedule import heartbeat_parser
from tenner.schedule.known_values import Known

KNOWN = {
    "room": {"driver": "tmp102"},
    "cellar": {"driver": "sht31"},
    "battery": {"driver": "ads1115"},
    "door": {"driver": "gpio"},
    "tank": {"driver": "adc", "value": "level"},
}
RIGHT = (
    "(every 10m) Look at the post.",
    "(daily 07:30) Report the night.",
    "(weekdays 09:00) Sum up the night.",
    "(every monday at 19:00; notify) Change the water.",
    "(cron 0 9 * * 1-5) Summary.",
    "(when room.temperature > 30 °C for 3m reset 28 °C; notify; urgent) Hot: {room.temperature}",
    "(every 1m; when cellar.temperature outside 10..15 for 1h; notify) Cellar",
    "(every 30s; when tank.level < 20 % reset 25 %; notify) Tank low",
    "(every 10s; when door.state is open for 10m; notify) Door open.",
    "(when room.temperature > 27 and cellar.humidity > 60 % for 10m; notify) Damp",
    "(every 1h; hours 08:00-20:00; model small) Inbox.",
    "(when battery.voltage < 11.8V for 5m reset 12.4V; notify; repeat 1h) Low",
    "(daily 18:00; when tank.level < 30 %; notify) Dry",
    "(when tank.level drops by 15 % within 2h; notify) Leak",
    "(hourly) Once an hour.",
    "(mondays 7pm) Bins.",
)
_BULLETS = (
    "", "* ", "+ ", "• ", "– ", "— ", "1. ", "2) ", "a) ", "(3) ", "・", "-", "*", " - ", "- [ ] ",
    "> ", "☐ ", "→ ", "- - ", "-- ", "# ", "~ ", "» ", "-\t", "① ",
)  # fmt: skip
_SPACES = (" ", "  ", "\t", "\u00a0", "\u3000", "")
_WORDS = "when every daily notify the banana for 10m above tell me and 30 °C now".split()
_SIGNS = "()[]{};:,.!?*`'\"<>=-_/|（）；：、…–"
_UNITS = "°C °F K % V mV m h s min zorks ppm kPa hours".split()


def edited(choose):
    """Return (a right line with another bullet, or with one edit of its clauses, that line)."""
    line = RIGHT[choose(len(RIGHT))]
    head, _, rest = line.partition(")")
    head += ")"
    edit = (_bullet, _space, _word, _sign, _unit)[choose(5)]
    if edit == _bullet:
        return _BULLETS[choose(len(_BULLETS))] + line, line
    return "- " + edit(head, choose) + rest, line


def _bullet(head, choose):
    return head


def _space(head, choose):
    at = choose(len(head))
    end = at + (head[at] == " ")
    return head[:at] + _SPACES[choose(len(_SPACES))] + head[end:]


def _word(head, choose):
    words = head.split(" ")
    at = choose(len(words))
    edit = choose(4)
    if edit == 0 and len(words) > 1:
        del words[at]
    elif edit == 1:
        words.insert(at, _WORDS[choose(len(_WORDS))])
    elif edit == 2:
        words[at] = words[at].upper()
    else:
        word = words[at]
        place = choose(len(word)) if word else 0
        letter = "abcdefghijklmnopqrstuvwxyz"[choose(26)]
        words[at] = (
            word[:place]
            + ("", letter, word[place : place + 1])[choose(3)]
            + (word[place + choose(2) :])
        )
    return " ".join(words)


def _sign(head, choose):
    places = [at for at in range(len(head)) if not head[at].isalpha() and head[at] != " "]
    at = places[choose(len(places))]
    return head[:at] + ("", _SIGNS[choose(len(_SIGNS))])[choose(2)] + head[at + choose(2) :]


def _unit(head, choose):
    places = [at + 1 for at in range(len(head)) if head[at] in "0123456789"]
    if not places:
        return head
    at = places[choose(len(places))]
    return head[:at] + ("", " ")[choose(2)] + _UNITS[choose(len(_UNITS))] + head[at:]


def verdict(line, right, known):
    """Return "same", "other" (rule), "off" (with a sentence), or the kind of a line without one.
    An edited amount or sign is another rule by right, and so is a clause that is gone."""
    kinds = []
    problems = 0
    for kind, _, _, clauses in heartbeat_parser.read([(1, line)], known):
        if kind == heartbeat_parser.PROBLEM:
            problems += 1
        elif kind == heartbeat_parser.TASK:
            kinds.append(_compared(line, right, clauses, known) if clauses else "beat")
        elif kind == heartbeat_parser.OFF:
            kinds.append("off" if problems else "silent")
        else:
            kinds.append("background")
    return kinds[0] if len(kinds) == 1 else "%d items" % len(kinds)


def _compared(line, right, found, known):
    for _, _, _, clauses in heartbeat_parser.read([(1, "- " + right)], known):
        wanted = clauses
    low = line.lower()
    for name in found:
        if name not in wanted:
            return "other"
    for name in wanted:
        if name not in found:
            if name.split("_")[0] in low:
                return "other"
        elif name == "model":
            continue
        elif found[name] != wanted[name] and _amounts(line) == _amounts("- " + right):
            return "other"
    return "same"


def _amounts(line):
    """Return the numbers and signs of the clauses, and the letters behind each number."""
    found = ""
    behind = False
    for letter in line[2:].partition(")")[0].lower():
        if letter in "0123456789":
            behind = True
        elif letter in "<>=.,/-\u2013":
            behind = False
        elif not behind or letter in " \t\u00a0\u3000":
            continue
        found += letter
    return found


def known():
    """Return the sensors of the lines."""
    return Known(KNOWN)
