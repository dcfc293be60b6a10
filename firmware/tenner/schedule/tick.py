# tenner schedule.tick: one look of either service, and its next request.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.schedule import cron_tick, heartbeat_requests, heartbeat_tick
from tenner.schedule.occurrences import Occurrences


async def find_due(service, forced, detached):
    """Look at file, clock and sensors. ((action, reason), alerts to send, tasks to run)"""
    if service.area == "cron":
        return cron_tick.find_due(service)
    return await heartbeat_tick.find_due(service, forced, detached)


async def next_request(service, tasks, answer):
    """
    Take tasks out of the list `tasks` and return the Request for them, noted as begun; None when
    nothing is left to be done. `answer` is the outcome of the request before.
    """
    if service.area == "cron":
        return cron_tick.next_request(service, tasks)
    return await heartbeat_requests.next_request(service, tasks, answer)


async def compose(heartbeat, request):
    """Write the text of `request` from the items that were read."""
    await heartbeat_requests.compose(heartbeat, request)


async def choose(heartbeat, request, reply):
    """Go on with the tasks that a model has chosen in its `reply`."""
    heartbeat_requests.choose(heartbeat, request, reply)


async def close(service):
    """Write the changes, and set the next wake: the runs have taken time."""
    Occurrences(service).close()
