# tenner room: on a small board, lets go of code and parts that have nothing to do.
# MIT license; Copyright (c) 2026 the tenner authors
"""
A board without PSRAM cannot hold the code of a turn and that of everything else at once. What waits all
day stays; the rest is loaded from flash when it is needed, as often as it is needed.
"""

import sys

from tenner.store.modules import forget

# What the idle agent needs at any moment.
_RESIDENT = (
    "tenner.app tenner.services tenner.log tenner.port tenner.port.package "
    "tenner.port.esp32 tenner.store tenner.store.files tenner.store.config tenner.store.modules "
    "tenner.agent tenner.agent.agent tenner.agent.bus tenner.agent.lane "
    "tenner.net tenner.net.http tenner.net.gate tenner.net.clock "
    "tenner.net.jsonout tenner.channels tenner.channels.telegram "
    "tenner.schedule tenner.schedule.service"
)

# Parts that are made again when they are asked for.
_PARTS = ("chain", "registry", "sensors", "budget", "zone", "scheduled", "delivery")


def make(app):
    """Let go of what only a turn needs."""
    for name in _PARTS:
        # Whoever measures holds a lock that the next one must find.
        used = name == "delivery" and app.delivering
        if name == "delivery" and app.made(name):
            app.waiting = app.part(name).outbox.kept()
        if name == "sensors" and app.made(name):
            used = app.part(name).lock.locked()
        if not used:
            app.drop(name)
    forget("tenner.", _RESIDENT.split())
    app.stays = [name for name in sys.modules if name.startswith("tenner.")]
