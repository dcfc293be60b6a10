# tenner runtime.stopping: ends a Linux agent in order when a signal asks for it, within 5 s.
# MIT license; Copyright (c) 2026 the tenner authors
"""
The running turn is cancelled, and its person hears so; a job or beat is due again at the next
start. The message under way is sent to its end: cut off, it would be sent a second time. All other
state is on disk at any time.
"""

import sys

from tenner.log import log
from tenner.port.compat import const, sleep_ms, ticks_add, ticks_diff, ticks_ms
from tenner.port.linux import process, signals

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.agent.types import Background

#: For the turn to end and its answer to leave; then for the message under way alone.
_TURN_MS = const(2500)
_SEND_MS = const(2000)
_NOTE_MS = const(200)
_LOOK_MS = const(20)


async def wait(app: "Background") -> None:
    """Wait for a signal, stop the agent and end the program."""
    await signals.come()
    log("app", "a signal asks me to stop")
    await _settle(app)
    log("app", "stopped")
    if hasattr(sys.stdout, "flush"):
        sys.stdout.flush()
    # CPython would wait for a name that is being looked up.
    process.leave(0)


async def _settle(app: "Background"):
    lane = app.agent.lane
    outbox = app.get("delivery").outbox
    # As a waiting person does: no turn of a beat or job begins, and a running one is due again.
    lane.request(None)
    end = ticks_add(ticks_ms(), _TURN_MS)
    while ticks_diff(end, ticks_ms()) > 0 and (
        lane.holder or outbox.sending is not None or outbox.next_due()
    ):
        if ":" in (lane.holder or ""):
            # A person's turn, also of a message that has waited for it.
            lane.stop("I was stopped while working on this. Please send it again.")
        await sleep_ms(_LOOK_MS)
    # A beat or job notes its end.
    await sleep_ms(_NOTE_MS)
    outbox.next_due = _nothing
    end = ticks_add(ticks_ms(), _SEND_MS)
    while ticks_diff(end, ticks_ms()) > 0 and outbox.sending is not None:
        await sleep_ms(_LOOK_MS)


def _nothing():
    """Return the next message to send: none begins any more."""
