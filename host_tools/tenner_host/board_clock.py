"""Times for people in the zone of the board, so that they match its own answers."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from tenner_host.board.board import Board
from tenner_host.errors import CommandError
from tenner_host.setup import settings as store

Clock = Callable[[float], datetime]


def here(unix_s: float) -> datetime:
    """The time in the zone of this computer."""
    return datetime.fromtimestamp(unix_s).astimezone()


def clock_of(board: Board) -> Clock:
    """The owner's clock; UTC, as on the board, without a zone that is right."""
    data = board.read_files([store.PATH]).get(store.PATH, b"{}")
    try:
        settings = store.parse(data.decode(errors="replace"), store.PATH)
    except CommandError:
        settings = {}
    zone = store.zone_of(settings)
    return lambda unix_s: datetime.fromisoformat(zone.iso(int(unix_s)))
