# tenner approval: asks the owner whether a tool may act.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.log import log
from tenner.store.hours import Hours


async def ask(app, text, turn):
    """Ask whoever drives `turn`, if that is the owner, else the owner; False is no."""
    if turn.kind != "person" and _is_quiet(app):
        log("agent", "quiet hours: nobody is asked")
        return False
    asked = app.telegram or app.mqtt or app.console
    for channel in (app.console, app.mqtt):
        if channel is not None and turn.channel == channel.name:
            asked = channel
    if asked is not None:
        return await asked.ask(text)
    log("agent", "there is nobody to ask")
    return False


def _is_quiet(app):
    """Is it outside the heartbeat's hours, when nobody is to be woken? Not knowing the time counts as that."""
    window = app.config.get("heartbeat.active_hours")
    if not window:
        return False
    local = app.part("zone").local(app.clock.now())
    return not (app.clock.trusted and Hours(window).active(local[3] * 60 + local[4]))
