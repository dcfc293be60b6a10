# tenner update.trial: the first minutes of a new version, which must prove itself.
# MIT license; Copyright (c) 2026 the tenner authors
"""
The version stays after all of this: it is connected and hears its channel; each overlay of its
code loads; beat, jobs and page have had a round; no service failed by a fault of its code; it
lived three minutes; the owner has its message. One rename on flash decides, the last step of all.
A fault goes back to the old version at once, anything else when the watchdog bites.
"""

import asyncio

from tenner import overlay, overlay_loader, services
from tenner.log import log
from tenner.port.compat import const
from tenner.store import files
from tenner.update import report

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.update.types import Updating

_LIVE_S = const(180)
_CHECK_S = const(1)
_REACHED = ("it is up", "connected", "it hears its channel")


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
    await overlay.run("UPDATE", report.tell, app, *words)
    while await overlay.run("SEND", report.is_waiting, app, words[0]):
        _check(app)
        await asyncio.sleep(_CHECK_S)
    _check(app)
    await overlay.run("UPDATE", report.keep, app, words[0], words[2:])


def _check(app: "Updating"):
    """Go back to the old version if a part of this one is faulty."""
    if services.faulty:
        log("update", "trial: a fault of " + ", ".join(services.faulty))
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
