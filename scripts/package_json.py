"""Write or check package.json, from which `mip` takes the firmware package, and those of boards
with their pins.

Paths are relative to package.json, so that a fork, a tag and a local checkout all install their
own files.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from scripts import generated
from tenner_host import BOARDS, FIRMWARE, ROOT, tenner_version
from tenner_host.catalog import known_boards

TARGET = ROOT / "package.json"
NOT_PACKAGED = {".pyc", ".mpy", ".pyi"}


def package_files() -> list[Path]:
    """Every file of the package on the board, code and data, in a fixed order."""
    return sorted(
        path
        for path in (FIRMWARE / "tenner").rglob("*")
        if path.is_file()
        and path.suffix not in NOT_PACKAGED
        and not any(part.startswith((".", "__")) for part in path.relative_to(FIRMWARE).parts[:-1])
    )


def package_json() -> str:
    """The text of package.json."""
    urls = [
        [path.relative_to(FIRMWARE).as_posix(), path.relative_to(ROOT).as_posix()]
        for path in package_files()
    ]
    # One file a line: a change then shows as one line.
    rows = ",\n".join("    " + json.dumps(row) for row in urls)
    return f'{{\n  "urls": [\n{rows}\n  ],\n  "deps": [],\n  "version": "{tenner_version()}"\n}}\n'


def board_package() -> str:
    """The text of the package.json beside a board's pins.csv, which is not part of the agent."""
    return f'{{\n  "urls": [["tenner/pins.csv", "pins.csv"]],\n  "version": "{tenner_version()}"\n}}\n'  # noqa: E501


def files() -> dict[Path, str]:
    """File -> text of every package.json."""
    boards = [BOARDS / board.name for board in known_boards() if board.platform == "esp32"]
    return {
        TARGET: package_json(),
        **{board / "package.json": board_package() for board in boards},
    }


if __name__ == "__main__":
    sys.exit(generated.main_of_many(files, __doc__))
