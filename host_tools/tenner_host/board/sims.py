"""The virtual boards that run, read from the files they keep; the virtual board itself is not
imported."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from tenner_host.places import build_folder


def sim_folder() -> Path:
    """The folder of named boards' state: $TENNER_SIM_DIR, or `sim` of places.build_folder()."""
    own = os.environ.get("TENNER_SIM_DIR")
    return Path(own) if own else build_folder() / "sim"


def running_boards() -> dict[str, dict[str, Any]]:
    """Name and description of every named board that is running; none on Windows, which cannot run
    one."""
    found: dict[str, dict[str, Any]] = {}
    if sys.platform != "win32":
        for path in sorted(sim_folder().glob("*/board.json")):
            description = json.loads(path.read_text(encoding="utf-8"))
            if _alive(description["pid"]):
                found[path.parent.name] = description
    return found


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
