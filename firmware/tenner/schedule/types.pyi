# tenner schedule.types: the state of the heartbeat or of cron, by meaning; for type checking only.
# MIT license; Copyright (c) 2026 the tenner authors
"""
schedule.service.Service has it all, and says more about each. A function asks for the narrowest of
these that has what it needs.
"""

from collections.abc import Sequence
from typing import Protocol

from tenner.agent.types import Background
from tenner.schedule.known_values import Known
from tenner.schedule.schedule_files import ScheduleFiles, Watched
from tenner.schedule.task import Moment, Occurrence, Retry, SavedTask, Task
from tenner.store.posix_tz import Zone

class Application(Background, Protocol):
    """The application around the heartbeat and cron."""

    def online(self) -> bool | str: ...

class Watching(Watched, Protocol):
    """The file, the application, and a way to look again."""

    area: str

    @property
    def app(self) -> Application: ...
    def poke(self) -> None: ...

class Told(Watching, Protocol):
    """The state on flash, and whether it differs from the one in memory."""

    dirty: bool
    #: The tasks, None without the file, and state that none of them has taken over yet.
    tasks: list[Task] | None
    saved: dict[int | str, SavedTask]

class Log(Watching, Protocol):
    """The lines of the run log that are not written yet."""

    held: list[str]
    last_logged: str | None
    written_s: int | None

class Clocks(Told, Protocol):
    """The clock at the last look."""

    was_trusted: bool
    offset_s: int
    start_s: int

class Alarms(Clocks, Protocol):
    """The episodes of alarms, and the sensors that have failed lately."""

    episodes: int
    faults: dict[str, list] | None

class Lines(Watching, Protocol):
    """The lines of HEARTBEAT.md: how they are understood, and the names they may have."""

    rules: dict | None
    ruled: tuple[int, int, int] | None
    parsed: list | None
    known: Known | None

class Beat(Watching, Protocol):
    """The beat of the heartbeat."""

    every_s: int | None
    window: str
    has_work: bool
    early: bool

class Reading(Lines, Beat, Protocol):
    """The heartbeat, while its lines are read."""

class Starts(Clocks, Protocol):
    """The starts of the board, and the failures in a row."""

    booted: bool
    short_boots: int
    failures: int
    told: int
    problems: int

class Waits(Told, Protocol):
    """The waits for the lane and for a model."""

    model_retry: Retry
    alert_retry: Retry
    wake_at_s: int | None
    not_before_s: int
    preemptions: int
    running_s: int | None

class State(Alarms, Beat, Starts, Protocol):
    """The state that outlives a start."""

class Service(State, Log, Lines, Waits, Protocol):
    """The heartbeat, or the jobs of cron."""

    signature: tuple[int, int, int] | None

    def scan(
        self, occurrences: Look, old: Sequence[Task]
    ) -> tuple[list[Task] | None, list[str]]: ...

class Filed(Protocol):
    """A run log with its files."""

    files: ScheduleFiles

class Look(Protocol):
    """One look at the tasks; see schedule.occurrences.Occurrences."""

    service: Service
    moment: Moment
    is_off: bool

    @property
    def zone(self) -> Zone: ...
    @property
    def log(self) -> Filed: ...
    def is_held(self, task: Task) -> bool: ...
    def supersede(self, task: Task, waiting: Occurrence, trusted: bool = True) -> None: ...
