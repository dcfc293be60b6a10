# tenner chart.names: finds the value of a chart among those that have readings.
# MIT license; Copyright (c) 2026 the tenner authors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from tenner.net.clock import Clock
    from tenner.store.config import Config


def find(names: "Sequence[str]", value: str) -> str | None:
    """Return the full name of a value: a sensor with only one needs no more than its own."""
    if value in names:
        return value
    own = [name for name in names if name.rpartition(".")[0] == value]
    return own[0] if len(own) == 1 else None


def why_not(config: "Config", clock: "Clock", names: "Sequence[str]", value: str) -> str | None:
    """Return the reason that there is no chart of a value, or None when there may be one."""
    if find(names, value) and clock.trusted:
        return None
    if not config.get("sensors.every"):
        return "No readings are kept: sensors.every is off."
    if not clock.trusted:
        return "There is no chart before the clock is set."
    if not names:
        return "No reading has been kept yet: the first comes within sensors.every."
    return "There are no readings of %s, only of: %s." % (value, ", ".join(names))
