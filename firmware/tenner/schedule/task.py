# tenner schedule.task: timed tasks, and their state between two looks.
# MIT license; Copyright (c) 2026 the tenner authors
"""Data only, always in memory; defaults stand in the classes, where they cost nothing per task."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from tenner.net.clock import Clock


class Task:
    """An item of HEARTBEAT.md or a job of CRON.json."""

    #: An item: a short number that names it until it is edited; 0 is the beat itself. A job: its
    #: id.
    key: int | str = 0
    #: Its line in HEARTBEAT.md; the text is read from there when it runs.
    line = 0
    # When: a grid of seconds, a cron expression (on the owner's clock, or in `tz`), or one moment;
    # `free`: the grid begins where the task is first seen.
    every_s = 0
    phase_s = 0
    cron: str | None = None
    at = 0
    #: Of a line that runs once: the seconds from when it was written, `+08:00` of the next day, or
    #: the next `18:00`. `at` is that time, worked out when the clock is set.
    once: "int | str" = 0
    tz: str | None = None
    free = False
    hours: str | None = None
    # How: a named model, the text itself, only if a condition holds.
    model: str | None = None
    notify = False
    condition: "Condition | None" = None
    # Of an alarm (schedule.alarms): seconds until it is told again, whether its end is told though
    # a model has its beginning, and whether it ignores quiet hours; `alert`: it sends a text next,
    # `hold`: when quiet hours end.
    # `chart_s`: the seconds of the chart that goes with its message.
    # `escalate`: the seconds after which the next one is told, and who that is.
    repeat_s = chart_s = 0
    escalate: "Sequence | None" = None
    resolve = urgent = alert = hold = False
    #: UTC seconds of the last run.
    last = 0
    # Start of the count while the clock is not trusted, and whether it ran since then.
    base_s = 0
    ran = False
    #: UTC seconds at which the occurrence at hand fell due, and whether a person asked for it
    #: outside the task's times.
    due = 0
    asked = False
    #: The Occurrence that waits to be tried again, and the Run under way.
    pending: "Occurrence | None" = None
    run: "Run | None" = None
    #: The value that met the condition, kept until the task has run.
    trigger_value: float | None = None
    #: Of an alarm or a job that a model has to answer: the monotonic second since which it waits,
    #: and why the board tells it without the model.
    waits_s: int | None
    gave_up: str | None
    waits_s = gave_up = None
    #: The next time of a cron expression, worked out when first asked for.
    next: int | None = None
    # Of a job: whether missed runs are skipped, its entry's "enabled", since when it is off
    # although that says otherwise, why, failures in a row, and when it may be tried again.
    skip_missed = False
    enabled = True
    off_since = 0
    why = ""
    failures = 0
    not_before_s = 0
    #: The occurrence (UTC seconds) whose own message was sent since no model answered.
    told = 0

    def name(self) -> str:
        """Return the task's name in the log: a job's id, the number of an item, or `beat`."""
        if isinstance(self.key, str):
            return self.key
        return "%06x" % self.key if self.key else "beat"


class Condition:
    """`when SENSOR.VALUE op NUMBER [for DURATION] [reset NUMBER]`, and the ones that `and` or `or`
    (`either`) joins to it."""

    sensor = ""
    value = ""
    op = ""
    number: float = 0
    number2: float | None = None
    for_s = within_s = 0
    reset: float | None = None
    #: Are its numbers shown in imperial units?
    imperial = False
    also: "Sequence[Condition]"
    past: "Sequence[tuple[int, float]]"
    also = past = ()
    either = False
    #: Monotonic seconds since which the condition holds.
    since_s: int | None = None
    # These survive a reboot: the episode under way (schedule.alarms), the reference of changes,
    # and the UTC second at which its mute ends.
    alarm: "Any" = None
    reference: "Any" = None
    muted = 0
    #: The seconds it was muted for.
    mute_s = 0
    #: UTC seconds of the last message, and the value seen last.
    told = 0
    seen: float | None = None

    def name(self) -> str:
        """Return `sensor.value`."""
        return "%s.%s" % (self.sensor, self.value)


class Occurrence:
    """A time at which a task fell due (UTC seconds) that waits: why, its failed tries, and the
    tokens they cost."""

    def __init__(
        self, due: int, reason: str, tries: int = 0, tokens: int = 0, asked: bool = False
    ) -> None:
        self.due = due
        self.reason = reason
        self.tries = tries
        self.tokens = tokens
        #: A person has asked for it, outside the task's times.
        self.asked = asked


class Run:
    """An occurrence that runs since `start`, and the state of the task before, in case nothing
    comes of it."""

    def __init__(self, task: Task, start: int, trusted: bool) -> None:
        self.due = task.due
        self.asked = task.asked
        self.start = start
        self.trusted = trusted
        self.pending = task.pending
        self.last = task.last
        self.base_s = task.base_s
        self.ran = task.ran
        self.next = task.next

    def undo(self, task: Task) -> None:
        """Restore the state of `task`, except its waiting occurrence."""
        task.last, task.base_s, task.ran, task.next = self.last, self.base_s, self.ran, self.next


class SavedTask:
    """
    The state from the last boot of a task that is not in force yet. `run`: that under way, [due,
    start, whether it is due again]. `pending`: the Occurrence that waited. `kept`: the values of
    saved_state.kept.
    """

    def __init__(
        self,
        last: int = 0,
        run: list | None = None,
        pending: Occurrence | None = None,
        kept: "Sequence" = (),
    ) -> None:
        self.last = last
        self.run = run
        self.pending = pending
        self.kept = kept


class Moment:
    """The moment that is judged: UTC seconds, whether those are known, and the monotonic clock."""

    def __init__(self, clock: "Clock") -> None:
        self.now = clock.now()
        self.trusted = clock.trusted
        self.mono_s = clock.mono_s()


class Retry:
    """Tasks that wait for the lane or the network: the last wait, its end on the monotonic clock,
    and its reason."""

    wait_s = 0
    until_s = 0
    reason = ""


class Request:
    """
    The next step with `tasks`: ask `model` with `text`, or send the text unchanged without
    `needs_model`. `choose`: the model only says which of the tasks need a turn; a text is the
    system prompt of another question (schedule.prose). `payload` is that of a job. `tokens`: spent
    already. `items`: the texts of a heartbeat's tasks, as
    heartbeat_tasks.read returns them, while `text` is written. `lines`: those of the tasks that a
    model may choose, then of those it has chosen; None: all.
    """

    needs_model = True
    model: str | None = None
    choose: bool | str = False
    payload: dict | None
    items: "tuple[list[str], list[tuple[int, str]]] | None"
    lines: "Sequence[int] | None"
    payload = items = lines = None
    tokens = 0
    #: The Result of the turn, a text that needed no turn, None when the model decided to skip, or
    #: the exception.
    result: "Any" = None
    # The same as plain data: the line for the run log, the reason to wait for another try, the
    # answer or the error. `outage`: no model could be reached. `address`: arguments of
    # background.deliver. `sent`: "yes", "queued", "held" or "repeat".
    line: dict | None
    wait: str | None
    answer: str | None
    error: str | None
    address: tuple | None
    sent: str | None
    line = wait = answer = error = address = sent = None
    outage = False
    #: Of an alarm: the kind of its message (alarms.BEGIN ...), its mark, and whether to hold it
    #: until quiet hours end.
    bit = 0
    mark: str | None = None
    hold = False
    #: The task that the owner must hear of with any reply; why the model's reply does not tell it;
    #: the longest turn, None: the usual one.
    owes: Task | None
    why: str | None
    limit_s: int | None
    owes = why = limit_s = None
    #: Of a job: only its own message is sent, and the reason for which its run is skipped then.
    tells = False
    skips: str | None = None
    #: The (channel, chat) that it goes to, () for the owner's; the other alarms that its text
    #: names.
    to: tuple = ()
    others: "Sequence[Task]" = ()
    #: The (time, value) at its beginning and at the last look, for its chart.
    seen: "tuple[tuple[int, float], ...]" = ()

    def __init__(self, tasks: list[Task], text: str | None) -> None:
        self.tasks = tasks
        self.text = text
