# tenner schedule.slots: the grid of moments on which an interval falls due.
# MIT license; Copyright (c) 2026 the tenner authors
"""
Slots, not timers: the grid is fixed by the board's identity, so a reboot neither starves the
heartbeat nor fires it again, and boards do not all call at the full hour.
"""


def seed(device_id):
    """The board's own number, from which the phase of every grid follows."""
    import hashlib

    return int.from_bytes(hashlib.sha256(device_id).digest()[:4], "big")


def phase(device_id, interval_s):
    """Where in the interval this board's grid begins, in seconds."""
    return seed(device_id) % interval_s


def slot_start(interval_s, phase_s, now):
    """Beginning of the slot that `now` lies in."""
    return now - (now - phase_s) % interval_s


def due(interval_s, phase_s, now, last_run):
    """Whether a slot newer than last_run's has begun; any number of missed ones counts once."""
    return slot_start(interval_s, phase_s, now) > slot_start(interval_s, phase_s, last_run)


def next_slot(interval_s, phase_s, now):
    """Beginning of the first slot strictly after `now`."""
    return slot_start(interval_s, phase_s, now) + interval_s
