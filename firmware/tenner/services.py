# tenner services: what runs beside each other while the agent is on, and what happens when one fails.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio
import gc

from tenner.log import log
from tenner.port.compat import const, ticks_diff, ticks_ms
from tenner.store import files

_FIRST_BACKOFF_S = const(1)
_LAST_BACKOFF_S = const(300)
_HEALTHY_MS = const(600000)  # a service that ran this long starts its back-off anew
_SYNC_RETRY_S = const(10)
_JOBS_POLL_S = const(60)
_LOOK_S = const(1)
_SYNC_EVERY_S = const(6 * 3600)


def failed(what, error):
    """
    Log a failure with its traceback, and return it in a clause. Where memory is short it is said shorter: nothing
    may raise here.
    """
    gc.collect()
    try:
        from tenner.trouble import tell

        return tell(what, error)
    except MemoryError:
        print("app: out of memory")
        return "MemoryError"


def unhandled(loop, context):
    """What leaves a task that nobody waits for is logged like any failure, without secrets."""
    failed("a task failed", context.get("exception"))


async def supervise(name, service, *args):
    """Run `service(*args)`, a coroutine function, for ever: whatever it raises, it is started again later."""
    backoff_s = _FIRST_BACKOFF_S
    while True:
        start = ticks_ms()
        try:
            await service(*args)
            return
        except Exception as error:
            failed(name + " failed", error)
        if ticks_diff(ticks_ms(), start) > _HEALTHY_MS:
            backoff_s = _FIRST_BACKOFF_S
        log("app", "%s starts again in %d s" % (name, backoff_s))
        await asyncio.sleep(backoff_s)
        backoff_s = min(backoff_s * 2, _LAST_BACKOFF_S)


async def network(app):
    """Keep the clock: nothing that needs the wall clock runs before it is trusted."""
    await app.connected.wait()
    host = app.config.get("time.ntp_host")
    while True:
        if app.port.network_up() and await app.clock.sync(host):
            app.synced = True
            log("clock", "%s (%s)" % (app.now_text(), host))
            app.part("heartbeat").poke()
            await app.rest()
            await asyncio.sleep(_SYNC_EVERY_S)
        else:
            await asyncio.sleep(_SYNC_RETRY_S)


async def when_connected(app, service):
    """Run a service that makes no sense before there is a network."""
    await app.connected.wait()
    await service()


async def jobs(app):
    """Run the jobs of CRON.json as soon as there is one."""
    while not files.exists(app.workspace + "/CRON.json"):
        await asyncio.sleep(_JOBS_POLL_S)
    await app.part("cron").service()


async def readings(app):
    """Keep a reading of every sensor now and then, when no turn needs the memory."""
    every_s = app.config.get("sensors.every")
    while every_s:
        while not app.clock.trusted:
            await asyncio.sleep(_LOOK_S)
        await app.agent.lane.wait_free()
        wait_s = await app.alone(_sample, app, every_s)
        await asyncio.sleep(wait_s)


def _sample(app, every_s):
    from tenner import sampler

    return sampler.sample(app, every_s)


async def people(app):
    """
    Answer people. Where there is room for it a command is done beside a turn, /stop always; a small board does one
    thing after the other.
    """
    while True:
        message = await app.inbox.get()
        app.heard_s = app.clock.mono_s()
        log(message.channel, "%s: %s" % (message.sender or message.chat, message.text))
        command = message.text.startswith("/")
        if command and (not app.port.small or message.text == "/stop"):
            await _answer(app, message, app.command)
        else:
            asyncio.create_task(_serve(app, message, app.command if command else app.agent.answer))


async def _serve(app, message, answer):
    who = "%s:%s" % (message.channel, message.chat)
    lane = app.agent.lane
    if answer == app.command:
        return await app.alone(_answer, app, message, answer)
    # Before it waits: a background turn makes way, and an approval waits no longer for whoever wrote this.
    lane.call(who)
    try:
        await app.alone(_answer, app, message, answer)
    finally:
        lane.hang_up()


async def _answer(app, message, answer):
    try:
        text = await answer(message)
    except Exception as error:
        # A person always gets an answer, also when the fault is ours or the heap was too small.
        await app.rest()
        what = failed("a turn failed", error)
        text = "Something in me failed (%s). The log has the details." % what
    # The turn's code makes room for what sends its answer.
    await app.rest()
    try:
        reply(app, message, text)
    except MemoryError:
        # Whatever was in the way is over by now, and what is in the outbox already is not put there twice.
        await app.rest()
        reply(app, message, text)


def reply(app, message, text):
    """Send the answer to a message, quoting it where the channel can."""
    app.heard_s = app.clock.mono_s()
    telegram = app.telegram if message.channel == "telegram" else None
    quoted = telegram.reply_to(message) if telegram else None
    # By the id that a word of a restart would have: after a power cut just here there is one answer only.
    id = quoted and "tg-%s-%d" % (message.chat, quoted)
    app.deliver(message.channel, message.chat, text, id=id, reply_to=quoted)
    if telegram:
        # Only now that the answer is in the outbox may Telegram forget the message.
        telegram.done(message)
