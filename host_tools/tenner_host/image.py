"""Build the parts of an image with the agent inside, and join them into one file.

    python -m tenner_host.image BOARD                    writes to build/image:
        frozen/agent/     the overlays as source, for firmware/manifest.py
        data.romfs        the data files that frozen code reads
        code.romfs        code and data, for an image without frozen code
    python -m tenner_host.image BOARD FIRMWARE ROMFS OUTPUT
                                                        MicroPython's build and a partition as one
                                                        file

The partition has the place of `romfs` in boards/<BOARD>/image/partitions-tenner.csv. Code on the
board's own flash precedes the code of the image, so a board with an older image takes new code
like any other.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

from tenner_host import BOARDS, overlay_maps, romfs_image, tenner_version
from tenner_host.build import (
    BuildError,
    Form,
    board_folder,
    chip_sources,
    firmware_tree,
    write_tree,
)
from tenner_host.errors import CommandError
from tenner_host.partitions import APP, DATA, Partition
from tenner_host.places import build_folder, write_whole

OUTPUT = build_folder() / "image"
#: Below the root of the partition, which is mounted at /rom: build, board and version of the agent
#: in the image.
ABOUT = "/tenner.build"
#: Frozen modules are below this, so that main.py determines their place in sys.path.
FROZEN = "agent"
_HOME = "/lib/tenner/"
_TYPES = {"app": APP, "data": DATA}
_SUBTYPES = {"factory": 0x00, "phy": 0x01, "nvs": 0x02}
_USAGE = "python -m tenner_host.image BOARD [FIRMWARE ROMFS OUTPUT]"


def about(board: str, tree: dict[str, bytes]) -> str:
    """The content of ABOUT for an image with this tree."""
    return f"{overlay_maps.build_of(tree)} {board} {tenner_version()}"


def frozen_sources() -> dict[str, bytes]:
    """The modules to freeze, by their path."""
    return {f"{FROZEN}/{path}": source for path, source in chip_sources().items()}


def partition(board: str, *, code: bool) -> bytes:
    """The ROMFS partition of a board's image: with the code, or with only the data that frozen
    code reads."""
    tree = firmware_tree(board, workspace=False, form=Form.ROM if code else Form.FILES)
    files = {
        path: data
        for path, data in tree.items()
        if path.startswith(_HOME) and (code or not path.endswith((".mpy", ".py")))
    }
    return romfs_image.image({**files, ABOUT: about(board, tree).encode()})


def table(board: str) -> list[Partition]:
    """The partition table of a board's image."""
    path = board_folder(board) / "image" / "partitions-tenner.csv"
    if not path.is_file():
        raise BuildError(
            f"there is no image for {board}: boards/{path.relative_to(BOARDS)} is missing"
        )
    rows = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            label, kind, subtype, offset, size, *_ = [cell.strip() for cell in line.split(",")]
            number = _SUBTYPES.get(subtype)
            number = int(subtype, 0) if number is None else number
            rows.append(Partition(label, _TYPES[kind], number, int(offset, 0), int(size, 0)))
    return rows


def joined(board: str, firmware: bytes, data: bytes) -> bytes:
    """The image to flash: `firmware` from MicroPython's build, and `data` in its ROMFS
    partition."""
    rows = {row.label: row for row in table(board)}
    described = json.loads((board_folder(board) / "board.json").read_text(encoding="utf-8"))
    start = int(described["deploy_options"]["flash_offset"], 0)
    for label, size in (
        ("factory", start + len(firmware) - rows["factory"].offset),
        ("romfs", len(data)),
    ):
        if size > rows[label].size:
            raise BuildError(
                f"{board}: {size} bytes do not fit into {label}, which has {rows[label].size}: "
                "see partitions-tenner.csv"
            )
    return firmware.ljust(rows["romfs"].offset - start, b"\xff") + data


def main(argv: list[str]) -> int:
    try:
        if len(argv) == 1:
            _write_parts(argv[0])
        elif len(argv) == 4:
            board, firmware, data, output = argv
            made = joined(board, Path(firmware).read_bytes(), Path(data).read_bytes())
            write_whole(Path(output), made)
            print(f"{output}: {len(made)} bytes")
        else:
            print(f"usage: {_USAGE}", file=sys.stderr)
            return 2
    except (BuildError, CommandError, OSError) as exc:
        print(f"tenner: {exc}", file=sys.stderr)
        return 1
    return 0


def _write_parts(board: str) -> None:
    shutil.rmtree(OUTPUT, ignore_errors=True)
    write_tree({f"/frozen/{path}": data for path, data in frozen_sources().items()}, OUTPUT)
    for name, code in (("data", False), ("code", True)):
        path = OUTPUT / f"{name}.romfs"
        write_whole(path, partition(board, code=code))
        print(f"{path}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
