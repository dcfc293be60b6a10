"""The simulator, found by name when a command needs it: tenner_sim imports this package, never the
reverse."""

from __future__ import annotations

import importlib


def stand_in_image(mcu: str) -> bytes:
    """The image that `tenner flash` writes to a virtual board with this chip."""
    image: bytes = importlib.import_module("tenner_sim.vboard.image").stand_in(mcu)
    return image
