"""The memory of a board in the state of its own agent, after `tenner setup` has started it."""

from __future__ import annotations

import re
from collections.abc import Callable

from tenner_host import budget

#: Looks at /status, and the pause between two.
LOOKS = 12
PAUSE_S = 5.0
_LEAST = re.compile(r"for Wi-Fi and TLS: .*, (\d+) KB at the least")
_SHORT = "memory: "
#: Of the channels, once they have a connection.
_CONNECTED = ("telegram: polling", "mqtt: connected")


def watch(ask: Callable[[], list[str]], pause: Callable[[], None]) -> str:
    """One sentence about the agent's memory for connections, "" where there is nothing to say.

    `ask()` returns the lines of /status. The agent needs a while until its first connection, whose
    handshake takes the most.
    """
    least = None
    for _ in range(LOOKS):
        pause()
        lines = ask()
        for line in lines:
            if line.startswith(_SHORT):
                return line.removeprefix(_SHORT)
            found = _LEAST.match(line)
            if found:
                least = int(found[1])
        if least is None or any(line.startswith(_CONNECTED) for line in lines):
            break
    if least is None or least >= budget.GOAL_KB:
        return ""
    return (
        f"only {least} KB were left for Wi-Fi and TLS at the worst moment, in place of "
        f"{budget.GOAL_KB}: connections may fail; {budget.roomy()} has more room"
    )
