# tenner chart.episodes: when alarms were active, for the bands of a chart.
# MIT license; Copyright (c) 2026 the tenner authors
"""state/episodes.jsonl has a line ["room.temperature", start, end] in UTC seconds for each episode
that is over."""

from tenner.log import log
from tenner.port.compat import const
from tenner.store import files, json_strict
from tenner.store.appendlog import AppendLog

_FILE = "/episodes.jsonl"
_MAX_BYTES = const(4096)  # 80 episodes; half of it is kept at least


def note(folder: str, name: str, start: int, end: int) -> None:
    """Keep an episode of the value `name`."""
    try:
        AppendLog(folder + _FILE, _MAX_BYTES).append([[name, start, end]])
    except OSError as error:
        # The alarm itself must not fail for it.
        log("heartbeat", "an episode was not kept for charts: %s" % error)


def ended(folder: str, name: str) -> list[tuple[int, int]]:
    """Return (start, end) of the kept episodes of a value."""
    found = []
    if files.exists(folder + _FILE):
        with open(folder + _FILE, "rb") as file:
            for line in files.lines(file):
                try:
                    about, start, end = json_strict.loads(line.decode())
                except (ValueError, TypeError):
                    continue  # torn by a power cut
                if about == name:
                    found.append((start, end))
    return found
