# tenner channels.commands: the commands that people type, the same in every channel.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.channels.command_list import COMMANDS
from tenner.store import suggest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Coroutine
    from typing import Any

    from tenner.agent.message_queue import Message
    from tenner.status_commands import Report


async def run(app: "Report", message: "Message") -> "str | Coroutine[Any, Any, str]":
    """
    Return the answer to a message that is a command, or a coroutine that returns it. A command
    that only shows something calls `app.show_<name>()`, which returns a str or an iterable of
    lines; one that acts calls `app.act_<name>(args, channel, chat)`, which returns the answer or
    its coroutine. An app without the method does not offer the command.
    """
    name, _, args = message.text.strip().partition(" ")
    name = name[1:].split("@")[0].lower()
    if name in ("help", "start", "?", ""):
        return "\n".join(["/%s - %s" % (known, about) for known, _, about in COMMANDS])
    for known, acts, _ in COMMANDS:
        if known == name:
            method = getattr(app, ("act_" if acts else "show_") + name, None)
            if method is None:
                return "/%s is not available here." % name
            if acts:
                return method(args.strip(), message.channel, message.chat)
            lines = method()
            return lines if isinstance(lines, str) else "\n".join(lines)
    guess = suggest.nearest(name, [known for known, _, _ in COMMANDS])
    hint = "Did you mean /%s?" % guess if guess else "/help lists all commands."
    return "There is no command /%s. %s" % (name[:32], hint)
