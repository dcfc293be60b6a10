# tenner scheduled: what heartbeat and cron ask of the agent; loaded while they ask.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio

from tenner.agent.lane import PutBack


async def run_turn(app, pieces, kind="heartbeat", model=None):
    """Run a turn that nobody waits for; LaneBusy and PutBack leave it."""
    app.rest()
    return await _background(app, kind, _turn(app, pieces, kind, model))


async def ask_model(app, pieces, model=None):
    """Ask which of the due tasks need a turn; the reply calls the tool `heartbeat`, or does not."""
    from tenner.port.package import package_path

    app.rest()
    turn = _turn(app, pieces, "heartbeat", model)
    turn.tools = (package_path("schedule/heartbeat.json"),)
    turn.single = True
    result = await _background(app, "heartbeat", turn)
    if result.error is not None:
        raise OSError(result.error)
    return result.reply


def _turn(app, pieces, kind, model):
    from tenner.agent.turn import Turn

    return Turn(app.agent, kind, "".join(pieces()), model=model)


async def _background(app, kind, turn):
    try:
        result = await app.agent.lane.background(kind, turn)
    except PutBack as back:
        app.agent.account(kind, kind, back.args[0])
        raise
    app.agent.account(kind, kind, result)
    return result


async def deliver_alert(app, text):
    """Queue an alert for the owner; False: the heartbeat is told later whether it arrived."""
    channel, chat = _owner(app)
    app.agent.remember(channel, chat, text)
    asyncio.create_task(_follow(app, channel, chat, text))
    return False


def follow_alerts(app):
    """After a boot: what waits in the outbox is on its way, and must not be queued once more."""
    outbox = app.part("delivery").outbox
    for item in list(outbox.items):
        text = outbox.text_of(item) if item.alert else None
        if text:
            app.part("heartbeat").dedup().queued(text)
            asyncio.create_task(_follow(app, item.channel, item.chat, text, item.id))


async def _follow(app, channel, chat, text, id=None):
    delivered = app.part("delivery").deliver(channel, chat, text, alert=True, id=id)
    app.start_sending()
    arrived = await delivered
    heartbeat = app.part("heartbeat")
    heartbeat.confirm(text) if arrived else heartbeat.given_up(text)


async def deliver_job(app, text, channel, chat):
    """Queue what came of a job for whoever asked for it, the owner by default."""
    if chat is None:
        channel, chat = _owner(app)
    app.agent.remember(channel, chat, text)
    app.deliver(channel, chat, text)
    return False


def _owner(app):
    channel, chat = app.owner()
    if chat is None:
        raise OSError("there is no owner to tell: set telegram.owner")
    return channel, chat
