"""True time, and the board's own time."""

from __future__ import annotations

import time

from tenner_sim.vboard.shared import SharedPage

_EPOCH_2000 = 946684800


class Clocks:
    """Both run with the host's clock, each with its own offset."""

    def __init__(self, page: SharedPage) -> None:
        self._page = page
        self._true_offset = 0

    def true_time(self) -> int:
        """Unix seconds of the time server."""
        return int(time.time()) + self._true_offset

    def board_time(self) -> int:
        return int(time.time()) + self._page.clock_offset

    def lose(self) -> None:
        """After a power failure the board's clock starts from 2000."""
        self.set_board(_EPOCH_2000)

    def set_board(self, unix_seconds: int) -> None:
        self._page.clock_offset = unix_seconds - int(time.time())

    def set_true(self, unix_seconds: int) -> None:
        self._true_offset = unix_seconds - int(time.time())

    def pass_time(self, seconds: int, drift_s: int) -> None:
        """Advance both; the board's clock drifts by `drift_s` meanwhile."""
        self._true_offset += seconds
        self._page.clock_offset += seconds + drift_s
