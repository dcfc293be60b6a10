"""One row for each number of a bench: its name, its budget and the best peer's figure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


class NotMeasured(Exception):
    """The reason, in one sentence, that a figure cannot be measured here and now."""


@dataclass
class Row:
    """One line of the table: a figure, its measurement and its limit, which is a maximum or a
    minimum."""

    name: str
    what: str
    unit: str
    measure: Callable[[], float]
    budget: float | None = None
    peer: str = ""
    value: float | None = None
    note: str = ""
    #: The budget is a minimum.
    floor: bool = False

    @property
    def ok(self) -> bool | None:
        """None where there is no budget or no figure."""
        if self.value is None or self.budget is None:
            return None
        return self.value >= self.budget if self.floor else self.value <= self.budget

    @property
    def how(self) -> str:
        return f"make bench B={self.name}"

    def as_json(self) -> dict[str, object]:
        row: dict[str, object] = {
            "name": self.name,
            "value": self.value,
            "unit": self.unit,
            "budget": self.budget,
            "ok": self.ok,
            "how": self.how,
        }
        return {**row, "note": self.note} if self.note else row
