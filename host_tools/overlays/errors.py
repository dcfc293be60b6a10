"""The error of this package, by itself because every module here raises it."""

from __future__ import annotations


class OverlayError(Exception):
    """The firmware cannot be merged safely; the text says which module, which line and why."""
