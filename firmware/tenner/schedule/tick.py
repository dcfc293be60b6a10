# tenner schedule.tick: one look of either service, and its next request.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner import overlay
from tenner.schedule import (
    cron_tick,
    heartbeat_requests,
    heartbeat_tick,
    saved_state,
)
from tenner.schedule.occurrences import Occurrences
from tenner.schedule.reload import reload

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from tenner.llm.reply import Reply
    from tenner.schedule.task import Request, Task
    from tenner.schedule.types import Service


async def find_due(
    service: "Service", forced: bool | tuple[int, ...], detached: bool
) -> "tuple[tuple[str, str | None] | None, Sequence[Task], list[Task]] | None":
    """Look at file, clock and sensors. ((action, reason), alerts to send, tasks to run); None if
    `rules.find` has to look at a changed file first."""
    if not service.booted:
        # The code that reads the state makes room for that of the file, and this for the rest.
        await overlay.once("BEAT", _resume, service)
    if service.area == "heartbeat" and _new(service) not in (None, service.ruled):
        return None
    await overlay.once("BEAT", _reload, service)
    service.parsed = None
    if service.area == "cron":
        return cron_tick.find_due(service)
    return await heartbeat_tick.find_due(service, forced, detached)


# Separate functions: a stack with that code would keep it.


def _resume(service):
    occurrences = Occurrences(service)
    saved_state.load(service, occurrences.log, occurrences.moment)


def _new(service):
    """Return the file's signature if it has changed."""
    signature = Occurrences(service).log.files.signature()
    return None if signature == service.signature else signature


def _reload(service):
    reload(Occurrences(service))


async def next_request(
    service: "Service", tasks: "list[Task]", answer: tuple[str, str | None], alerts: bool
) -> "Request | None":
    """
    Take tasks out of the list `tasks` and return the Request for them, noted as begun; None when
    nothing is left to be done. `answer` is the outcome of the request before; `alerts`: of texts
    that go out while a model thinks.
    """
    if service.area == "cron":
        return cron_tick.next_request(service, tasks)
    # The board may have told a task while it waited here.
    tasks[:] = [task for task in tasks if (task.notify or task.alert) == alerts]
    return await heartbeat_requests.next_request(service, tasks, answer) if tasks else None


async def compose(heartbeat: "Service", request: "Request") -> None:
    """Write the text of `request` from the items that were read."""
    await heartbeat_requests.compose(heartbeat, request)


async def choose(heartbeat: "Service", request: "Request", reply: "Reply") -> None:
    """Go on with the tasks that a model has chosen in its `reply`."""
    heartbeat_requests.choose(heartbeat, request, reply)


async def close(service: "Service") -> None:
    """Write the changes, and set the next wake: the runs have taken time."""
    Occurrences(service).close()
