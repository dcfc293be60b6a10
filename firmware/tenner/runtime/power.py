# tenner runtime.power: puts a battery board into deep sleep between beats.
# MIT license; Copyright (c) 2026 the tenner authors
"""
Loaded only with `power.mode: "sleep"`. Deep sleep ends in a boot that finds all its state on
flash: last runs, conditions, the outbox. The clock runs meanwhile, but not exactly, so after a
boot the schedule starts when NTP has set the clock.
"""

import asyncio

from tenner import overlay
from tenner.log import log
from tenner.port.compat import const
from tenner.schedule import occurrences
from tenner.store import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterable
    from typing import Any

    from tenner.agent.parts import Parts
    from tenner.types import Sleeping


_CHECK_S = const(1)
_SHORTEST_S = const(10)
_LONGEST_S = const(86400)
_SYNC_S = const(30)
# The board stays awake for retries this long, then sleeps at least the second time, since a boot
# forgets the number of retries.
_PATIENCE_S = const(60)
_RETRY_S = const(600)


def plan(
    busy: str | None,
    clock_waits: bool,
    talk_s: int,
    awake_s: int,
    wakes: "Iterable[tuple[int | None, str | None]]",
) -> tuple[int | None, str]:
    """
    Return (seconds to sleep, or None to stay awake; reason). `busy`: a name for running or waiting
    work, or None; `clock_waits`: there are tasks, but the time is unknown; `talk_s`: seconds to
    wait for the next message of a conversation; `awake_s`: since the boot; `wakes`: (seconds or
    None for never, name of the retry then, or None).
    """
    if busy:
        return None, busy
    if clock_waits:
        return None, "the clock is not set"
    if talk_s > 0:
        return None, "a conversation"
    best = None
    for seconds, again in wakes:
        if again:
            if awake_s < _PATIENCE_S:
                return None, again
            seconds = max(seconds or 0, _RETRY_S)
        if seconds is not None and (best is None or seconds < best):
            best = seconds
    if best is None:
        return _LONGEST_S, "no scheduled tasks"
    if best < _SHORTEST_S:
        return None, "the next task is near"
    return min(best, _LONGEST_S), "the next task"


def _busy(app: "Sleeping", services):
    """Return a name for work that sleep must not interrupt, or None."""
    if app.agent.lane.busy():
        return "a turn"
    if len(app.inbox) or (app.telegram is not None and app.telegram.digest):
        return "a message"
    if app.agent.spawned:
        return "a background task"
    if app.charts:
        return "a chart"
    for service in services:
        if not service.booted:
            return "starting"
        if service.running_s is not None:
            return "a turn"
        for task in service.tasks or ():
            condition = task.condition
            if condition and condition.for_s and condition.since_s is not None:
                # Sleep would miss the checks of its duration.
                return "a condition is met"
    return None


def _services(app: "Parts"):
    """Return the heartbeat, and the jobs if there are any."""
    found = [app.get("heartbeat")]
    if files.exists(app.workspace + "/CRON.json") or app.has("cron"):
        found.append(app.get("cron"))
    return found


def _failed(service):
    """Return whether a service with a file has no wake time: it failed, and restarts soon."""
    return (
        service.next_wake() is None
        and (service.tasks is None or service.area == "heartbeat")
        and service.every_s != 0
        and files.exists(service.file)
    )


def decide(app: "Sleeping") -> tuple[int | None, str]:
    """Return (seconds to sleep or None, reason) for the present state."""
    services = _services(app)
    now_s = app.clock.mono_s()
    busy = _busy(app, services)
    wakes = []
    clock_waits = False
    for service in services:
        again = None
        if any(task.pending for task in service.tasks or ()):
            again = "a task is tried again"
        elif _failed(service):
            again = "%s restarts" % service.area
        wakes.append((service.next_wake(), again))
        clock_waits = clock_waits or bool(service.tasks and not app.clock.trusted)
    if app.sending:
        outbox_s = app.get("delivery").outbox.next_wake()
        if not outbox_s:
            busy = busy or "a message on its way"
        wakes.append((outbox_s, "a message is tried again"))
    if app.telegram is not None and app.telegram.status != "polling":
        # Messages sent during the sleep come first.
        wakes.append((None, "Telegram is asked for messages"))
    talk_s = 0
    if app.heard_s is not None:
        talk_s = app.heard_s + app.config.get("power.awake_s") - now_s
    return plan(busy, clock_waits, talk_s, now_s, wakes)


async def after_sync(app: "Sleeping", service: "Callable[..., Coroutine]", *args: "Any") -> None:
    """Run a coroutine function once the clock is set, or after a timeout."""
    while not app.synced and app.clock.mono_s() < _SYNC_S:
        await asyncio.sleep(_CHECK_S)
    await service(*args)


async def run(app: "Sleeping") -> None:
    """Check every second whether the board may sleep, and put it to sleep."""
    if not app.port.woke_by_time():  # type: ignore[union-attr]
        # Switched on, reset or woken by its pin: a person is there.
        app.heard_s = app.clock.mono_s()
    last_logged = before = None
    while True:
        await asyncio.sleep(_CHECK_S)
        sleep_s, why = decide(app)
        # Two checks in a row, so that work the last turn has started counts.
        if sleep_s is not None and before is not None:
            await overlay.run("BEAT", occurrences.write_down, app)
            log("power", "sleeping for %d s (%s)" % (sleep_s, why))
            app.port.deep_sleep(sleep_s * 1000, app.config.get("power.wake_gpio") or None)
        before = sleep_s
        if sleep_s is None and why != last_logged:
            last_logged = why
            log("power", "staying awake: %s" % why)
