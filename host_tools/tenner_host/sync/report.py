"""The findings and actions of a sync or a deploy."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tenner_host.board.board import Started
from tenner_host.board.info import Info
from tenner_host.sync.code import CodePlan
from tenner_host.sync.threeway import Step
from tenner_host.sync.workspace import Outcome


@dataclass
class Report:
    """The findings and actions of a sync or a deploy."""

    board: str
    info: Info
    code: CodePlan
    steps: list[Step]
    outcome: Outcome = field(default_factory=Outcome)
    started: Started | None = None
    configured: bool = True
    seconds: float = 0.0
    dry_run: bool = False

    def as_json(self) -> dict[str, Any]:
        return {
            "board": self.board,
            "micropython": self.info.micropython,
            "dry_run": self.dry_run,
            "code": {
                "written": sorted(self.code.write),
                "removed": self.code.remove,
                "unchanged": self.code.unchanged,
                "bytes": sum(map(len, self.code.write.values())),
            },
            "workspace": [
                step.as_json() for step in (self.steps if self.dry_run else self.outcome.done)
            ],
            "conflicts": self.outcome.conflicts,
            "kept": [step.as_json() for step in self.outcome.kept],
            "agent": self.started.as_json() if self.started else None,
            "configured": self.configured,
            "seconds": round(self.seconds, 3),
        }
