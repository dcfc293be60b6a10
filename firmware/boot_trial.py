# tenner boot_trial.py: tries a new version once, and goes back to the old one if that fails.
# MIT license; Copyright (c) 2026 the tenner authors
"""
The update has left /lib/trial, whose first character is the state: 0 is a version that has not
started yet. The new version counts it up as it becomes well, and removes the file in the end
(tenner.update.trial). If the board starts again before that, it goes back to the old version, and
that one tells the owner. Only the cable replaces this file.

The fourth word of the file, if any, is the slot of a new MicroPython, which the boot loader tries
at the same time: it goes back at the next reset, unless the version has passed.
"""

import builtins
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Longer than a trial, so that a version that hangs is reset.
TRIAL_MS = 600000
LAST_LINES = 12
MAX_LINE = 120
# A version that prints without end must not wear out the flash.
MAX_WRITES = 300

# Done again from the start if the power fails in between.
ROLL_BACK = (
    ("/lib/tenner.old", "/lib/tenner", "/lib/tenner.bad"),
    ("/lib/trial.new", "/lib/failed", "/lib/failed.old"),
    ("/lib/trial", "/lib/failed", "/lib/failed.old"),
)

_print = print
_lines = []
_writes = 0


def swap(source: str, place: str, old: str) -> None:
    """Let `source` become `place`, and that become `old`; OSError 2 if it was done before the
    power failed."""
    os.stat(source)
    try:
        os.rename(place, old)
    except OSError as error:
        if error.errno != 2:
            raise
    os.rename(source, place)


def running(slot: str) -> bool:
    """Does the MicroPython in this slot run? Asks the boot loader first, if it was not asked."""
    import esp32
    import machine

    if machine.reset_cause() == machine.SOFT_RESET:
        machine.reset()
    kind: Any = esp32.Partition
    return kind(kind.RUNNING).info()[4] == slot


def begin() -> None:
    """Begin the trial of a new version, or undo the update if the trial has failed."""
    with open("/lib/trial") as file:
        state = file.read()
    slot = state.split()[3:]
    if slot and not running(slot[0]):
        undo()
    elif state[:1] == "0":
        with open("/lib/trial", "w") as file:
            file.write("1" + state[1:])
        # Begins before the new version's own code, so that a broken one leaves a log.
        builtins.print = _print_and_keep
        import machine

        machine.WDT(timeout=TRIAL_MS)
    elif not slot:
        undo()
    # Else the boot loader keeps the new MicroPython: this version has passed.


def undo() -> None:
    """Go back to the old version."""
    for change in ROLL_BACK:
        try:
            swap(*change)
        except OSError as error:
            if error.errno != 2:
                raise


def failed(error: BaseException) -> None:
    """End a trial whose version has stopped with `error`: keep the traceback, and restart into the
    old version."""
    import io

    import machine

    try:
        sys.print_exception(error)
        out = io.StringIO()
        sys.print_exception(error, out)
        for line in out.getvalue().split("\n"):
            if line:
                _keep(line)
    finally:
        # Also if the version has left no memory for that.
        machine.reset()


def _print_and_keep(*args, **options):
    _print(*args, **options)
    if "file" not in options:
        _keep(" ".join([str(arg) for arg in args]))


def _keep(line):
    global _writes
    _lines.append(line[:MAX_LINE])
    del _lines[:-LAST_LINES]
    _writes += 1
    if _writes <= MAX_WRITES:
        try:
            with open("/lib/trial.log", "w") as file:
                file.write("\n".join(_lines))
        except (MemoryError, OSError):
            pass  # a full heap or flash is no fault of the version, which would log it here
