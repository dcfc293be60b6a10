# tenner approval: asks the owner whether a tool may act.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.log import log
from tenner.store.hours import Hours

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.agent.parts import Channels, Parts
    from tenner.tools.types import Turn


async def ask(app: "Channels", text: str, turn: "Turn") -> bool:
    """Ask the owner, in the channel of `turn` where possible; return False for no."""
    if turn.kind != "person" and is_quiet(app):
        log("agent", "quiet hours: not asking")
        return False
    asked = app.telegram or app.mqtt or app.console
    for channel in (app.console, app.mqtt, app.page):
        if channel is not None and turn.channel == channel.name:
            asked = channel
    if asked is not None:
        return await asked.ask(text)
    log("agent", "no channel to the owner")
    return False


def is_quiet(app: "Parts") -> bool:
    """Return whether it is outside the heartbeat's hours; an unknown time counts as outside."""
    window = app.config.get("heartbeat.active_hours")
    if not window:
        return False
    local = app.get("zone").local(app.clock.now())
    return not (app.clock.trusted and Hours(window).active(local[3] * 60 + local[4]))
