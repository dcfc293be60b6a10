# tenner channels.command_list: the names of the commands, and the text of /help.
# MIT license; Copyright (c) 2026 the tenner authors

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
