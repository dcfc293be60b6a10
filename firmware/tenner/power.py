# tenner power: deep sleep between beats, for a battery: when, until when, and what is written before.
# MIT license; Copyright (c) 2026 the tenner authors
"""
Loaded only with `power.mode: "sleep"`. Deep sleep ends in a boot that finds on flash all it needs: last
runs, gates, the outbox. The clock goes on meanwhile, but not exactly, so after a boot the schedule
begins when the time server was asked.
"""

import asyncio

from tenner import overlay
from tenner.log import log
from tenner.port.compat import const
from tenner.schedule.occurrences import Occurrences
from tenner.store import files

_LOOK_S = const(1)
_SHORTEST_S = const(10)
_LONGEST_S = const(86400)
_SYNC_S = const(30)
# What failed is tried again for so long; then the board sleeps, and not shorter than this, because a
# boot forgets how often it was tried.
_PATIENCE_S = const(60)
_RETRY_S = const(600)


def plan(busy, clock_waits, talk_s, awake_s, wakes):
    """
    (seconds to sleep, or None to stay awake; why). `busy`: what runs or waits to run, or None;
    `clock_waits`: there are tasks, and nobody knows the time; `talk_s`: how long the conversation, if
    there is one, is still waited for; `awake_s`: since the boot; `wakes`: (seconds or None for never,
    what is tried again then, or None).
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


def _busy(app, services):
    """What must not be cut short by sleep, or None."""
    if app.agent.lane.busy():
        return "a turn"
    if len(app.inbox) or (app.telegram is not None and app.telegram.digest):
        return "a message"
    if app.agent.spawned:
        return "a background task"
    for service in services:
        if not service.booted:
            return "starting"
        if service.running_s is not None:
            return "a turn"
        for task in service.tasks or ():
            condition = task.condition
            if condition and condition.for_s and condition.since_s is not None:
                # Nobody would look at every check.
                return "a condition that holds"
    return None


def _services(app):
    """The heartbeat, and the jobs where there are any."""
    found = [app.part("heartbeat")]
    if files.exists(app.workspace + "/CRON.json") or app.made("cron"):
        found.append(app.part("cron"))
    return found


def _failed(service):
    """Has a service whose file has work for it no idea when? It is being started again, then."""
    return (
        service.next_wake() is None
        and (service.tasks is None or service.area == "heartbeat")
        and service.every_s != 0
        and files.exists(service.file)
    )


def look(app):
    """(seconds to sleep or None, why) as things stand now."""
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
            again = "%s starts again" % service.area
        wakes.append((service.next_wake(), again))
        clock_waits = clock_waits or bool(service.tasks and not app.clock.trusted)
    if app.sending:
        outbox_s = app.part("delivery").outbox.next_wake()
        if not outbox_s:
            busy = busy or "a message on its way"
        wakes.append((outbox_s, "a message is tried again"))
    if app.telegram is not None and app.telegram.status != "polling":
        # Whoever wrote while the board was asleep is heard first.
        wakes.append((None, "Telegram is asked for messages"))
    talk_s = 0
    if app.heard_s is not None:
        talk_s = app.heard_s + app.config.get("power.awake_s") - now_s
    return plan(busy, clock_waits, talk_s, now_s, wakes)


async def write_down(service):
    """Put on flash what of a service is in memory only."""
    occurrences = Occurrences(service)
    occurrences.log.flush(True)
    if service.dirty:
        occurrences.save()


async def after_sync(app, service, *args):
    """Run a coroutine function once the clock was set or cannot be."""
    while not app.synced and app.clock.mono_s() < _SYNC_S:
        await asyncio.sleep(_LOOK_S)
    await service(*args)


async def run(app):
    """Look every second whether the board may sleep, and see to it."""
    if not app.port.woke_by_time():
        # Switched on, reset or woken by its pin: somebody is there.
        app.heard_s = app.clock.mono_s()
    said = before = None
    while True:
        await asyncio.sleep(_LOOK_S)
        sleep_s, why = look(app)
        # Twice, so that whatever the last turn has set going is seen.
        if sleep_s is not None and before is not None:
            for service in _services(app):
                await overlay.run("BEAT", write_down, service)
            log("power", "sleeping for %d s (%s)" % (sleep_s, why))
            app.port.deep_sleep(sleep_s * 1000, app.config.get("power.wake_gpio") or None)
        before = sleep_s
        if sleep_s is None and why != said:
            said = why
            log("power", "awake: %s" % why)
