# tenner scheduled: what heartbeat and cron ask of the agent; loaded while they ask.
# MIT license; Copyright (c) 2026 the tenner authors

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
        _account(app, kind, back.args[0])
        raise
    _account(app, kind, result)
    return result


def _account(app, kind, result):
    from tenner.agent.upkeep import account

    account(app.agent, kind, kind, result)


async def deliver_alert(app, text, mark):
    """Queue an alert for the owner; the heartbeat gets `mark` back when it has arrived."""
    channel, chat = _owner(app)
    delivery = app.part("delivery")
    if mark and any(item.alert == mark for item in delivery.outbox.items):
        return "repeat"
    # First of all, so that no power cut finds it in the run log only.
    sent = _queue(app, channel, chat, text, mark or True)
    _remember(app, channel, chat, text)
    return sent


def _remember(app, channel, chat, text):
    from tenner.agent.upkeep import remember

    remember(app.agent, channel, chat, text)


def _queue(app, channel, chat, text, alert):
    ids = app.deliver(channel, chat, text, alert)
    if ids[-1:] == [None]:
        raise OSError("the outbox is full")
    return "queued" if ids else "yes"


async def deliver_job(app, text, channel, chat):
    """Queue what came of a job for whoever asked for it, the owner by default."""
    if chat is None:
        channel, chat = _owner(app)
    _remember(app, channel, chat, text)
    return _queue(app, channel, chat, text, False)


def _owner(app):
    channel, chat = app.owner()
    if chat is None:
        raise OSError("there is no owner to tell: set telegram.owner")
    return channel, chat
