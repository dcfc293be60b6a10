# tenner safe_mode: after three bad starts in a row only the console and Telegram run.
# MIT license; Copyright (c) 2026 the tenner authors
"""
A start is bad if a crash or a watchdog resets the board within a minute. /state/starts has the
number of bad starts in a row and the time of the last one. Switching the power off and on or a
soft reset clears it; Ctrl-C (app.main) and `tenner` remove it.
"""

from tenner.log import log
from tenner.port.compat import const
from tenner.store import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.agent.parts import Reaching

_BAD_STARTS = const(3)
_WELL_S = const(60)
_TEXT = (
    "%d starts in a row ended in a reset, so I run in safe mode: you can talk to me, but there "
    "are no heartbeats, jobs, readings or MQTT. Turn my power off and on to leave it."
)


def begin(app: "Reaching") -> bool:
    """Count this start; return whether it is one in safe mode."""
    cause = app.port.reset_cause() if app.port.kind == "esp32" else "DEEPSLEEP"
    if cause == "DEEPSLEEP":
        return False
    # A chip's clock goes on over a reset, so no task has to wait for the minute. 0: it was not
    # set.
    now_s = app.port.unix_time() if app.port.clock_is_set() else 0
    path = app.state + "/starts"
    bad = 0
    if cause not in ("PWRON", "SOFT") and files.exists(path):
        words = files.read_text(path).split() + ["", ""]
        if words[0].isdigit() and (words[1] == "0" or _is_recent(words[1], now_s)):
            bad = int(words[0])
    try:
        files.write_atomic(path, "%d %d" % (bad + 1, now_s))
    except OSError as error:
        log("boot", "this start is not counted: %s" % error)
    if bad < _BAD_STARTS:
        return False
    log("boot", _TEXT % bad)
    channel, chat = app.owner()
    if channel is not None:
        app.deliver(channel, chat, _TEXT % bad)
    return True


def _is_recent(text, now_s):
    return text.isdigit() and abs(now_s - int(text)) < _WELL_S
