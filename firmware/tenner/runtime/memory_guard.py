# tenner runtime.memory_guard: detects connections that lack memory for good, restarts the board.
# MIT license; Copyright (c) 2026 the tenner authors
"""
Python's heap on an ESP32 without PSRAM grows into the memory of Wi-Fi and TLS and seldom gives any
back. Without it a board answers nobody until a reset; `memory_restart` resets it between turns.
"""

from tenner.channels.question import SHORT
from tenner.log import log
from tenner.net.wifi import LEAST
from tenner.port.compat import const
from tenner.schedule import occurrences
from tenner.store import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.types import Guarded, Restarting

_TRIES = const(3)  # connections in a row
_DEAF = const(3000)  # bytes; a connection stalls if they stay so few
_LOOKS = const(10)
_ENOMEM = const(12)

_SOONEST_S = const(60)  # after the start, so that a person at the console can act
_TELL_AGAIN_S = const(3600)


def is_short(app: "Guarded") -> bool:
    """Return whether connections have too little memory, or a message waits for a restart."""
    semaphore = app.get("semaphore")
    return (
        app.again
        or semaphore.shortages >= _TRIES
        or app.port.system_memory()[0] < LEAST
        or not semaphore.has_room()
        or (app.has("wifi") and app.get("wifi").lacks_memory)
    )


def needs_look(app: "Guarded") -> bool:
    """Return whether to evict all overlays and check the memory again."""
    return app.get("semaphore").shortages > 0 or is_short(app)


def is_stalled(app: "Guarded") -> bool:
    """Return whether the connections of a turn lack memory."""
    return app.get("semaphore").shortages >= _TRIES or app.port.system_memory()[0] < _DEAF


def end_stalled(app: "Guarded", looks: int) -> int:
    """
    Return how many looks in a row found too little memory; end all exchanges at the last. Fail
    questions that a turn waits for where no connection can take them to Telegram.
    """
    if app.telegram and app.get("semaphore").shortages >= _TRIES:
        for question in app.telegram.asks.values():
            if question.message_id is None:
                question.fail(SHORT)
    if app.port.system_memory()[0] >= _DEAF:
        return 0
    if looks + 1 < _LOOKS:
        return looks + 1
    app.get("semaphore").fail(OSError(_ENOMEM))
    return 0


def note(app: "Guarded") -> str:
    """Return the path of the note about a restart."""
    return app.state + "/restart"


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
    await occurrences.write_down(app)
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
