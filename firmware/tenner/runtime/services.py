# tenner runtime.services: the concurrent services of the agent, and their restart after a failure.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio

from tenner import overlay
from tenner.agent import answer, health
from tenner.channels import incoming
from tenner.log import log, log_exception
from tenner.port.compat import const, ticks_diff, ticks_ms
from tenner.runtime import memory_guard, sampler
from tenner.store import files, quarantine

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from typing import Any

    from tenner.types import Serving


_FIRST_BACKOFF_S = const(1)
_LAST_BACKOFF_S = const(300)
_HEALTHY_MS = const(600000)  # a service that ran this long resets its back-off
_SYNC_RETRY_S = const(10)
_JOBS_POLL_S = const(10)
_CHECK_S = const(1)
_END_S = 0.1  # in which the end of the agent reaches all tasks
_SYNC_EVERY_S = const(6 * 3600)
_LOOK_S = const(60)
_JUMP_S = const(30)
_MOST_GAP_S = const(3600)
_MEMORY_S = const(5)
_TOLD = const(3)  # failures in a row
_WATCH_S = const(60)


#: The services that hang, of which the owner knows.
_told: "list[str]" = []


def unhandled(loop: object, context: dict) -> None:
    """Log an exception of a task that nobody awaits like any failure, without secrets."""
    # CPython also reports things without one, such as a task that is destroyed while it waits.
    error = context.get("exception")
    _logged("a task", error or Exception(context["message"]), error is not None)


def _logged(what, error, is_fault=True):
    """Log a failure and return it as a clause. Never raise, even when the heap has no room for
    the code of the log: an exception in `unhandled` ends the agent."""
    try:
        clause = log_exception(what + " failed", error)
        if is_fault:
            _blame(what, error)
        return clause
    except MemoryError:
        print("app:", what, "failed: out of memory")
        return "MemoryError"


_app: "Serving | None" = None


def look_after(app: "Serving | None") -> None:
    """Look at the files of this application after each failure of a service; None: it ends."""
    global _app
    _app = app


async def supervise(name: str, service: "Callable[..., Coroutine]", *args: "Any") -> None:
    """Run `service(*args)`, a coroutine function, until it returns; restart it after any
    exception, and when something has cancelled it but the end of the agent."""
    backoff_s = 0
    health.names.append(name)
    while True:
        start = ticks_ms()
        try:
            await service(*args)
            health.names.remove(name)
            return
        except (Exception, asyncio.CancelledError) as error:
            if isinstance(error, asyncio.CancelledError):
                # At its end CPython cancels all tasks at once, and `app.run` says so.
                await asyncio.sleep(_END_S)
                if not _app:
                    raise error
            backoff_s = _noted(name, error, start, backoff_s)
            error = None
        if _app:
            await _looked_at(name)
        await asyncio.sleep(backoff_s)


# These two stay in memory, but not in `supervise`, whose frame every service has all day. An
# exception that leaves them ends the service for good.


def _noted(name, error, start, backoff_s):
    """Do `_failed`, if the heap has room for its code."""
    try:
        return _failed(name, error, start, backoff_s)
    except MemoryError:
        print("app:", name, "failed: out of memory")
        health.note(name, "MemoryError")
        return backoff_s or _FIRST_BACKOFF_S


async def _looked_at(name):
    """Do `_repair`, if the heap has room for its code."""
    try:
        await overlay.run("RESTART", _repair, _app, name)
    except (MemoryError, overlay.OutOfMemory):
        print("app:", name, "failed: no memory to look at its files")


def _failed(name, error, start, backoff_s):
    """Log the failure of a service that began at `start`; return the seconds to wait now."""
    what = log_exception(name + " failed", error)
    _blame(name, error)
    health.note(name, what)
    if not backoff_s or ticks_diff(ticks_ms(), start) > _HEALTHY_MS:
        backoff_s = _FIRST_BACKOFF_S
    else:
        backoff_s = min(backoff_s * 2, _LAST_BACKOFF_S)
    log("app", "%s restarts in %d s" % (name, backoff_s))
    return backoff_s


async def _repair(app: "Serving", name):
    """Quarantine damaged files after a service has failed, and tell the owner of one that fails
    again and again."""
    try:
        told = quarantine.in_state(app.state) + quarantine.in_workspace(app.workspace)
        if health.known[name][0] == _TOLD:
            told.append(
                "My service %s fails again and again (%s). The rest of me works; /status shows "
                "whether it goes on." % (name, health.known[name][2])
            )
        for text in told:
            app.agent.notify(text)
    except Exception as error:
        # The service starts again in any case.
        log_exception("a report about %s failed" % name, error)


def _blame(name, error):
    """Note a fault of the code: no network, service or full heap is one."""
    outside = (OSError, EOFError, MemoryError, overlay.OutOfMemory)
    if name not in health.faulty and not isinstance(error, outside):
        health.faulty.append(name)


async def watch(app: "Serving") -> None:
    """Look for services that hang, where the chip's memory is not shared with Wi-Fi."""
    health.watch()
    while True:
        await asyncio.sleep(_WATCH_S)
        await overlay.run("RESTART", look_for_hangs, app)


async def look_for_hangs(app: "Serving") -> None:
    """Tell the owner of each service that hangs, once until it goes on."""
    hanging = health.hangs()
    names = [one[0] for one in hanging]
    _told[:] = [name for name in _told if name in names]
    for name, age_s in hanging:
        if name not in _told:
            _told.append(name)
            app.agent.notify(
                "My service %s hangs: its last round was %d min ago. A restart helps; please "
                "report it with the log." % (name, age_s // 60)
            )


async def network(app: "Serving") -> None:
    """Set the clock by NTP, again and again, as soon as there is a network."""
    await app.connected.wait()
    host = app.config.get("time.ntp_host")
    # Between two questions because of a jump, or without an answer. It doubles: neither a clock
    # that others move, too, nor a broken server has the board ask all the time.
    gap_s = _SYNC_RETRY_S
    while True:
        wait_s = _SYNC_RETRY_S
        if app.port.network_up():
            if await overlay.run("CLOCK", _set_clock, app, host):
                app.synced = True
                app.get("heartbeat").poke()
                has_jumped = await _until_due(app.clock, gap_s)
                gap_s = min(gap_s * 2, _MOST_GAP_S) if has_jumped else _SYNC_RETRY_S
                continue
            if app.synced:
                wait_s, gap_s = gap_s, min(gap_s * 2, _MOST_GAP_S)
        health.finished("network", wait_s)
        await asyncio.sleep(wait_s)


async def _until_due(clock, gap_s):
    """Wait until the time is asked for again; return whether that is because the clock has
    jumped."""
    offset_s = clock.now() - clock.mono_s()
    waited_s = 0
    while waited_s < _SYNC_EVERY_S:
        health.finished("network", _LOOK_S)
        await asyncio.sleep(_LOOK_S)
        waited_s += _LOOK_S
        if waited_s >= gap_s and abs(clock.now() - clock.mono_s() - offset_s) > _JUMP_S:
            return True
    return False


async def _set_clock(app: "Serving", host):
    is_set = await app.clock.sync(host)
    if is_set:
        log("clock", "%s (%s)" % (app.now_text(), host))
    return is_set


async def when_connected(app: "Serving", service: "Callable[[], Coroutine]") -> None:
    """Run a service as soon as there is a network."""
    await app.connected.wait()
    await service()


async def memory(app: "Serving") -> None:
    """Restart the board between turns when connections have permanently lost their memory."""
    if files.exists(memory_guard.note(app)):
        await overlay.run("RESTART", memory_guard.report, app)
    looks = 0
    while True:
        # A pause between two turns is often short.
        await asyncio.sleep(1 if app.agent.lane.busy() else _MEMORY_S)
        if app.agent.lane.busy():
            # Without memory a turn's connection stalls until its timeout of minutes.
            stalled = memory_guard.is_stalled(app)
            looks = memory_guard.end_stalled(app, looks) if stalled else 0
            continue
        looks = 0
        if memory_guard.needs_look(app):
            await overlay.run("RESTART", memory_guard.restart_if_short, app)


async def jobs(app: "Serving") -> None:
    """Run the jobs of CRON.json as soon as there is one."""
    while not files.exists(app.workspace + "/CRON.json"):
        await asyncio.sleep(_JOBS_POLL_S)
    await app.get("cron").service()


async def readings(app: "Serving") -> None:
    """Store a reading of every sensor at each interval, while no turn runs."""
    every_s = app.config.get("sensors.every")
    while every_s:
        while not app.clock.trusted:
            await asyncio.sleep(_CHECK_S)
        await app.agent.lane.wait_free()
        wait_s = await overlay.run("SAMPLE", sampler.sample, app, every_s)
        health.finished("readings", wait_s)
        await asyncio.sleep(wait_s)


async def people(app: "Serving") -> None:
    """
    Answer people. With enough memory a command runs beside a turn, and /stop always does; a small
    board serves one message after the other.
    """
    while True:
        message = await app.inbox.get()
        app.heard_s = app.clock.mono_s()
        if message.channel != "console" or message.text[:1] != "/":
            # Programs ask `/status` often, and the serial line echoes it anyway.
            log(message.channel, "%s: %s" % (message.sender or message.chat, message.text))
        if message.text == "/stop":
            # Now, not after the end of the turn that it stops.
            asyncio.create_task(_answer(app, message, app.agent.stop()))
        else:
            asyncio.create_task(_serve(app, message))


async def _serve(app: "Serving", message):
    lane = app.agent.lane
    command = message.text.startswith("/")
    try:
        if command:
            await overlay.run("COMMAND", app.command, message)
        else:
            # Before waiting: preempt a background turn, and deny a pending approval.
            lane.request("%s:%s" % (message.channel, message.chat))
            try:
                # The lane before the memory, which a turn needs to go on after an approval.
                async with lane.queue:
                    await lane.wait_turn()
                    try:
                        # Not in one phase: memory has room for a download or for a turn.
                        if not message.file or await overlay.run(
                            "FETCH", incoming.fetch, app, message
                        ):
                            if message.file:
                                # A voice note is quoted before it is answered.
                                await app.drain()
                            await overlay.run("TURN", answer.answer, app.agent, message)
                    finally:
                        if message.file:
                            await overlay.run("FETCH", incoming.clear, app)
            finally:
                lane.release()
    except Exception as error:
        # A person always gets an answer, also after an internal error or a full heap.
        what = _logged("a turn", error)
        text = "Something in me failed (%s). The log has the details." % what
        await _answer(app, message, text, True)


async def _answer(app: "Serving", message, text, failed=False):
    await overlay.run("KEEP", _reply, app, message, text, failed)


async def _reply(app: "Serving", message, text, failed):
    app.reply(message, text, failed)
