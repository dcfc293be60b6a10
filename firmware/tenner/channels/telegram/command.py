# tenner channels.telegram.command: /pair.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.channels.telegram import pair

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.types import Reporting


def command(app: "Reporting", name: str, args: str, channel: str, chat: int | str) -> str:
    """Return the answer to `/pair`; see channels.commands."""
    owner = app.config.get("telegram.owner")
    if channel != "console":
        return "Only on the serial console, since its user holds the board."
    if app.telegram is None:
        return "Telegram is off: there is no telegram.token."
    if owner and owner != pair.kept(app.state):
        return "telegram.owner is set in config.json: change it there."
    return pair.offer(app.telegram, app.state)
