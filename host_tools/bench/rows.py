"""What is measured, its budget and the best peer's figure; every number of a bench is such a row."""

from __future__ import annotations

from dataclasses import asdict, dataclass


class NotMeasured(Exception):
    """Why a figure cannot be had here and now, in one sentence."""


@dataclass
class Row:
    """One line of the table."""

    name: str  # area.what_unit
    what: str
    budget: float | None = None
    peer: str = ""
    value: float | None = None
    note: str = ""

    @property
    def verdict(self) -> str:
        if self.value is None or self.budget is None:
            return "-"
        return "ok" if self.value <= self.budget else "over"

    def as_json(self) -> dict[str, object]:
        return {**asdict(self), "verdict": self.verdict}


#: The budgets of the design, in the order the table prints them.
BUDGETS = [
    Row("heap.turn_min_kb", "smallest heap for a turn with a tool, KB", 112, "371"),
    Row("heap.idle_import_kb", "heap of the idle agent's imports, KB", 45, "213"),
    Row("heap.history_extra_kb", "heap for 10,000 messages, not 10, KB", 2, "grows"),
    Row("flash.code_mpy_kb", "code on flash, KB", 120, "174"),
    Row("flash.erases_per_turn", "flash erases per turn", 4, "1 a message"),
    Row("request.heartbeat_kb", "first request of a heartbeat, KB", 4, "6.6"),
    Row("request.calls_when_idle", "model calls when nothing is due", 0, "1"),
    Row("linux.rss_micropython_mb", "memory idle, Unix MicroPython, MB", 4, "< 10"),
    Row("linux.rss_cpython_mb", "memory idle, CPython, MB", 20, "10-20"),
]
