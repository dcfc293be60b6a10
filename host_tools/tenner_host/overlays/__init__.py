"""Merge the firmware's modules into overlays, the pieces of code that a small board loads and
evicts."""

from __future__ import annotations

from tenner_host.overlays.bundle import Bundle, bundle, file_name, packed
from tenner_host.overlays.errors import OverlayError
from tenner_host.overlays.maps import Translator, translate
from tenner_host.overlays.place import LAYOUT, RULES, table_of
from tenner_host.overlays.table import CORE, Table, read_table

__all__ = [
    "CORE",
    "LAYOUT",
    "RULES",
    "Bundle",
    "OverlayError",
    "Table",
    "Translator",
    "bundle",
    "file_name",
    "packed",
    "read_table",
    "table_of",
    "translate",
]
