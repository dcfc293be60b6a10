# tenner memory_restart: restarts a board whose connections lack memory, and notifies its owner.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner import power
from tenner.log import log
from tenner.memory_guard import is_short, note
from tenner.port.compat import const
from tenner.store import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.types import Restarting

_SOONEST_S = const(60)  # after the start, so that a person at the console can act
_TELL_AGAIN_S = const(3600)


async def restart_if_short(app: "Restarting") -> None:
    """Restart the board, between turns, if memory is short after all overlays are evicted. Where
    that cannot help, tell the owner why instead, once."""
    semaphore = app.get("semaphore")
    why = semaphore.why()
    if why:
        semaphore.shortages = 0
        if semaphore.reserve.tell():
            _tell(app, why)
    if app.agent.lane.busy() or not is_short(app):
        return
    sizes = tuple([size // 1024 for size in app.port.system_memory()])
    what = "%d KB free, %d KB of it in one block, %d KB at the least" % sizes
    if app.clock.mono_s() < _SOONEST_S:
        log("memory", "too little memory for connections (%s)" % what)
        return
    await power.write_down(app)
    restart(app, what)


def _tell(app: "Restarting", why):
    """Say it where it arrives: not by a connection that cannot be."""
    log("memory", why)
    channel, chat = app.owner()
    host = app.get("semaphore").reserve.lack[0]
    if channel == "telegram" and host in app.config.get("telegram.base_url"):
        channel, chat = ("mqtt", app.mqtt.owner) if app.mqtt else (None, None)
    if channel is not None:
        app.deliver(channel, chat, "Memory is too short: " + why + ".")


def restart(app: "Restarting", what: object) -> None:
    """Restart the board; its owner is told the shortage after it."""
    log("memory", "too little memory for connections (%s): restarting" % what)
    files.write_atomic(note(app), "%d\n%s\n%s" % (_read(app)[0], app.now_text(), what))
    app.port.reset()


async def report(app: "Restarting") -> None:
    """Notify the owner that the board restarted itself, at most once an hour."""
    told_s, when, what = _read(app)
    now_s = app.clock.known() or 0
    channel, chat = app.owner()
    if what and channel is not None and (not now_s or now_s - told_s >= _TELL_AGAIN_S):
        told_s = now_s
        text = "I restarted myself (%s): the memory for Wi-Fi and TLS had run out (%s)."
        app.deliver(channel, chat, text % (when, what))
    if what:
        files.write_atomic(note(app), "%d" % told_s)


def _read(app: "Restarting"):
    """Return (time of the last notice to the owner or 0, time of the restart, free memory before
    it)."""
    if not files.exists(note(app)):
        return 0, "", ""
    lines = files.read_text(note(app)).split("\n") + ["", ""]
    return int(lines[0] or 0), lines[1], lines[2]
