"""What the files of a board take on its flash."""

from __future__ import annotations

from host_tools import build, littlefs_image


def littlefs_kb() -> float:
    """KB that the whole tree takes in a file system of 4 KB blocks: what is not free any more."""
    tree = build.firmware_tree("ESP32_GENERIC")
    return littlefs_image.taken(tree) / 1024
