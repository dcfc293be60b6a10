# tenner schedule.state: what of tasks, jobs and gates stays in memory between two wakes.
# MIT license; Copyright (c) 2026 the tenner authors
"""
Data only, and the defaults in the class, where they cost nothing per task: what is done with it is
in `slots` and `gates`, which a small board loads when it wakes and lets go of afterwards.
"""


class Task:
    #: An item of HEARTBEAT.md: a short number that names it as long as nobody edits it; 0 is the
    #: beat itself. A job of CRON.json: its id.
    key = 0
    #: Its line in HEARTBEAT.md; the text is read from there when it runs.
    line = 0
    # When: a grid of seconds, a cron expression (on the owner's clock, or in `tz`), or one moment;
    # `free`: the grid begins where the task is first seen.
    every_s = 0
    phase_s = 0
    cron = None
    at = 0
    tz = None
    free = False
    hours = None
    # How: a named model, the text itself, only if a gate is open.
    model = None
    notify = False
    gate = None
    #: UTC seconds of the last run.
    last = 0
    # Start of the count while the clock is not trusted, and whether it ran since then.
    base_s = 0
    ran = False
    # The occurrence at hand, whether a person asked for it outside the task's times, and the one
    # that waits to be tried again: [due, reason, failed tries, tokens they cost].
    due = 0
    asked = False
    pending = None
    # The run under way: [due, start, whether it is due again when it is cut short], and what takes
    # it back: (what waited, whether the clock was trusted, last, base_s, ran, next).
    run = None
    before = None
    # The value that opened the gate, kept until the task has run; and the last look at it.
    opened = None
    was_open = False
    #: The next time of a cron expression, worked out when first asked for.
    next = None
    # Of a job: whether missed runs are skipped, its entry's "enabled", since when it is off
    # although that says otherwise, why, failures in a row, and when it may be tried again.
    skip = False
    enabled = True
    off = 0
    why = ""
    failures = 0
    not_before_s = 0


class Gate:
    sensor = ""
    value = ""
    op = ""
    number = 0
    number2 = None
    for_s = 0
    reset = None
    #: Monotonic seconds since which the condition holds.
    since_s = None
    # These survive a reboot; `silent`: the owner was told that the sensor does not answer.
    fired = False
    reference = None
    silent = False
