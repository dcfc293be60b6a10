"""The memory of chips without PSRAM: the share of the agent beside a TLS handshake.

boards/memory.tsv has the figures of the chips, boards/chains.tsv those of certificate chains;
docs/memory.md is made from both. The agent has the same needs in chip_heap.py.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache

from tenner_host import BOARDS

#: Python's heap in a turn with a tool.
TURN_KB = 90
#: For a busy network.
RESERVE_KB = 8
#: The least that must stay free at any time.
GOAL_KB = 4
#: The chain of the default channel.
DEFAULT = "telegram"
#: Of chips whose agent needs no such budget.
_ROOMY = ("SPIRAM", "TENNER")
#: The partition of an image with the agent inside.
OWN_PARTITION = "romfs"


@dataclass(frozen=True)
class Chain:
    """A server's chain of certificates: its bytes on the wire, and those of a session with it."""

    name: str
    sent: int
    held: int
    peak: int
    like: str


@dataclass(frozen=True)
class Chip:
    """A bare chip with its stock image, in KB: Python's first heap, the free rest, Wi-Fi."""

    board: str
    chip: str
    release: str
    start_kb: int
    rest_kb: int
    wifi_kb: int
    source: str

    @property
    def title(self) -> str:
        return f"{self.chip}, {self.release}" if self.release else self.chip

    def left_kb(self, peak: int) -> float:
        """The rest for Python's heap beside a handshake of `peak` bytes."""
        return self.start_kb + self.rest_kb - self.wifi_kb - RESERVE_KB - peak / 1024

    def missing_kb(self, peak: int) -> int:
        """How much a turn with a tool lacks then; 0 where it fits."""
        missing = TURN_KB + GOAL_KB - self.left_kb(peak)
        return max(round(missing), 1) if missing > 0 else 0


@cache
def chains() -> dict[str, Chain]:
    return {
        row["chain"]: Chain(
            row["chain"], int(row["sent"]), int(row["held"]), int(row["peak"]), row["like"]
        )
        for row in _rows("chains.tsv")
    }


@cache
def chips() -> dict[str, Chip]:
    """By the names of their boards."""
    return {
        row["board"]: Chip(
            row["board"],
            row["chip"],
            row["release"],
            int(row["start_kb"]),
            int(row["rest_kb"]),
            int(row["wifi_kb"]),
            row["source"],
        )
        for row in _rows("memory.tsv")
    }


def _rows(name: str) -> list[dict[str, str]]:
    with (BOARDS / name).open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def is_tight(board: str) -> bool:
    """Has this board of boards/ too little memory for the default channel's chain?"""
    chip = chips().get(board)
    return chip is not None and chip.missing_kb(chains()[DEFAULT].peak) > 0


def needs(data: bytes) -> dict[str, tuple[int, bool]]:
    """The agent's state/tls: by host, the bytes of a connection, and whether the agent has told
    its owner that they never fit."""
    found = {}
    for line in data.decode(errors="replace").splitlines():
        words = line.split()
        if len(words) > 1 and words[1].isdecimal():
            found[words[0]] = int(words[1]), words[-1] == "told"
    return found


def roomy() -> str:
    """The chips on which the default channel's chain fits: "ESP32-C3, ESP32-C6 or ESP32-S3"."""
    peak = chains()[DEFAULT].peak
    names = [one.chip for one in chips().values() if not one.missing_kb(peak)]
    return " or ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]


def shortage(board: str, variant: str = "", has_own_image: bool = False) -> str:
    """One sentence for a board of boards/ that has too little memory for Telegram with
    MicroPython's image of this variant, "" for any other."""
    chip = chips().get(board)
    if chip is None or not is_tight(board) or variant.startswith(_ROOMY) or has_own_image:
        return ""
    peak = chains()[DEFAULT].peak
    less = round((peak - chains()["ecdsa"].peak) / 1024)
    return (
        f"Little memory: beside a connection to Telegram this {chip.chip} with MicroPython's own "
        f"image has {round(chip.left_kb(peak))} KB for the agent, which needs "
        f"{TURN_KB + GOAL_KB}, so connections may fail. An {roomy()} has room; a server with "
        f"ECDSA certificates takes {less} KB less"
    )
