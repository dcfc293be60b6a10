# tenner agent.background: turns of heartbeat, cron and the spawn tool, and unasked messages.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner import overlay
from tenner.agent import accounting, cut_off
from tenner.agent.errors import LaneBusy, Preempted
from tenner.agent.turn import Turn
from tenner.log import log
from tenner.port.compat import const
from tenner.port.package import locate
from tenner.store.outbox_item import covers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.agent.agent import Agent
    from tenner.agent.turn import Result
    from tenner.agent.types import Background, Outgoing, Sending
    from tenner.llm.reply import Reply
    from tenner.tools.types import Turn as Caller

_ALARM = const("al:")


async def run_turn(
    app: "Background",
    text: str,
    kind: str,
    model: str | None = None,
    choose: bool | str = False,
    owes: bool = False,
    limit_s: int | None = None,
) -> "Result | Reply | tuple[str, int] | None":
    """
    Run a background turn and return its Result; raise LaneBusy or Preempted. `choose`: ask which
    of the due tasks need a turn, and return the model's reply, which may call the tool
    `heartbeat`; a text in its place is the system prompt of a request
    without tools, whose (text, tokens) it returns. `owes`, `limit_s`: as in Turn.
    """
    # Turns that follow each other closely would cut short every poll.
    await app.breathe()
    turn = Turn(app.agent, kind, text, model=model)
    turn.owes = owes
    turn.limit_s = limit_s
    if choose:
        turn.tools = (locate("schedule/heartbeat.json"),)
        turn.run_tools = False
        if choose is not True:
            turn.system, turn.tools = choose, ()
    try:
        result = await app.agent.lane.background(kind, turn)
    except Preempted as back:
        accounting.account(app.agent, kind, kind, back.args[0])
        raise
    accounting.account(app.agent, kind, kind, result)
    if turn.untrusted_input:
        app.agent.untrusted_reports = True
    if not choose:
        if turn.stop == "refusal":
            result.unusable = "it refused"
        elif turn.stop == "length" and result.text == cut_off.CUT_AGAIN:
            result.unusable = "its reply was cut off at the length limit, without a text"
        return result
    if result.error is not None:
        raise OSError(result.error)
    reply = result.reply
    if choose is not True:
        # As plain data, for the class of a reply is code of the turn.
        return reply.text, reply.tokens_in + reply.tokens_out
    return reply


async def send(service: "Sending", request: "Outgoing") -> None:
    """Deliver the text of a request to its address, and note the outcome in it."""
    try:
        if service.deliver is None:
            request.address = _resolved(service.app, *request.address[:3])
            if request.tells:
                request.address += (request.mark,)
        # Kept, for where memory is short this is called again.
        request.sent = await (service.deliver or deliver)(
            service.app, request.text, *request.address
        )
    except OSError as reason:
        request.error = "the answer could not be sent (%s)" % reason
        return
    if request.sent in ("yes", "queued") and str(request.mark)[:3] == _ALARM:
        for task in request.tasks:
            if task.chart_s and service.deliver is None:
                # Not `name()`, which is code of a beat.
                value = "%s.%s" % (task.condition.sensor, task.condition.value)
                channel, chat = request.address[1:]
                service.app.chart(value, task.chart_s, channel, chat, False, request.seen)


async def tell(app: "Background", text: str, channel: str, chat: int | str) -> None:
    """Send a text to a chat."""
    app.deliver(channel, chat, text)


async def deliver(
    app: "Background",
    text: str,
    alert: bool | str = False,
    channel: str | None = None,
    chat: int | str | None = None,
    id: str | None = None,
) -> str:
    """
    Send a text to a chat, the owner's by default. Return "yes", "queued", or "repeat" when an
    alert of that mark is queued already. `alert`: whether it is one, or its mark, which the
    heartbeat gets back after delivery. `id`: a message of this id is sent only once. OSError when
    the outbox cannot store it.
    """
    if isinstance(alert, str):
        waiting = app.get("delivery").outbox.items
        if any(covers(item.alert, alert) for item in waiting):
            return "repeat"
    alert, channel, chat = _resolved(app, alert, channel, chat)
    if chat is None:
        raise OSError("there is no owner to tell: set telegram.owner")
    # Before the run log, so that a power cut cannot lose a logged text.
    more = () if id is None else (id,)
    ids = app.deliver(channel, chat, text, alert, *more)
    if ids[-1:] == [None]:
        raise OSError("the outbox is full")
    return "queued" if ids else "yes"


async def remember(
    app: "Background", text: str, alert: bool | str, channel: str, chat: int | str
) -> None:
    """Add a delivered text to the session of its chat, so that the person can answer it."""
    accounting.remember(app.agent, channel, chat, text, app.agent.untrusted_reports)


def _resolved(app: "Background", alert, channel=None, chat=None):
    """Return (alert, channel, chat), without a chat that for alerts or the owner's."""
    if chat is None:
        channel, chat = _alerted(app) if alert else app.owner()
    return alert, channel, chat


def _alerted(app: "Background"):
    """Return the (channel, chat) for alerts: `heartbeat.channel` and `heartbeat.chat`, or the
    owner."""
    get = app.config.get
    channel, chat = app.owner()
    named = get("heartbeat.channel")
    if named and named != channel:
        chats = {
            "telegram": get("telegram.token") and get("telegram.owner"),
            "mqtt": app.mqtt and app.mqtt.owner,
            "console": app.console and "owner",
        }
        if chats.get(named):
            channel, chat = named, chats[named]
        else:
            log("heartbeat", "heartbeat.channel %s is not set up; telling %s" % (named, channel))
            return channel, chat
    return channel, get("heartbeat.chat") or chat


def start(agent: "Agent", text: str, turn: "Caller") -> str:
    """
    Start the task `text` in the background for `turn`; return the sentence for the model. A small
    board runs one, in the lane like any background turn, so that people keep priority; other
    boards run up to 4 beside the lane.
    """
    limit = 1 if agent.port.small else 4
    if turn.kind == "spawn":
        return "error: a background task cannot start another one"
    if len(agent.spawned) >= limit:
        return "error: %d background task(s) already running; wait for the report" % limit
    if agent.spent("spawn"):
        return "error: today's tokens for background tasks are spent"
    agent.spawn_count += 1
    name = "spawn:%d" % agent.spawn_count
    agent.spawned.append(name)
    ready = agent.lane.wait_free if agent.port.small else None
    overlay.later("TURN", ready, _run, agent, name, text, turn.channel, turn.chat)
    return "started as %s; its result will be sent when it is done" % name


async def _run(agent, name, text, channel, chat):
    """Run the task and report; return False when it must wait for a person."""
    report = "could not be done: "
    untrusted = True
    try:
        turn = Turn(agent, "spawn", text)
        if agent.port.small:
            result = await agent.lane.background(name, turn)
        else:
            result = await turn.run()
        accounting.account(agent, "spawn", name, result)
        untrusted = turn.untrusted_input
        report = result.text if result.error is None else report + result.error
    except LaneBusy:
        return False
    except Preempted as back:
        accounting.account(agent, "spawn", name, back.args[0])
        return False
    except Exception as error:
        # Report internal errors as well.
        report += "%s: %s" % (type(error).__name__, error)
    agent.spawned.remove(name)
    text = "Background task (%s): %s" % (text[:60], report)
    accounting.report(agent, channel, chat, text, untrusted)
