# tenner update.trial: the first minutes of a new version, which must prove itself.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio

from tenner import overlay
from tenner.log import log
from tenner.port.compat import const
from tenner.store import files
from tenner.update import report

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.app import App

_LIVE_S = const(180)
_CHECK_S = const(1)
_REACHED = ("it is up", "connected", "it hears its channel")


async def run(app: "App") -> None:
    """Advance the state in /lib/trial as far as this version gets; remove the file when it has
    passed."""
    note = app.port.path("lib/trial")
    rest = files.read_text(note)[1:]
    version = rest.split()[0]
    log("update", "the trial of %s begins" % version)
    told = ""
    while True:
        state = _state(app)
        if state > told:
            told = state
            files.write_atomic(note, state + rest)
            log("update", "trial: " + _REACHED[int(state) - 2])
        if state == "4" and app.clock.mono_s() >= _LIVE_S and not app.agent.lane.busy():
            break
        await asyncio.sleep(_CHECK_S)
    # It loads as much code as any update, so a version without memory fails its trial here.
    await overlay.run("UPDATE", report.passed, app, *rest.split())


def _state(app):
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
