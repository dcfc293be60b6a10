"""Merge the firmware's modules into overlays, the pieces of code that a small board loads and evicts."""

from __future__ import annotations

from host_tools.overlays.bundle import Bundle, bundle, packed
from host_tools.overlays.errors import OverlayError
from host_tools.overlays.maps import Translator, translate
from host_tools.overlays.table import CORE, Table, read_table

__all__ = [
    "CORE",
    "Bundle",
    "OverlayError",
    "Table",
    "Translator",
    "bundle",
    "packed",
    "read_table",
    "translate",
]
