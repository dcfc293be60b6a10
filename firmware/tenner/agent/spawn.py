# tenner agent.spawn: background turns with a separate short context, reported once.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner import overlay
from tenner.agent import accounting
from tenner.agent.errors import LaneBusy, Preempted
from tenner.agent.turn import Turn

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.agent.agent import Agent
    from tenner.tools.types import Turn as Caller


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
