"""The action for each file of a workspace, from three states of it: last synced, here, on the
board.

A change on one side wins, a change on both is a conflict, the same change on both is none. A file
deleted on one side stays on the other until --delete.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum


class Action(Enum):
    """The action for a file."""

    PUSH = "here -> board"
    PULL = "board -> here"
    CONFLICT = "changed on both sides"
    GONE_HERE = "deleted here"
    GONE_BOARD = "deleted on the board"
    RECORD = "same on both sides"
    FORGET = "deleted on both sides"


@dataclass(frozen=True)
class Step:
    """One file that needs an action; `path` is relative to the workspace."""

    path: str
    action: Action

    def as_json(self) -> dict[str, str]:
        return {"path": self.path, "action": self.action.name.lower()}


def plan(
    synced: Mapping[str, str], here: Mapping[str, str], board: Mapping[str, str]
) -> list[Step]:
    """The steps, by path, from the hash of every file in the three states."""
    steps = []
    for path in sorted({*synced, *here, *board}):
        action = _decide(synced.get(path), here.get(path), board.get(path))
        if action is not None:
            steps.append(Step(path, action))
    return steps


def _decide(synced: str | None, here: str | None, board: str | None) -> Action | None:
    if here == board:
        if here == synced:
            return None
        return Action.RECORD if here is not None else Action.FORGET
    if board == synced:
        return Action.GONE_HERE if here is None else Action.PUSH
    if here == synced:
        return Action.GONE_BOARD if board is None else Action.PULL
    return Action.CONFLICT
