# tenner schedule.service: waits until something is due, for the heartbeat and for CRON.json.
# MIT license; Copyright (c) 2026 the tenner authors
"""
This stays in memory all day. `overlay` leads to the code that looks, decides and runs, when there
is something to look at. That code keeps nothing; the state from one look to the next is here, as
data only.
"""

import asyncio
import os

from tenner import overlay
from tenner.agent import background, health
from tenner.port.compat import const
from tenner.schedule import (
    command,
    cron_jobs,
    heartbeat_tasks,
    notices,
    outcome,
    prose,
    requests,
    rules,
    tick,
)
from tenner.schedule.task import Retry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterator, Sequence

    from tenner.agent.turn import Result
    from tenner.llm.reply import Reply
    from tenner.schedule.known_values import Known
    from tenner.schedule.schedule_files import ScheduleFiles
    from tenner.schedule.task import Request, SavedTask, Task
    from tenner.schedule.types import Application, Look

_POLL_S = const(5)
# A larger drift between the two clocks counts as a jump.
_JUMP_S = const(30)
_NO_ROOM_S = const(30)


class Service:
    """
    Wakes for `file`, of the workspace. Of the application it is given it asks

    config, clock, port      .get(name); .now(), .trusted, .mono_s(); .device_id()
    workspace, state         folders
    get(name)                "zone", "sensors" and "budget", asked for at every look, so that they
                             need not be kept
    agent                    .lane, .notify(text): tells the owner something about the agent itself
    online()                 True, or the missing link ("wifi")
    """

    #: The tasks (Task), None without the file; the signature of the file when it was read.
    tasks: "list[Task] | None" = None
    signature: tuple[int, int, int] | None = None
    booted = False
    #: Has a look come to its end?
    looked = False
    #: The findings of line_rule in the lines of the file, for clauses.parse_clauses, and the
    #: signature of that file; the names of the sensors and the items, while it is read.
    rules: "dict | None" = None
    ruled: tuple[int, int, int] | None = None
    parsed: "list | None" = None
    known: "Known | None" = None
    #: The clock at the last look: whether it was trusted, and how far from the monotonic one.
    was_trusted = False
    offset_s = 0
    #: UTC second at which the clock was last set or moved; earlier occurrences were missed.
    start_s = 0
    #: Monotonic second of the next wake; None with no scheduled tasks.
    wake_at_s: int | None = None
    #: Monotonic second before which no model is asked, after a failure; turns preempted in a row.
    not_before_s = 0
    preemptions = 0
    #: Start of the turn under way, None without one.
    running_s: int | None = None
    #: The kind of the last decision that was logged; when run-log lines were written last.
    last_logged: str | None = None
    written_s: int | None = None
    #: Whether the state differs from the one on flash.
    dirty = False
    # Kept on flash beside the tasks: boots too short for a beat, failures in a row, whether the
    # owner was told of them, and the check sum of the problems that were reported.
    short_boots = failures = told = problems = 0
    #: The number of the last episode of an alarm, and the sensors that have failed lately
    #: (schedule.notices).
    episodes = 0
    faults: dict[str, list] | None = None
    #: Seconds between beats, None without any; active hours; whether the beat has anything to do,
    #: and comes early because boots have been too short for one.
    every_s: int | None = None
    window = ""
    has_work = early = False
    #: Replacements: for schedule_files.ScheduleFiles in tests, for background.deliver where
    #: nothing is to be sent.
    files: "ScheduleFiles | None" = None
    deliver: "Callable[..., Coroutine] | None" = None

    def __init__(self, app: "Application", area: str, file: str) -> None:
        self.app = app
        self.area = area
        self.file = app.workspace + "/" + file
        #: The waits of tasks that need the lane, and of alerts, which do not.
        self.model_retry = Retry()
        self.alert_retry = Retry()
        #: Held lines of the run log, and state that no task has taken over yet (SavedTask by
        #: name).
        self.held: list[str] = []
        self.saved: "dict[int | str, SavedTask]" = {}
        self._seen: tuple | None = None
        self._poked = asyncio.Event()
        # All names that a beat sets: the table would grow later, in the middle of the free memory.
        self.tasks = self.signature = self.wake_at_s = self.last_logged = self.written_s = None
        self.booted = self.looked = self.was_trusted = self.dirty = self.has_work = self.early = (
            False
        )
        self.offset_s = self.start_s = self.not_before_s = self.short_boots = self.problems = 0

    async def service(self) -> None:
        """Wake whenever something is due, forever."""
        while True:
            if not self._nothing_new():
                await self.step(False, True)
                self.looked = True
            wake_s = self.next_wake()
            # Not longer: the file may have been edited by anybody.
            wait_s = _POLL_S if wake_s is None else min(max(wake_s, 1), _POLL_S)
            health.finished(self.area, wait_s)
            if await _wait(self._poked, wait_s):
                self._seen = None

    async def step(
        self, forced: bool | tuple[int, ...] = False, detached: bool = False
    ) -> tuple[str, str | None]:
        """
        Look once, and run the due tasks. (action, reason): "run" and the outcome, or why not.
        `forced`: True for all tasks without a condition, or a tuple of lines; `detached`: look at
        conditions while a model thinks.
        """
        found = await overlay.run("BEAT", tick.find_due, self, forced, detached)
        while found is None:
            try:
                await overlay.run("SCAN", rules.find, self)
            except overlay.OutOfMemory:
                await overlay.run("SCAN", rules.do_without, self)
            found = await overlay.run("BEAT", tick.find_due, self, forced, detached)
        answer, alerts, tasks = found
        if alerts:
            sent = await overlay.run("RUN", self._run, alerts, True)
            if answer is None or answer[0] == "run":
                answer = sent
        if tasks and detached and (self.area == "heartbeat" or not self.app.port.small):
            asyncio.create_task(overlay.run("RUN", self._run, tasks))
            return "run", "started"
        if tasks:
            answer = await overlay.run("RUN", self._run, tasks)
        return answer

    async def _run(self, tasks, alerts=False):
        """
        Run tasks, those of one request together, and settle the results. (action, reason) of the
        last. `alerts` go out while a model thinks.
        """
        answer = ("run", None)
        begun = list(tasks)
        try:
            while tasks:
                request = await overlay.step(
                    "RUN", requests.next_request, self, tasks, answer, alerts
                )
                if request is None:
                    break
                answer = await self._handle(request)
            await overlay.step("RUN", tick.close, self)
        except (overlay.OutOfMemory, MemoryError) as error:
            try:
                begun = [task for task in begun if task.run]
                answer = await overlay.step("RUN", outcome.put_off, self, begun, error)
            except (overlay.OutOfMemory, MemoryError):
                # Memory has not even room for the code that puts them off. Without it, and here,
                # they are due as before they began, in half a minute.
                for task in begun:
                    if task.run:
                        task.run.undo(task)
                        task.pending = task.run.pending
                        task.run = None
                retry = self.alert_retry if alerts else self.model_retry
                retry.reason = "out of memory"
                retry.until_s = self.wake_at_s = self.app.clock.mono_s() + _NO_ROOM_S
                self.dirty = True
                answer = "retry", "out of memory"
        finally:
            if not alerts:
                self.running_s = None
                self.poke()
        return answer

    async def _handle(self, request):
        # Steps of their own, so that no two of them are in memory at once.
        if request.text is None:
            await self._compose(request)
        # With the note, for the class of a result is code of the turn.
        await overlay.once("TURN" if request.needs_model else "RUN", self._ask, request)
        answer = await overlay.step("RUN", outcome.judge, self, request)
        if answer:
            return answer
        if request.address and request.sent is None:
            await overlay.step("SEND", background.send, self, request)
        answer = await overlay.step("RUN", outcome.settle, self, request)
        if request.sent in ("yes", "queued") and not self.deliver:
            await overlay.step(
                "KEEP", background.remember, self.app, request.text, *request.address
            )
        return answer

    async def _ask(self, request):
        """Run the turns of a request, and note the outcome as plain data."""
        try:
            if request.choose:
                reply = await self.run_turn(request)
                if request.tasks:
                    await overlay.step("RUN", requests.choose, self, request, reply)
                else:
                    await overlay.step("READ", prose.choose, self, request, reply)
                if request.needs_model:
                    await self._compose(request)
            if request.needs_model:
                request.result = await self.run_turn(request)
            else:
                request.result = request.text
        except Exception as error:
            # Also an exception of a bug: a failed turn must never pass for a quiet one.
            request.result = error
        await overlay.step("TURN" if request.needs_model else "RUN", outcome.note, self, request)

    async def _compose(self, request):
        """Write the text of a request of the heartbeat."""
        await overlay.step("READ", rules.read_items, self, request)
        if request.tasks:
            await overlay.step("BEAT_READ", requests.compose, self, request)
        else:
            await overlay.step("READ", prose.compose, self, request)

    async def run_turn(self, request: "Request") -> "Result | Reply | tuple[str, int] | None":
        """Return the Result of a turn, or the model's reply where it only chooses. Tests put
        theirs in its place."""
        return await overlay.step(
            "TURN",
            background.run_turn,
            self.app,
            request.text,
            self.area,
            request.model,
            request.choose,
            request.owes is not None,
            request.limit_s,
        )

    def _nothing_new(self):
        """Return whether a look can be spared: nothing due, same file, same clock. Cheap on
        purpose."""
        if self.files is not None:
            return False
        # Names in the lines are those of the sensors.
        seen = _size_and_time(self.file), _size_and_time(self.app.workspace + "/SENSORS.json")
        clock = self.app.clock
        mono_s = clock.mono_s()
        same = (
            self.booted
            and seen == self._seen
            and clock.trusted == self.was_trusted
            and abs(clock.now() - mono_s - self.offset_s) <= _JUMP_S
        )
        self._seen = seen
        return same and (self.wake_at_s is None or mono_s < self.wake_at_s)

    def poke(self) -> None:
        """Wake now: a person's turn has ended, the network is up, the file was edited."""
        self._poked.set()

    def next_wake(self) -> int | None:
        """Return seconds until something is due, None when nothing ever is: a board may sleep so
        long."""
        if self.wake_at_s is None:
            return None
        return max(self.wake_at_s - self.app.clock.mono_s(), 0)


class Heartbeat(Service):
    """Runs the tasks of HEARTBEAT.md."""

    def __init__(self, app: "Application") -> None:
        Service.__init__(self, app, "heartbeat", "HEARTBEAT.md")
        self.every_s = app.config.get("heartbeat.every")
        self.window = app.config.get("heartbeat.active_hours")

    async def trigger(
        self, channel: str, chat: int | str, lines: bool | tuple[int, ...] = True
    ) -> None:
        """Run the tasks without a condition, or those of these lines; report the outcome and the
        alarms to that chat."""
        answer = await self.step(lines)
        text = await overlay.run("BEAT", command.preview, self) if lines is True else ""
        text += "heartbeat: %s (%s)" % answer
        await overlay.run("SEND", background.tell, self.app, text, channel, chat)

    async def marks(self) -> list[int]:
        """Return a number for each line of the file, for `understood`."""
        return await overlay.step("SCAN", rules.marks, self)

    async def understood(self, before: list[int]) -> str:
        """Return, behind a line break, how each changed line of the file is understood."""
        try:
            return await overlay.step("SCAN", rules.understood, self, before)
        except overlay.OutOfMemory:
            return "\nThe board reads the lines at its next beat; it tells the owner of mistakes."

    def scan(
        self, occurrences: "Look", old: "Sequence[Task]"
    ) -> "tuple[list[Task] | None, list[str]]":
        """Return (tasks, sentences for the owner) of the file."""
        return heartbeat_tasks.scan(occurrences, old)

    def confirm(self, mark: str, id: int | None = None) -> None:
        """Note that the owner has received the text of this mark, as the message `id` of its
        channel: it is not said again within `heartbeat.dedup_h`."""
        notices.confirm(self, mark, id)

    def first(self, mark: str) -> int | None:
        """Return the id of the first message of an alarm's episode, None if unknown."""
        return notices.first(self, mark)


class CronJobs(Service):
    """
    Runs the jobs of CRON.json, which are its `tasks`. The definitions belong to the owner and the
    agent, the state to the board. Texts of jobs stay on flash until they run.
    """

    def __init__(self, app: "Application") -> None:
        Service.__init__(self, app, "cron", "CRON.json")

    def scan(
        self, occurrences: "Look", old: "Sequence[Task]"
    ) -> "tuple[list[Task] | None, list[str]]":
        """Return (tasks, sentences for the owner) of the file."""
        return cron_jobs.scan(occurrences, old)

    def lines(self) -> "Iterator[str]":
        """Yield one line for each job: its id, its time, its next run."""
        return cron_jobs.lines(self)

    def add(self, entry: dict) -> str:
        """Add an entry, in the place of one with the same id, and return in words when its job
        runs; ValueError names the mistake."""
        return cron_jobs.add(self, entry)

    def times(self, entry: dict) -> str:
        """Return in words when the job of an entry would run; ValueError names the mistake."""
        return cron_jobs.times(self, entry)

    def remove(self, key: str) -> None:
        """Remove a job; ValueError for an unknown id."""
        cron_jobs.remove(self, key)

    def enable(self, key: str, enabled: bool = True) -> None:
        """Switch a job on, also after failures, or off; ValueError for an unknown id."""
        cron_jobs.enable(self, key, enabled)


def _size_and_time(path):
    try:
        stat = os.stat(path)
    except OSError:
        return None
    return stat[6], stat[8]


async def _wait(event, seconds):
    """Wait until `event` is set or `seconds` are over; return whether it was set, and clear it."""
    # Not wait_for(): before CPython 3.12 it loses a cancellation that comes with the event.
    timed_out = []
    timer = asyncio.create_task(_ring(event, seconds, timed_out))
    try:
        await event.wait()
    finally:
        timer.cancel()
    event.clear()
    return not timed_out


async def _ring(event, seconds, timed_out):
    await asyncio.sleep(seconds)
    timed_out.append(True)
    event.set()
