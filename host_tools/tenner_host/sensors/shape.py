"""The shape of a curve: where readings are missing, and whether they are on and off."""

from __future__ import annotations

import math
import statistics
import sys

from tenner_host import FIRMWARE
from tenner_host.sensors.ring import Series

if str(FIRMWARE) not in sys.path:
    sys.path.append(str(FIRMWARE))

from tenner.sensors.units import unit as unit

#: A line ends where readings are missing for longer than so many of their usual distances.
_GAP = 2.5


def is_switch(series: Series) -> bool:
    """Are its values on and off only? A quantity with a unit may be 0 for a day."""
    return not quantity_and_unit(series)[1] and set(series.values) <= {0.0, 1.0}


def quantity_and_unit(series: Series) -> tuple[str, str]:
    """The end of its name, and the unit of that quantity or an empty text."""
    quantity = series.name.rpartition(".")[2]
    return quantity, unit_of(quantity)


def unit_of(quantity: str) -> str:
    """The unit of a quantity such as `temperature`, or an empty text."""
    return unit(quantity) or ""


def with_gaps(series: Series) -> tuple[list[float], list[float]]:
    """Times and values, with a value that is no number where readings are missing."""
    distances = [
        after - before for before, after in zip(series.times, series.times[1:], strict=False)
    ]
    limit = _GAP * statistics.median(distances) if distances else 0.0
    times: list[float] = []
    values: list[float] = []
    for at, value in zip(series.times, series.values, strict=True):
        if times and at - times[-1] > limit:
            times.append((times[-1] + at) / 2)
            values.append(math.nan)
        times.append(at)
        values.append(value)
    return times, values
