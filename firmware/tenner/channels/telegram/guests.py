# tenner channels.telegram.guests: /guest, which lets people in.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner import overlay
from tenner.channels import question
from tenner.log import log
from tenner.port.compat import const
from tenner.store import settings_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Coroutine
    from typing import Any

    from tenner.types import Reporting

_KEY = const("telegram.allow")
_LONGEST = const(16)  # digits of an id; Telegram promises 52 bits


def command(
    app: "Reporting", name: str, args: str, channel: str, chat: int | str
) -> "str | Coroutine[Any, Any, str]":
    """Return the answer to `/guest [let|out ID]`, or a coroutine that returns it; see
    channels.commands."""
    # Anybody may write in a group, also where it is the owner's chat.
    if not question.is_owner(app, channel, chat) or str(chat)[:1] == "-":
        return "Only the owner lets people in, in a chat of their own."
    allowed = list(app.config.get(_KEY) or ())
    if not args:
        return "Let in: %s. /guest let ID, or /guest out ID, with a user id." % (
            ", ".join(allowed) or "nobody"
        )
    action, _, who = args.partition(" ")
    who = who.strip()
    if action not in ("let", "out") or not who.isdigit() or len(who) > _LONGEST:
        return "expected let or out, and a user id, as let 4242"
    if (who in allowed) == (action == "let"):
        return "%s is %s already." % (who, "let in" if action == "let" else "out")
    if action == "let":
        allowed.append(who)
    else:
        allowed.remove(who)
    return _change(app, allowed, who, action)


async def _change(app: "Reporting", allowed, who, action):
    try:
        await overlay.step("COMMAND", settings_file.change, app.port, {_KEY: allowed})
    except ValueError as error:
        return "Nothing changed: %s." % str(error).rstrip(".")
    app.config.put(_KEY, allowed)
    log("telegram", "user %s is %s" % (who, "let in" if action == "let" else "out"))
    if action == "let":
        return "User %s is let in and can talk to me. /guest out %s undoes it." % (who, who)
    return "User %s is out." % who
