"""The same curves as a PNG or SVG file: a panel for each unit, drawn by matplotlib, an optional
library."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import tzlocal

from tenner_host import libraries
from tenner_host.errors import CommandError
from tenner_host.sensors.ring import Series
from tenner_host.sensors.shape import is_switch, quantity_and_unit, with_gaps

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_WIDTH, _PANEL, _DOTS_PER_INCH = 10.0, 2.8, 120
#: matplotlib counts days since 1970.
_DAY_S = 86400
#: Letters that matplotlib's own font lacks come from one of these, where it is installed.
_FONTS = (
    "Noto Sans CJK SC",
    "Noto Sans CJK JP",
    "Hiragino Sans",
    "Microsoft YaHei",
    "Yu Gothic",
    "Malgun Gothic",
    "Noto Sans Arabic",
    "Noto Sans Devanagari",
    "Arial Unicode MS",
)


def picture(series: Sequence[Series], start: float, end: float, form: str = "png") -> bytes:
    """A picture of the series between two times; `form` is png or svg."""
    file = io.BytesIO()
    made = figure(series, start, end)
    # An SVG would say when it was made.
    metadata = {"Date": None} if form == "svg" else None
    made.savefig(file, format=form, dpi=_DOTS_PER_INCH, metadata=metadata)
    return file.getvalue()


def figure(series: Sequence[Series], start: float, end: float) -> Figure:
    """A panel for each unit, below each other."""
    try:
        import matplotlib
        from matplotlib.dates import AutoDateLocator, ConciseDateFormatter
        from matplotlib.figure import Figure
    except ImportError as exc:
        raise CommandError(
            f"{libraries.missing('a picture', libraries.MATPLOTLIB)}; `--plot` draws without it"
        ) from exc
    zone = tzlocal.get_localzone()
    with matplotlib.rc_context({"font.family": ["DejaVu Sans", *_installed(_FONTS)]}):
        panels = _panels(series)
        made = Figure(figsize=(_WIDTH, _PANEL * len(panels)), layout="constrained")
        axes = made.subplots(len(panels), sharex=True, squeeze=False)[:, 0]
        for panel, (title, found) in zip(axes, panels.items(), strict=True):
            _draw(panel, title, found)
        locator = AutoDateLocator(tz=zone)  # type: ignore[no-untyped-call]
        axes[-1].xaxis.set_major_locator(locator)
        formatter = ConciseDateFormatter(locator, tz=zone)  # type: ignore[no-untyped-call]
        axes[-1].xaxis.set_major_formatter(formatter)
        axes[-1].set_xlim(start / _DAY_S, end / _DAY_S)
    return made


def _installed(names: Sequence[str]) -> list[str]:
    from matplotlib.font_manager import fontManager

    there = set(fontManager.get_font_names())
    return [name for name in names if name in there]


def _panels(series: Sequence[Series]) -> dict[str, list[Series]]:
    """Title -> series: switches together, the others by quantity and unit."""
    panels: dict[str, list[Series]] = {}
    for one in series:
        quantity, known = quantity_and_unit(one)
        title = "on or off" if is_switch(one) else f"{quantity} [{known}]" if known else quantity
        panels.setdefault(title, []).append(one)
    return panels


def _draw(panel: Axes, title: str, series: Sequence[Series]) -> None:
    lines = []
    for one in series:
        times, values = with_gaps(one)
        style = "steps-post" if is_switch(one) else "default"
        days = [at / _DAY_S for at in times]
        (line,) = panel.plot(days, values, drawstyle=style, linewidth=1.6)
        alone = [place for place in range(len(values)) if _is_alone(values, place)]
        # A line of one reading would be invisible.
        line.set(marker="o", markersize=3, markevery=alone)
        lines.append(line)
    if all(is_switch(one) for one in series):
        panel.set_yticks([0, 1], ["off", "on"])
        panel.set_ylim(-0.15, 1.15)
    panel.set_ylabel(title, parse_math=False)
    panel.grid(color="0.9")
    panel.spines[["top", "right"]].set_visible(False)
    legend = panel.legend(
        lines, [one.name for one in series], loc="upper left", bbox_to_anchor=(1.0, 1.0)
    )
    for text in legend.get_texts():
        text.set_parse_math(False)


def _is_alone(values: Sequence[float], place: int) -> bool:
    around = [values[at] for at in (place - 1, place + 1) if 0 <= at < len(values)]
    return not math.isnan(values[place]) and all(math.isnan(value) for value in around)
