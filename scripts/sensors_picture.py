"""Write docs/pictures/sensors.png: the picture of `tenner sensors --png`, of a day that nobody
measured."""

from __future__ import annotations

import math
import os
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

# Before tzlocal is asked: the picture must not depend on where it is made.
os.environ["TZ"] = "UTC"

from tenner_host import ROOT
from tenner_host.sensors.picture import picture
from tenner_host.sensors.ring import Series

TARGET = ROOT / "docs" / "pictures" / "sensors.png"
_START = 1_790_000_000 // 86400 * 86400
_STEP_S = 300
_HOUR_S = 3600


def _value(name: str, hour: float) -> float:
    """An invented reading: a warm afternoon, with a fan that runs above 26 °C."""
    sun = math.exp(-(((hour - 14.5) / 4) ** 2))
    ripple = 0.25 * math.sin(9 * hour) + 0.15 * math.sin(23 * hour)
    return {
        "room.temperature": 20.5 + 3 * sun + 0.4 * ripple,
        "greenhouse.temperature": 14 + 15 * sun + ripple,
        "greenhouse.humidity": 78 - 34 * sun + 2 * ripple,
        "fan.on": float(14 + 15 * sun > 26),
    }[name]


def day() -> list[Series]:
    """Series of one day; the greenhouse was off from 05:00 to 06:30."""
    made = []
    for name in ("room.temperature", "greenhouse.temperature", "greenhouse.humidity", "fan.on"):
        series = Series(name)
        for at in range(_START, _START + 24 * _HOUR_S, _STEP_S):
            hour = (at - _START) / _HOUR_S
            if not (name.startswith("greenhouse") and 5 <= hour < 6.5):
                series.times.append(at)
                series.values.append(_value(name, hour))
        made.append(series)
    return made


if __name__ == "__main__":
    time.tzset()
    TARGET.write_bytes(picture(day(), _START, _START + 24 * _HOUR_S))
    print(f"wrote {TARGET.relative_to(ROOT)}")
