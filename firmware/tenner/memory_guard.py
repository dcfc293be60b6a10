# tenner memory_guard: detects that connections have permanently lost their memory.
# MIT license; Copyright (c) 2026 the tenner authors
"""
Python's heap on an ESP32 without PSRAM grows into the memory of Wi-Fi and TLS and seldom gives any
back. Without it a board answers nobody until a reset; `memory_restart` resets it between turns.
"""

from tenner.channels.question import SHORT
from tenner.net.wifi import LEAST
from tenner.port.compat import const

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.types import Guarded

_TRIES = const(3)  # connections in a row
_DEAF = const(3000)  # bytes; a connection stalls if they stay so few
_LOOKS = const(10)
_ENOMEM = const(12)


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
