# tenner agent.health: remembers the services that failed lately or hang, for /status.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.port.compat import const, ticks_diff, ticks_ms

_LATELY_MS = const(600000)
#: A service that is later than this hangs: a turn, or another's connection, may hold it so long.
_PATIENCE_S = const(900)

#: The services that have failed by a fault of their code, of which a new version has none.
faulty: "list[str]" = []
#: The services that run.
names: "list[str]" = []
#: [failures in a row, time of the last one in ms, its error] of each service that has failed.
known: "dict[str, list]" = {}
#: [time in ms, seconds from then to the next] of the last round of each service; None where
#: memory is too dear for it.
rounds: "dict[str, list] | None" = None


def finished(name: str, next_s: int | None) -> None:
    """Note that a service has finished a round: its next one ends in `next_s` seconds, or at any
    time (None)."""
    if rounds is not None:
        rounds[name] = [ticks_ms(), next_s]


def watch() -> None:
    """Remember rounds from now on."""
    global rounds
    rounds = {}


def hangs() -> "list[tuple[str, int]]":
    """Return the (name, seconds since its last round) of each service that ought to have had
    another since."""
    found = []
    for name in sorted(rounds or ()):
        at_ms, next_s = rounds[name]
        age_s = ticks_diff(ticks_ms(), at_ms) // 1000
        if next_s is not None and age_s > next_s + _PATIENCE_S:
            found.append((name, age_s))
    return found


def note(name: str, error: str) -> None:
    """Count a failure of a service; `error` is a clause without secrets."""
    now_ms = ticks_ms()
    last = known.get(name)
    goes_on = last and ticks_diff(now_ms, last[1]) <= _LATELY_MS
    known[name] = [last[0] + 1 if last and goes_on else 1, now_ms, error]


def services() -> "list[dict]":
    """Return the state of each service that runs, for programs."""
    hanging = [name for name, _ in hangs()]
    found = []
    for name in sorted(names):
        count, at_ms, error = known.get(name) or (0, None, None)
        age_ms = None if at_ms is None else ticks_diff(ticks_ms(), at_ms)
        state = "running" if age_ms is None or not 0 <= age_ms <= _LATELY_MS else "failing"
        found.append(
            {
                "name": name,
                "state": "hanging" if name in hanging else state,
                "failures": count,
                "last_error": error,
                "last_error_age_s": None if age_ms is None else max(age_ms, 0) // 1000,
            }
        )
    return found


def sentences() -> "list[str]":
    """Return one for each service that hangs, or has failed in the last ten minutes."""
    found = [
        "%s hangs: its last round was %d min ago" % (name, age_s // 60) for name, age_s in hangs()
    ]
    for name in sorted(known):
        count, at_ms, error = known[name]
        age_ms = ticks_diff(ticks_ms(), at_ms)
        if 0 <= age_ms <= _LATELY_MS:
            times = "once" if count == 1 else "%d times in a row" % count
            found.append("%s, %s, last %d s ago: %s" % (name, times, age_ms // 1000, error))
    return found
