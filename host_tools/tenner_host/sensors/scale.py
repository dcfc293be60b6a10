"""Round numbers and times for the edges of a picture."""

from __future__ import annotations

import math
from datetime import datetime

from tenner_host.sensors.ring import Series


def value_range(series: Series) -> tuple[float, float]:
    """Minimum and maximum, never equal."""
    low, high = min(series.values), max(series.values)
    if low == high:
        margin = abs(low) * 0.05 or 1.0
        return low - margin, high + margin
    return low, high


def number(value: float) -> str:
    """With as many digits as people read."""
    if value == 0:
        return "0"
    digits = max(0, 3 - math.floor(math.log10(abs(value))))
    text = f"{value:.{min(digits, 6)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def moment(at: datetime, span_s: float) -> str:
    """The time, with the day if the picture covers more than one."""
    return at.strftime("%H:%M" if span_s < 86400 else "%d %b %H:%M")
