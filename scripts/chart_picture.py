"""Write docs/pictures/chart.png: the picture of `/chart greenhouse.temperature 24h`, drawn by the
firmware from a day that nobody measured."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from scripts.sensors_picture import day
from tenner_host import FIRMWARE, ROOT

if str(FIRMWARE) not in sys.path:
    sys.path.append(str(FIRMWARE))

from tenner.chart import layout, picture
from tenner.store.posix_tz import Zone

TARGET = ROOT / "docs" / "pictures" / "chart.png"
#: The condition of the alarm in the picture.
_ABOVE = 26


def drawn() -> bytes:
    """The picture as a board draws it."""
    series = next(one for one in day() if one.name == "greenhouse.temperature")
    readings = [(int(at), value) for at, value in zip(series.times, series.values, strict=True)]
    warm = [at for at, value in readings if value > _ABOVE]
    data: list[bytes] = []

    async def visit(take: Callable[[int, float], None]) -> None:
        for at, value in readings:
            take(at, value)

    until = readings[-1][0]
    zone = Zone("UTC0")
    since = until - 24 * 3600
    bands = [(warm[0], warm[-1])]

    async def draw() -> None:
        name = series.name
        found = await layout.make(name, "\u00b0C", zone, since, until, visit, bands, [_ABOVE])
        assert found is not None
        await picture.draw(lambda piece: data.append(bytes(piece)), found)

    asyncio.run(draw())
    return b"".join(data)


if __name__ == "__main__":
    TARGET.write_bytes(drawn())
    print(f"wrote {TARGET.relative_to(ROOT)}")
