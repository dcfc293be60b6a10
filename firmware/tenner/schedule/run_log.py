# tenner schedule.run_log: the log of the outcome of every occurrence.
# MIT license; Copyright (c) 2026 the tenner authors
"""
One line in state/runs.jsonl for each occurrence that fell due:

    {"t":1790000000,"due":1789999980,"k":"1f3a9c","n":7,"r":"ran","tokens":812,"ms":2300,"sent":"yes"}
    {"t":1790000000,"due":1789999980,"k":"beat","r":"skipped","why":"quiet hours (22:00-07:00)"}

`k` is the task or "beat", `n` its line in HEARTBEAT.md, `job` stands there instead for a job;
`up`: seconds since boot, where the clock was not set. Checks that met no condition are gathered
for up to a minute.
"""

import json

from tenner.log import log
from tenner.port.compat import const
from tenner.schedule import schedule_files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.schedule.task import Condition
    from tenner.schedule.types import Log

_GATHER_S = const(60)
_GATHER_LINES = const(12)
_MOST_HELD = const(24)  # by a disk that takes nothing
#: The outcomes of an answer, as people read them.
SENT = {
    "yes": "shown at the console",
    "queued": "message queued",
    "held": "held until quiet hours end",
    "repeat": "told before",
    "no": "nothing to report",
}


class RunLog:
    """Lives for one look or one turn; the lines that are held are the service's."""

    def __init__(self, service: "Log", mono_s: int) -> None:
        self._service = service
        self._mono_s = mono_s
        self.files = schedule_files.of(service)

    def note(self, action: str, reason: str) -> tuple[str, str]:
        """Log a decision when it differs from the last. (action, reason)"""
        service = self._service
        kind = reason.split("(")[0]
        # "not due" is news only after a run.
        if kind != service.last_logged and (
            action != "wait" or service.last_logged in (None, "run")
        ):
            service.last_logged = kind
            log(service.area, reason)
        return action, reason

    def task_of(self, entry: dict) -> str | None:
        """Return the name of the task that an entry is about, None when it is another
        service's."""
        return entry.get("job" if self._service.area == "cron" else "k")

    def entry(
        self, name: str, due: int, start: int, result: str | None, why: str | None = None
    ) -> dict:
        """Return a new entry."""
        found = {"t": start, "due": due, "r": result}
        found["job" if self._service.area == "cron" else "k"] = name
        if why is not None:
            found["why"] = why
        return found

    def add(self, entry: dict, can_wait: "bool | Condition | None" = False) -> None:
        """Keep an entry until the next write."""
        service = self._service
        # As text, which takes a third of the memory.
        service.held.append(json.dumps(entry, separators=(",", ":")))
        del service.held[:-_MOST_HELD]
        if not can_wait or service.written_s is None or len(service.held) >= _GATHER_LINES:
            service.written_s = self._mono_s - _GATHER_S

    def flush(self, at_once: bool = False) -> None:
        """Write the entries that are held, if they cannot wait or have waited for a minute."""
        service = self._service
        if service.held and (at_once or self._mono_s - service.written_s >= _GATHER_S):
            self.files.append(service.held)
            # Not before the append: a full disk must not lose them.
            service.held = []
            service.written_s = self._mono_s

    def tail(self, count: int) -> list[dict]:
        """Return the last `count` entries, oldest first."""
        held = [json.loads(line) for line in self._service.held]
        return (self.files.tail(count) + held)[-count:]
