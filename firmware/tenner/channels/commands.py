# tenner channels.commands: the commands people type, the same in every channel.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.store import suggest

# (name, does it take what stands behind it, one line of help)
COMMANDS = (
    ("heartbeat", True, "each task: its values, its state, what is next"),
    ("alarms", True, "what is the matter; ack ID, mute ID [2h], unmute ID, why ID"),
    (
        "trigger",
        True,
        "look at every sensor now, and run what has no condition; a number runs that line",
    ),
    ("why", True, "its last decisions and what is next"),
    ("cron", False, "the jobs and when they run"),
    ("lanes", False, "what runs and what waits"),
    ("budget", False, "tokens used and left today"),
    ("status", False, "uptime, heap, network, clock"),
    ("new", True, "a fresh conversation"),
    ("pair", True, "a code that makes a Telegram chat the owner"),
    ("stop", True, "cancel what is running"),
    ("help", False, "this list"),
)


async def run(app, message):
    """
    Return the answer to a message that is a command. What only shows something comes from
    `app.<name>_lines()`, a str or an iterable of lines; what acts is `app.<name>(args, channel, chat)`,
    which returns a str. Both may be left out by a board that cannot do it.
    """
    name, _, args = message.text.strip().partition(" ")
    name = name[1:].split("@")[0].lower()
    if name in ("help", "start", "?", ""):
        return "\n".join(["/%s - %s" % (known, about) for known, _, about in COMMANDS])
    for known, acts, _ in COMMANDS:
        if known == name:
            method = getattr(app, name if acts else name + "_lines", None)
            if method is None:
                return "/%s is not available here." % name
            if acts:
                return method(args.strip(), message.channel, message.chat)
            lines = method()
            return lines if isinstance(lines, str) else "\n".join(lines)
    guess = suggest.nearest(name, [known for known, _, _ in COMMANDS])
    hint = "Did you mean /%s?" % guess if guess else "/help lists what there is."
    return "There is no command /%s. %s" % (name[:32], hint)
