# tenner remote.about: the identity of the board, and its restart.
# MIT license; Copyright (c) 2026 the tenner authors

import os
import sys

from tenner import __version__, overlay
from tenner.store import files
from tenner.update import report, slot

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from tenner.update.types import Updating


def info(app: "Updating") -> "dict[str, Any]":
    """Return the facts of the computer's `Info` (tenner_host/board/info.py), and the state of an
    update."""
    root = app.port.root
    trial = root + "/lib/trial"
    space = os.statvfs(root + "/")
    free, used = app.port.memory()
    of = sys.implementation
    return {
        "micropython": ".".join([str(one) for one in of.version[:3]]),
        "mpy": getattr(of, "_mpy", 0),
        "machine": getattr(of, "_machine", sys.platform),
        "build": getattr(of, "_build", ""),
        "platform": sys.platform,
        "agent": __version__,
        "block": space[1] or space[0],
        "blocks": space[2],
        "free": space[3],
        "heap_free": free,
        "heap_used": used,
        "up_s": app.clock.mono_s(),
        "slots": slot.count(),
        "updating": app.updating,
        "trial": files.read_text(trial) if files.exists(trial) else "",
    }


async def restart(app: "Updating") -> None:
    """Restart the board, after its reply is on the way."""
    await overlay.step("UPDATE", report.restart, app)
