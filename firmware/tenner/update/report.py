# tenner update.report: tells the owner how a trial has ended, and removes the other tree.
# MIT license; Copyright (c) 2026 the tenner authors

import os
import sys

from tenner import __version__, power
from tenner.log import log
from tenner.port.compat import const
from tenner.store import files
from tenner.update import facts, slot
from tenner.update.staging import Staging

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from tenner.agent.parts import Reaching


_LOG_BYTES = const(1500)
# By the state in /lib/trial.
_FAILED = (
    "it did not come up",
    "it came up, but did not connect to the network",
    "it came up and connected, but did not hear from its channel",
    "it connected and heard its channel, but did not live three minutes without a fault",
)


async def tell(app: "Reaching", version: str, old: str, new_slot: str = "") -> None:
    """Tell the owner that the new version stays: the message proves that one arrives."""
    here = version + (_micropython() if new_slot else "")
    _tell(app, "I run version %s now, in place of %s." % (here, old), "update-" + version)


async def is_waiting(app: "Reaching", version: str) -> bool:
    """Return whether that message has not left yet."""
    return app.get("delivery").outbox.waits("update-" + version) is not None


async def keep(app: "Reaching", version: str, new_slot: "Sequence[str]") -> None:
    """End the trial, and restart, which alone ends its watchdog."""
    if new_slot:
        slot.keep()
    await power.write_down(app)
    log("update", "%s has passed its trial" % version)
    # This decides. The owner knows already, so no later fault matters.
    os.rename(app.port.path("lib/trial"), app.port.path("lib/passed"))
    app.port.reset()


async def passed(app: "Reaching") -> None:
    """Remove the rest of the trial, and the old version, in the first start after it."""
    note(app, "I run version %s now." % __version__)
    files.remove(app.port.path("lib/trial.log"))
    Staging(app.port.root).discard()
    files.remove(app.port.path("lib/passed"))


async def rolled_back(app: "Reaching") -> None:
    """Tell the owner, after the return to the old version, why the new one was not good."""
    place = app.port.path("lib/failed")
    log_path = app.port.path("lib/trial.log")
    words = (files.read_text(place) + " ? ?").split()
    state = int(words[0]) if words[0] in ("1", "2", "3", "4") else 1
    lines = files.read_text(log_path, _LOG_BYTES * 2) if files.exists(log_path) else "none"
    log("update", "%s failed its trial: %s" % (words[1], _FAILED[state - 1]))
    text = "Version %s failed its trial: %s. I run %s again.\nIts last log lines:\n%s"
    here = words[2] + (_micropython() if words[3] != "?" else "")
    text %= (words[1], _FAILED[state - 1], here, lines[-_LOG_BYTES:])
    note(app, text)
    _tell(app, text)
    files.remove(place)
    files.remove(log_path)
    Staging(app.port.root).discard()


async def restart(app: "Reaching") -> None:
    """Save the schedule's state, and restart the board."""
    await power.write_down(app)
    app.port.reset()


def note(app: "Reaching", text: str) -> None:
    """Keep how the update has ended, for the owner's computer."""
    try:
        files.write_atomic(app.state + facts.OUTCOME, text)
    except OSError as error:
        log("update", "its outcome is not kept: %s" % error)


def _micropython():
    return " on MicroPython %d.%d.%d" % sys.implementation.version[:3]


def _tell(app: "Reaching", text, id=None):
    channel, chat = app.owner()
    if channel is not None:
        app.deliver(channel, chat, text, id=id)
