# tenner store.suggest: finds the known name that somebody probably meant.
# MIT license; Copyright (c) 2026 the tenner authors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


def nearest(name: str, known: "Iterable[str]") -> str | None:
    """Return the one of `known` most like `name`, or None when none is like it."""
    best = None
    best_score = 1 + max(len(name) // 3, 2)
    for candidate in known:
        score = _distance(_fold(name), _fold(candidate))
        # A right last part in the wrong place, as in "owner" or "bot.token", is a good guess too.
        if candidate.split(".")[-1] == name.split(".")[-1] and score > 1:
            score = 1 + score // 8
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
