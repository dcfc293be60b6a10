"""Merge the modules of a MicroPython program into overlays, the pieces of code that a small board
loads and evicts."""

from __future__ import annotations

from mpy_linker.bundle import Bundle, bundle, packed
from mpy_linker.maps import Translator
from mpy_linker.place import layout_path, table_of
from mpy_linker.syntax import OverlayError
from mpy_linker.table import CORE, Names, Table, read_table

__all__ = [
    "CORE",
    "Bundle",
    "Names",
    "OverlayError",
    "Table",
    "Translator",
    "bundle",
    "layout_path",
    "packed",
    "read_table",
    "table_of",
]
