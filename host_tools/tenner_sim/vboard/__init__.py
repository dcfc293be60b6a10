"""A complete $10 board in one process: real MicroPython on a real flash image, behind a
terminal."""

from tenner_sim.vboard.board import VirtualBoard
from tenner_sim.vboard.control import BoardError
from tenner_sim.vboard.shared import FlashCounters

__all__ = ["BoardError", "FlashCounters", "VirtualBoard"]
