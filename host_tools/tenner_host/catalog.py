"""The known boards, as boards/README.md describes them: chip, image, place in flash."""

from __future__ import annotations

import csv
import json
import re
from dataclasses import dataclass
from functools import cache
from typing import Any

from tenner_host import BOARDS
from tenner_host.errors import CommandError


@dataclass(frozen=True)
class KnownBoard:
    """One folder of boards/, perhaps with one of its variants."""

    name: str
    variant: str
    product: str
    platform: str
    #: The chip in esptool's output, `ESP32-C3`, and in its options, `esp32c3`.
    chip: str
    mcu: str
    #: Offset of the image in flash.
    flash_offset: int
    #: Usual start of the file system, which extends to the end of the flash; 0 without one.
    files_offset: int
    #: URL of the official image; empty for a board that has none or is not flashed.
    image_url: str
    image_page: str
    variants: dict[str, str]

    @property
    def full_name(self) -> str:
        """The name in MicroPython's style: `ESP32_GENERIC_S3-SPIRAM_OCT`."""
        return f"{self.name}-{self.variant}" if self.variant else self.name

    def url(self, version: str, date: str) -> str:
        return self.image_url.format(name=self.full_name, version=version, date=date)


@cache
def known_boards() -> tuple[KnownBoard, ...]:
    """All known boards, by name."""
    return tuple(_load(path.parent.name) for path in sorted(BOARDS.glob("*/board.json")))


def _load(name: str, variant: str = "") -> KnownBoard:
    path = BOARDS / name / "board.json"
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    image = found.get("image", {})
    return KnownBoard(
        name=name,
        variant=variant,
        product=found["product"],
        platform=found["platform"],
        chip=found.get("chip", ""),
        mcu=found.get("mcu", ""),
        flash_offset=int(found["deploy_options"].get("flash_offset", "0"), 0),
        files_offset=int(found.get("partitions", {}).get("vfs", "0"), 0),
        image_url=image.get("url", ""),
        image_page=image.get("page", ""),
        variants=dict(found.get("variants", {})),
    )


def find_board(name: str) -> KnownBoard:
    """The board `NAME` or `NAME-VARIANT`; CommandError with the available names."""
    folder, _, variant = name.partition("-")
    for known in known_boards():
        if known.name == folder:
            if variant and variant not in known.variants:
                there = ", ".join(known.variants) or "none"
                raise CommandError(
                    f"{folder} has no variant {variant!r}; available: {there} "
                    f"(boards/{folder}/board.json)"
                )
            return _load(folder, variant)
    names = ", ".join(known.name for known in known_boards())
    raise CommandError(f"there is no board {name!r}; known: {names}")


def chip_of(machine: str) -> str | None:
    """The chip in esptool's form, from MicroPython's name of the board:
    `ESP32C3 module with ESP32C3`."""
    names = re.findall(r"\bESP32(?:[SCHP]\d+)?", machine.upper())
    return re.sub(r"^ESP32(?=[A-Z])", "ESP32-", names[-1]) if names else None


def boards_with(chip: str) -> list[KnownBoard]:
    """Real boards with this chip."""
    return [known for known in known_boards() if known.chip == chip and known.name != "VIRTUAL"]


@dataclass(frozen=True)
class Release:
    """A MicroPython release, and the date in the names of its images."""

    version: str
    date: str


def releases() -> list[Release]:
    """Newest first."""
    with (BOARDS / "releases.tsv").open(newline="", encoding="utf-8") as file:
        rows = csv.DictReader(file, delimiter="\t")
        return [Release(row["version"], row["date"]) for row in rows]


def release(version: str | None) -> Release:
    """The given release, or the newest."""
    known = releases()
    if version is None:
        return known[0]
    for one in known:
        if one.version == version.removeprefix("v"):
            return one
    listed = ", ".join(one.version for one in known)
    raise CommandError(
        f"no MicroPython release {version!r} is listed in boards/releases.tsv; available: "
        f"{listed}. Name the image itself with --image URL"
    )


@cache
def image_hashes() -> dict[str, str]:
    """File name of an official image -> its sha256, as far as they are listed."""
    with (BOARDS / "images.tsv").open(newline="", encoding="utf-8") as file:
        return {row["image"]: row["sha256"] for row in csv.DictReader(file, delimiter="\t")}
