# tenner update.trial: the first minutes of a new version, which must prove itself, and the report.
# MIT license; Copyright (c) 2026 the tenner authors
"""
The version stays after all of this: it is connected and hears its channel; each overlay of its
code loads; beat, jobs and page have had a round; no service failed by a fault of its code; it
lived three minutes; the owner has its message. One rename on flash decides, the last step of all.
A fault goes back to the old version at once, anything else when the watchdog bites.
"""

import asyncio
import os
import sys

from tenner import __version__, overlay, overlay_loader
from tenner.agent import health
from tenner.log import log
from tenner.port.compat import const
from tenner.schedule import occurrences
from tenner.store import files
from tenner.update import slot
from tenner.update.staging import Staging

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from tenner.agent.parts import Reaching
    from tenner.update.types import Updating

_LIVE_S = const(180)
_CHECK_S = const(1)
_REACHED = ("it is up", "connected", "it hears its channel")


_LOG_BYTES = const(1500)
# By the state in /lib/trial.
_FAILED = (
    "it did not come up",
    "it came up, but did not connect to the network",
    "it came up and connected, but did not hear from its channel",
    "it connected and heard its channel, but did not live three minutes without a fault",
)


async def run(app: "Updating") -> None:
    """Advance the state in /lib/trial as far as this version gets; rename the file when it has
    passed."""
    note = app.port.path("lib/trial")
    words = files.read_text(note)[1:].split()
    log("update", "the trial of %s begins" % words[0])
    told, lacks = "", "?"
    unread = True
    while True:
        _check(app)
        state = _state(app)
        if state > told:
            told = state
            files.write_atomic(note, state + " " + " ".join(words) + "\n")
            log("update", "trial: " + _REACHED[int(state) - 2])
        if state == "4" and not app.agent.lane.busy():
            if unread:
                unread = False
                await _read_all()
            lacking = _lacks(app)
            if lacking != lacks:
                lacks = lacking
                text = "waits for " + lacks if lacks else "all parts had a round"
                log("update", "trial: " + text)
            if not lacks and app.clock.mono_s() >= _LIVE_S:
                break
        await asyncio.sleep(_CHECK_S)
    # It loads as much code as any update, so a version without memory fails its trial here.
    await overlay.run("UPDATE", tell, app, *words)
    while await overlay.run("SEND", is_waiting, app, words[0]):
        _check(app)
        await asyncio.sleep(_CHECK_S)
    _check(app)
    await overlay.run("UPDATE", keep, app, words[0], words[2:])


def _check(app: "Updating"):
    """Go back to the old version if a part of this one is faulty."""
    if health.faulty:
        log("update", "trial: a fault of " + ", ".join(health.faulty))
        app.port.reset()


async def _read_all():
    """Load each overlay once: a fault at its beginning shows itself before it is needed."""
    for name in list(overlay_loader.names()):
        try:
            await overlay.run("UPDATE", _read, name)
        except overlay.OutOfMemory:
            # Beside the code of a trial. In its own phase it fits, as the build has checked.
            log("update", "trial: no memory to try %s" % name)


async def _read(name):
    if name not in overlay_loader.held:
        overlay_loader.load(name)


def _lacks(app: "Updating"):
    """Return the services that have not had a round yet."""
    found = [
        name
        for name, file in (("heartbeat", ""), ("cron", "/CRON.json"))
        if files.exists(app.workspace + file) and not app.get(name).looked
    ]
    if app.page is not None and app.page.listening is None:
        found.append("page")
    return " ".join(found)


def _state(app: "Updating"):
    """Return how far this version is: "2" it runs, "3" it is connected, "4" it hears its
    channel."""
    if not app.connected.is_set() or not app.port.network_up():
        return "2"
    heard = [
        channel.status == good
        for channel, good in ((app.telegram, "polling"), (app.mqtt, "connected"))
        if channel is not None
    ]
    if not heard and app.page is not None:
        # Its only channel.
        heard.append(app.page.listening is not None)
    return "4" if not heard or any(heard) else "3"


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
    await occurrences.write_down(app)
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
    await occurrences.write_down(app)
    app.port.reset()


def note(app: "Reaching", text: str) -> None:
    """Keep how the update has ended, for the owner's computer."""
    try:
        files.write_atomic(app.state + slot.OUTCOME, text)
    except OSError as error:
        log("update", "its outcome is not kept: %s" % error)


def _micropython():
    return " on MicroPython %d.%d.%d" % sys.implementation.version[:3]


def _tell(app: "Reaching", text, id=None):
    channel, chat = app.owner()
    if channel is not None:
        app.deliver(channel, chat, text, id=id)
