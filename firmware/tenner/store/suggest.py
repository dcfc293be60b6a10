# tenner store.suggest: finds the known name that somebody probably meant.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.port.compat import const

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


_LONGEST = const(40)  # letters of a name that are compared
_SHORT = const(3)  # a last part such as "key" says little


def nearest(name: str, known: "Iterable[str]") -> str | None:
    """Return the one of `known` most like `name`, or None when none is like it."""
    best = None
    folded = _fold(name[:_LONGEST])
    best_score = 1 + max(len(folded) // 3, 2)
    last = folded.split(".")[-1]
    for candidate in known:
        other = _fold(candidate)
        # A right last part in the wrong place, as in "owner" or "bot.token", is a good guess too.
        moved = len(last) > _SHORT and other.split(".")[-1] == last
        # Each difference of length is an edit, and a board counts edits slowly.
        if abs(len(other) - len(folded)) >= best_score and not moved:
            continue
        score = _distance(folded, other)
        if moved and score > 1:
            score = 1 + score // 12
        if score < best_score:
            best, best_score = candidate, score
    return best


def _fold(name):
    return name.lower().replace("_", ".").replace("-", ".")


def _distance(left, right):
    """Return the number of edits (insert, delete, replace) from one text to the other."""
    row = list(range(len(right) + 1))
    for index, letter in enumerate(left):
        diagonal, row[0] = row[0], index + 1
        for place, other in enumerate(right):
            cost = min(row[place] + 1, row[place + 1] + 1, diagonal + (letter != other))
            diagonal, row[place + 1] = row[place + 1], cost
    return row[-1]
