"""`tenner sensors`: the readings of the board's sensors, hour by hour."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

import rich_click as click

from tenner_host.board.opening import open_board
from tenner_host.board.options import board_options
from tenner_host.board_clock import Clock, clock_of
from tenner_host.errors import CommandError
from tenner_host.output import echo, iso, json_option, print_json
from tenner_host.places import write_whole
from tenner_host.sensors.picture import picture
from tenner_host.sensors.ring import PATHS, Series, read_ring
from tenner_host.sensors.scale import number
from tenner_host.sensors.shape import quantity_and_unit
from tenner_host.sensors.terminal import plot as plot_lines


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@board_options
@click.option(
    "--hours", default=24.0, metavar="HOURS", show_default=True, help="How far back to look."
)
@click.option("--plot", is_flag=True, help="Draw the readings here in the terminal.")
@click.option(
    "--png",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Draw them into a PNG file.",
)
@click.option(
    "--svg",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Draw them into an SVG file, which stays sharp at any size.",
)
@json_option
def sensors(
    names: tuple[str, ...],
    port: str | None,
    sim: str | None,
    hours: float,
    plot: bool,
    png: Path | None,
    svg: Path | None,
    as_json: bool,
) -> None:
    """Show readings over time, of all sensors or of those whose name starts with NAME.

    The board keeps a reading every `sensors.every`. To read its files, the agent is stopped and
    started again. If you only want the value now, ask: `tenner chat "what is the temperature?"`.
    """
    with open_board(port, sim) as board:
        files = board.read_files(PATHS)
        clock = clock_of(board)
    end = time.time()
    start = end - hours * 3600
    everything = read_ring(files)
    series = [
        one
        for found in everything
        if (not names or found.name.startswith(names)) and (one := found.since(start))
    ]
    pictures = [(form, path) for form, path in (("png", png), ("svg", svg)) if path and series]
    for form, path in pictures:
        write_whole(path, picture(series, _first(series, start), end, form))
    if not series:
        raise CommandError(_nothing(everything, names, hours, clock))
    if as_json:
        print_json({"series": [_summary(one) for one in series]})
    elif plot:
        width = shutil.get_terminal_size((80, 24)).columns
        for one in series:
            first = _first(series, start)
            drawn = plot_lines(one, first, end, min(width, 120), clock=clock)
            echo("\n".join(drawn) + "\n")
    else:
        _table(series, clock)
    for _, path in pictures:
        echo(f"drawn into {path}", err=True)


def _first(series: list[Series], start: float) -> float:
    """The start of the axis: a board that is an hour old has no day to show."""
    return max(start, min(one.times[0] for one in series) - 1)


def _nothing(everything: list[Series], names: tuple[str, ...], hours: float, clock: Clock) -> str:
    if not everything:
        return (
            "the board has kept no readings: name its sensors in workspace/SENSORS.json, and see "
            "that sensors.every is set (`tenner setup --keys`)"
        )
    known = ", ".join(one.name for one in everything)
    if names and not any(one.name.startswith(names) for one in everything):
        return f"there are no readings of {', '.join(names)}; available: {known}"
    last = max(one.times[-1] for one in everything)
    when = f"{clock(last):%Y-%m-%d %H:%M %Z}"
    return f"there are no readings of the last {hours:g} hours; the newest is of {when}"


def _summary(series: Series) -> dict[str, object]:
    return {
        "name": series.name,
        "unit": quantity_and_unit(series)[1],
        "count": len(series.times),
        "min": min(series.values),
        "mean": series.mean,
        "max": max(series.values),
        "value": series.values[-1],
        "at": iso(series.times[-1]),
        "readings": [
            {"at": iso(at), "value": value}
            for at, value in zip(series.times, series.values, strict=True)
        ],
    }


def _table(series: list[Series], clock: Clock) -> None:
    width = max(len(one.name) for one in series)
    echo(f"{'':{width}}  {'last':>9} {'at':>22} {'min':>9} {'mean':>9} {'max':>9}  readings")
    for one in series:
        at = f"{clock(one.times[-1]):%d %b %H:%M %Z}"
        values = (min(one.values), one.mean, max(one.values))
        middle = " ".join(f"{number(value):>9}" for value in values)
        echo(
            f"{one.name:{width}}  {number(one.values[-1]):>9} {at:>22} {middle}  {len(one.times)}"
        )
