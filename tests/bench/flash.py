"""The flash that a board's files take."""

from __future__ import annotations

from tenner_host import build, littlefs_image


def littlefs_kb() -> float:
    """KB that the whole tree takes in a file system of 4 KB blocks."""
    tree = build.firmware_tree("ESP32_GENERIC")
    return littlefs_image.taken(tree) / 1024
