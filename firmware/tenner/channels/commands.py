# tenner channels.commands: the commands that people type, the same in every channel, and /help.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.store import suggest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Coroutine
    from typing import Any

    from tenner.agent.message_queue import Message
    from tenner.channels.status_commands import Report

# (name, does it act or take arguments, one line of help)
COMMANDS = (
    (
        "heartbeat",
        True,
        "each task: its values, its state, its next run; use, ask or off N: answers an offer",
    ),
    ("alarms", True, "the open alarms; ack ID, mute ID [2h], unmute ID, why ID"),
    (
        "trigger",
        True,
        "check every sensor now, and run tasks without a condition; a number runs that line",
    ),
    ("why", True, "its last decisions and its next run"),
    ("chart", True, "a picture of a value's readings, such as room.temperature 24h"),
    ("cron", False, "the jobs and when they run"),
    ("lanes", False, "running and waiting turns"),
    ("budget", False, "tokens used and left today"),
    ("status", True, "uptime, heap, network, clock"),
    ("update", True, "a newer version of the agent, which you may install"),
    ("new", True, "a fresh conversation"),
    ("pair", True, "a code that makes a Telegram chat the owner"),
    ("web", True, "a link that opens this agent's page in a browser; guest: for looking only"),
    ("stop", True, "cancel the running turn"),
    ("help", False, "this list"),
)


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
