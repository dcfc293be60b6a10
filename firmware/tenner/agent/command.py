# tenner agent.command: /stop, /new, /budget and /lanes.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.agent import history

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.types import Reporting


def command(app: "Reporting", name: str, args: str, channel: str, chat: int | str) -> str:
    """Return the answer to one of these; see channels.commands."""
    if name == "stop":
        return app.agent.stop()
    if name == "new":
        history.clear(app.agent.session(channel, chat))
        return "A fresh conversation. The old one is kept until the next /new."
    return "\n".join(app.get("budget").lines() if name == "budget" else _lanes(app))


def _lanes(app: "Reporting"):
    lane = app.agent.lane
    yield "running: %s" % (lane.holder or "nothing")
    yield "waiting: %d message(s)" % len(app.inbox)
    yield "preempted by people: %d" % lane.preemptions
    if app.agent.spawned:
        yield "in the background: " + ", ".join(app.agent.spawned)
