# tenner remote.update: begins the update that the owner's computer serves.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner import overlay
from tenner.store import files
from tenner.update import facts, request

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from tenner.update.types import Updating


def accept(app: "Updating", wanted: "dict[str, Any]", certificate: bytes) -> "dict[str, Any]":
    """Install the version that the computer serves at `address`, `port` and `path`, after the
    reply; facts.OUTCOME then says how it ended. ValueError if that cannot begin now."""
    if not facts.is_possible(app):
        raise ValueError("this agent is no ESP32's with its code as files: use the cable or ssh")
    if files.exists(app.port.path("lib/trial")):
        raise ValueError("the trial of the last update is not over yet")
    if app.updating:
        raise ValueError("another update is running")
    computer = wanted["address"], wanted["port"], wanted["path"], certificate
    version = wanted["version"]
    files.remove(app.state + facts.OUTCOME)
    # It waits for the memory, so the reply goes first.
    overlay.later("UPDATE", None, request.run, app, None, None, version, computer)
    return {}
