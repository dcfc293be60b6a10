"""A complete $10 board in one process: real MicroPython on a real flash image, behind a terminal."""

from tenner_host.vboard.board import VirtualBoard
from tenner_host.vboard.control import BoardError
from tenner_host.vboard.shared import FlashCounters

__all__ = ["BoardError", "FlashCounters", "VirtualBoard"]
