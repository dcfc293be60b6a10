"""One line of the doctor's report."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from enum import Enum

from tenner_host.errors import CommandError


class State(Enum):
    OK = "ok"
    #: It works, but perhaps not for long.
    WARN = "warn"
    FAIL = "fail"
    #: The check did not run, and the text gives the reason.
    SKIP = "skip"


@dataclass(frozen=True)
class Finding:
    """`text` is the result and its meaning, `do` the next step; "" where none is needed."""

    check: str
    state: State
    text: str
    do: str = ""

    def as_json(self) -> dict[str, str]:
        return {**asdict(self), "state": self.state.value}


#: A part of the examination: a generator, so that each line appears at once.
Part = Iterator[Finding]


def ok(check: str, text: str) -> Finding:
    return Finding(check, State.OK, text)


def warn(check: str, text: str, do: str) -> Finding:
    return Finding(check, State.WARN, text, do)


def fail(check: str, text: str, do: str) -> Finding:
    return Finding(check, State.FAIL, text, do)


def skip(check: str, text: str) -> Finding:
    return Finding(check, State.SKIP, text)


def from_error(check: str, error: CommandError) -> Finding:
    """The finding of a check that ended with an error; its part behind the colon is the remedy."""
    what, _, advice = error.message.partition(": ")
    return fail(check, what, advice)


def unreached(checks: Iterable[str]) -> Part:
    """Checks that did not run, as there is no way to the board."""
    for check in checks:
        yield skip(check, "the board can't be reached")


def attempt(check: str, step: Callable[[], str], do: str = "") -> Finding:
    """The sentence of a step that works, or the message of its CommandError, which gives the
    remedy."""
    try:
        return ok(check, step())
    except CommandError as exc:
        what, _, advice = exc.message.partition(": ")
        return fail(check, what, advice or do) if advice else fail(check, exc.message, do)
