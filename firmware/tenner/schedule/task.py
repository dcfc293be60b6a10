# tenner schedule.task: what is timed, and the little that lasts between two looks at it.
# MIT license; Copyright (c) 2026 the tenner authors
"""Data only, always in memory; defaults stand in the classes, where they cost nothing per task."""


class Task:
    """An item of HEARTBEAT.md or a job of CRON.json."""

    #: An item: a short number that names it as long as nobody edits it; 0 is the beat itself. A job: its id.
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
    # How: a named model, the text itself, only if a condition holds.
    model = None
    notify = False
    condition = None
    # Of an alarm (schedule.alarms): seconds until it is told again, whether a model's end is told, and whether quiet hours
    # do not hold it; `alert`: what it does next is to send a text, `hold`: to keep that for the end of quiet hours.
    repeat_s = 0
    resolve = urgent = alert = hold = False
    #: UTC seconds of the last run.
    last = 0
    # Start of the count while the clock is not trusted, and whether it ran since then.
    base_s = 0
    ran = False
    #: UTC seconds at which the occurrence at hand fell due, and whether a person asked for it outside the task's times.
    due = 0
    asked = False
    #: The Occurrence that waits to be tried again, and the Run under way.
    pending = None
    run = None
    #: The value that met the condition, kept until the task has run.
    trigger_value = None
    #: The next time of a cron expression, worked out when first asked for.
    next = None
    # Of a job: whether missed runs are skipped, its entry's "enabled", since when it is off
    # although that says otherwise, why, failures in a row, and when it may be tried again.
    skip_missed = False
    enabled = True
    off_since = 0
    why = ""
    failures = 0
    not_before_s = 0

    def name(self):
        """Return what the task is called in the log: a job's id, the number of an item, or `beat`."""
        if isinstance(self.key, str):
            return self.key
        return "%06x" % self.key if self.key else "beat"


class Condition:
    """`when SENSOR.VALUE op NUMBER [for DURATION] [reset NUMBER]`, and what `and` or `or` (`either`) joins to it."""

    sensor = ""
    value = ""
    op = ""
    number = 0
    number2 = None
    for_s = within_s = 0
    reset = None
    also = past = ()
    either = False
    #: Monotonic seconds since which the condition holds.
    since_s = None
    # These survive a reboot: the episode under way (schedule.alarms), what a change is counted from, and UTC seconds
    # until which nobody wants to hear of it.
    alarm = None
    reference = None
    muted = 0
    #: UTC seconds of the last message, and the value seen last.
    told = 0
    seen = None

    def name(self):
        """Return `sensor.value`."""
        return "%s.%s" % (self.sensor, self.value)


class Occurrence:
    """A time at which a task fell due (UTC seconds) that waits: why, its failed tries, and the tokens they cost."""

    def __init__(self, due, reason, tries=0, tokens=0, asked=False):
        self.due = due
        self.reason = reason
        self.tries = tries
        self.tokens = tokens
        #: A person has asked for it, outside the task's times.
        self.asked = asked


class Run:
    """An occurrence that is being run since `start`, and what the task was before, in case nothing comes of it."""

    def __init__(self, task, start, trusted):
        self.due = task.due
        self.asked = task.asked
        self.start = start
        self.trusted = trusted
        self.pending = task.pending
        self.last = task.last
        self.base_s = task.base_s
        self.ran = task.ran
        self.next = task.next

    def undo(self, task):
        """Make `task` what it was, but for what has waited."""
        task.last, task.base_s, task.ran, task.next = self.last, self.base_s, self.ran, self.next


class SavedTask:
    """
    What the last boot has left of a task that is not in force yet: its last run, the run that was under way
    ([due, start, whether it is due again]) or None, the Occurrence that waited or None, and the values of `kept_names`.
    """

    def __init__(self, last=0, run=None, pending=None, kept=()):
        self.last = last
        self.run = run
        self.pending = pending
        self.kept = kept


class Moment:
    """The moment that is judged: UTC seconds, whether those are known, and the monotonic clock."""

    def __init__(self, clock):
        self.now = clock.now()
        self.trusted = clock.trusted
        self.mono_s = clock.mono_s()


class Retry:
    """Tasks that wait for the lane or the network: the last wait, its end on the monotonic clock, and its reason."""

    wait_s = 0
    until_s = 0
    reason = ""


class Request:
    """
    What is to be done with `tasks` next: ask `model` with `text`, or send the text as it stands without `needs_model`.
    `choose`: the model only says which of the tasks need a turn. `payload` is that of a job. `tokens`: spent already.
    `sent`: what became of the answer, once it was given away.
    """

    needs_model = True
    model = None
    choose = False
    payload = None
    tokens = 0
    sent = None
    #: Of an alarm: what is told of it, what the message is known by, and whether it is held until quiet hours end.
    bit = 0
    mark = None
    hold = False

    def __init__(self, tasks, text):
        self.tasks = tasks
        self.text = text
