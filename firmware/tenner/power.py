# tenner power: deep sleep between beats, for a battery: when, until when, and what is written before.
# MIT license; Copyright (c) 2026 the tenner authors
"""
Loaded only with `power.mode: "sleep"`. Deep sleep ends in a boot that finds on flash all it needs: last
runs, gates, the outbox. The clock goes on meanwhile, but not exactly, so after a boot the schedule
begins when the time server was asked.
"""

import asyncio

from tenner.log import log
from tenner.port.compat import const
from tenner.schedule import tasks
from tenner.schedule.book import Book

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
    whether that is another try of something that failed).
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
                return None, "something is tried again"
            seconds = max(seconds or 0, _RETRY_S)
        if seconds is not None and (best is None or seconds < best):
            best = seconds
    if best is None:
        return _LONGEST_S, "nothing is ever due"
    if best < _SHORTEST_S:
        return None, "the next task is near"
    return min(best, _LONGEST_S), "the next task"


def _busy(app, heartbeat, cron):
    """What must not be cut short by sleep, or None."""
    if not heartbeat.booted or cron.known is None:
        return "starting"
    if app.agent.lane.busy() or heartbeat.running_s is not None or cron.running:
        return "a turn"
    if len(app.inbox) or (app.telegram is not None and app.telegram.digest):
        return "a message"
    if app.made("spawner") and app.part("spawner").running:
        return "a background task"
    for task in heartbeat.tasks or ():
        gate = task.gate
        if gate and gate.for_s and gate.since_s is not None and not gate.fired:
            # The count of `for` is in memory only.
            return "a gate whose condition holds"
    return None


def look(app):
    """(seconds to sleep or None, why) as things stand now."""
    heartbeat, cron = app.part("heartbeat"), app.part("cron")
    now_s = app.clock.mono_s()
    busy = _busy(app, heartbeat, cron)
    held = any(task.pending for task in heartbeat.tasks or ())
    wakes = [
        (heartbeat.next_wake(), held),
        (cron.next_wake(), any(job.waits for job in cron.jobs)),
    ]
    if app.sending:
        outbox_s = app.part("delivery").outbox.next_wake()
        if not outbox_s:
            busy = busy or "a message on its way"
        wakes.append((outbox_s, True))
    if app.telegram is not None and app.telegram.status != "polling":
        # Whoever wrote while the board was asleep is heard first.
        wakes.append((None, True))
    talk_s = 0
    if app.heard_s is not None:
        talk_s = app.heard_s + app.config.get("power.awake_s") - now_s
    clock_waits = not app.clock.trusted and bool(heartbeat.tasks or cron.jobs)
    return plan(busy, clock_waits, talk_s, now_s, wakes)


def write_down(heartbeat, sleep_s):
    """Put on flash what of the heartbeat is in memory only and would be missed after the sleep."""
    book = Book(heartbeat)
    now, mono_s, trusted = book.time()
    for task in heartbeat.tasks or ():
        waiting = task.pending
        if waiting and (
            tasks.following(task, waiting[0], now, trusted, book.zone) <= now + sleep_s
        ):
            # The next one is due before the board wakes: this one ends here.
            book.close(task, waiting, now, trusted)
    book.runs.flush(mono_s)


def after_sync(app, service):
    """The coroutine function `service`, started once the clock was set or cannot be."""

    async def run():
        while not app.synced and app.clock.mono_s() < _SYNC_S:
            await asyncio.sleep(_LOOK_S)
        await service()

    return run


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
            write_down(app.part("heartbeat"), sleep_s)
            log("power", "sleeping for %d s (%s)" % (sleep_s, why))
            app.port.deep_sleep(sleep_s * 1000, app.config.get("power.wake_gpio") or None)
        before = sleep_s
        if sleep_s is None and why != said:
            said = why
            log("power", "awake: %s" % why)
