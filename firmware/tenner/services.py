# tenner services: what runs beside each other while the agent is on, and what happens when one fails.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio
import gc

from tenner.log import log, redact
from tenner.port.compat import const, ticks_diff, ticks_ms
from tenner.store import files

_FIRST_BACKOFF_S = const(1)
_LAST_BACKOFF_S = const(300)
_HEALTHY_MS = const(600000)  # a service that ran this long starts its back-off anew
_SYNC_RETRY_S = const(10)
_LINK_POLL_S = const(5)
_JOBS_POLL_S = const(60)
_SYNC_EVERY_S = const(6 * 3600)


def trace(error):
    """Log the traceback of `error` without secrets."""
    import io

    from tenner.port.compat import print_exception

    out = io.StringIO()
    print_exception(error, out)
    for line in redact(out.getvalue()).split("\n"):
        if line.strip():
            log("app", line)


def failed(what, error):
    """Log a failure with its traceback. Where memory is short it is said shorter: nothing may raise here."""
    gc.collect()
    try:
        log("app", "%s: %s: %s" % (what, type(error).__name__, error))
        trace(error)
    except MemoryError:
        print("app: out of memory")


async def supervise(name, service, sleep=asyncio.sleep):
    """Run the coroutine function `service` for ever: whatever it raises, it is started again later."""
    backoff_s = _FIRST_BACKOFF_S
    while True:
        start = ticks_ms()
        try:
            await service()
            return
        except asyncio.CancelledError:
            raise
        except Exception as error:
            failed(name + " failed", error)
        if ticks_diff(ticks_ms(), start) > _HEALTHY_MS:
            backoff_s = _FIRST_BACKOFF_S
        log("app", "%s starts again in %d s" % (name, backoff_s))
        await sleep(backoff_s)
        backoff_s = min(backoff_s * 2, _LAST_BACKOFF_S)


async def network(app, wifi):
    """Keep the link and the clock: nothing that needs the wall clock runs before it is trusted."""
    if wifi is not None:
        await wifi.up.wait()
    app.connected.set()
    host = app.config.get("time.ntp_host")
    while True:
        if app.port.network_up() and await app.clock.sync(host):
            app.synced = True
            log("clock", "%s (%s)" % (app.now_text(), host))
            app.part("heartbeat").poke()
            app.rest()
            await asyncio.sleep(_SYNC_EVERY_S)
        else:
            await asyncio.sleep(_SYNC_RETRY_S)


async def relink(app, up, poll_s=_LINK_POLL_S):
    """Whenever the link comes back, try at once what waits in the outbox."""
    while True:
        while up.is_set():
            await asyncio.sleep(poll_s)
        await up.wait()
        app.start_sending()
        app.part("delivery").wake()


async def jobs(app):
    """Run the jobs of CRON.json as soon as there is one."""
    while not files.exists(app.workspace + "/CRON.json"):
        await asyncio.sleep(_JOBS_POLL_S)
    await app.part("cron").service()


async def people(app):
    """Answer people. A command is done at once, so that /stop reaches a running turn."""
    while True:
        message = await app.inbox.get()
        app.heard_s = app.clock.mono_s()
        log(message.channel, "%s: %s" % (message.sender or message.chat, message.text))
        if message.text.startswith("/"):
            await _answer(app, message, app.command)
        else:
            asyncio.create_task(_answer(app, message, app.agent.answer))


async def _answer(app, message, answer):
    try:
        text = await answer(message)
    except asyncio.CancelledError:
        raise
    except Exception as error:
        # A person always gets an answer, also when the fault is ours or the heap was too small.
        app.rest()
        failed("a turn failed", error)
        text = "Something in me failed (%s: %s). The log has the details." % (
            type(error).__name__,
            redact(str(error)),
        )
    # The turn's code makes room for what sends its answer.
    app.rest()
    reply(app, message, text)


def reply(app, message, text):
    """Send the answer to a message, quoting it where the channel can."""
    app.heard_s = app.clock.mono_s()
    telegram = app.telegram if message.channel == "telegram" else None
    quoted = telegram.reply_to(message) if telegram else None
    app.deliver(message.channel, message.chat, text, reply_to=quoted)
    if telegram:
        # Only now that the answer is in the outbox may Telegram forget the message.
        telegram.done(message)


def unhandled(loop, context):
    """What leaves a task that nobody waits for is logged like any failure, without secrets."""
    failed("a task failed", context.get("exception"))
