"""The error of this package, in a separate module because every other one raises it."""

from __future__ import annotations


class OverlayError(Exception):
    """A program cannot be merged safely; the text names the module, the line and the reason."""
