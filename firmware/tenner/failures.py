# tenner failures: remembers the services that have failed lately, for /status.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.port.compat import const, ticks_diff, ticks_ms

_LATELY_MS = const(600000)

#: [failures in a row, time of the last one in ms, its error] of each service that has failed.
known: "dict[str, list]" = {}


def note(name: str, error: str) -> None:
    """Count a failure of a service; `error` is a clause without secrets."""
    now_ms = ticks_ms()
    last = known.get(name)
    goes_on = last and ticks_diff(now_ms, last[1]) <= _LATELY_MS
    known[name] = [last[0] + 1 if last and goes_on else 1, now_ms, error]


def sentences() -> "list[str]":
    """Return one for each service that has failed in the last ten minutes."""
    found = []
    for name in sorted(known):
        count, at_ms, error = known[name]
        age_ms = ticks_diff(ticks_ms(), at_ms)
        if 0 <= age_ms <= _LATELY_MS:
            times = "once" if count == 1 else "%d times in a row" % count
            found.append("%s, %s, last %d s ago: %s" % (name, times, age_ms // 1000, error))
    return found
