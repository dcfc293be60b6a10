"""A complete $10 board in one process: real MicroPython on a real flash image, behind a terminal."""

from host_tools.vboard.board import VirtualBoard
from host_tools.vboard.control import BoardError
from host_tools.vboard.shared import FlashCounters

__all__ = ["BoardError", "FlashCounters", "VirtualBoard"]
