"""The identity of a board, as it tells it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Info:
    """The identity of a board and its free space."""

    micropython: str
    mpy: int
    machine: str
    build: str
    platform: str
    agent: str | None
    block: int
    flash_total: int
    flash_free: int
    heap_free: int
    heap_used: int
    device_id: str | None
    reset_cause: int | None
    deflate: bool
    #: Build, board and version of the agent that its image has inside (tenner_host/image.py).
    image: str | None = None

    @property
    def mpy_version(self) -> int:
        """The bytecode format it loads; 0 when it loads none."""
        return self.mpy & 0xFF

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "mpy_version": self.mpy_version}
