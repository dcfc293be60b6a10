"""`tenner heartbeat --check` and `--replay`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from tenner_host.board.opening import open_board
from tenner_host.errors import CommandError, reason
from tenner_host.heartbeat.check import NAME, as_text, must_be_text, readings, settings_beside
from tenner_host.heartbeat.compile import compiled, diff
from tenner_host.heartbeat.replay import Readings, from_ring, read_csv, replay
from tenner_host.output import echo, print_json
from tenner_host.project import Project
from tenner_host.sensors.ring import PATHS

# Of a call at a beat, and of a million tokens in US dollars, as in `--price`.
_TOKENS = 750
_PRICE = 0.5


def read(path: Path | None) -> tuple[str, Path]:
    """(text, path) of the file, or of the workspace's file."""
    place = path or Project.find().root / "workspace" / NAME
    must_be_text(place.parent, place.name)
    try:
        return place.read_text(encoding="utf-8"), place
    except (OSError, UnicodeError) as exc:
        raise CommandError(f"{place} cannot be read: {reason(exc)}; name the file") from exc


def check(path: Path | None, as_json: bool) -> None:
    """Print how each line is understood; exit status 1 if one is not."""
    text, place = read(path)
    found = readings(text, place.parent)
    wrong = [one["line"] for one in found if one["problem"]]
    if as_json:
        failed = f"{place.name} is not understood at line {wrong[0]}" if wrong else ""
        print_json({"lines": found}, failed)
    else:
        for one in found:
            echo(f"line {one['line']}: {in_words(one)}")
            if one["problem"] and one["kind"] != "off":
                echo(f"  {one['problem']}")
            if one["suggestion"]:
                echo(f"  right would be: {one['suggestion']}")
        if not wrong:
            echo(f"{place.name} is understood")
    if wrong:
        raise SystemExit(1)


def compile_prose(path: Path | None, as_json: bool) -> None:
    """Print a diff that puts prose lines into the grammar, and to stderr a sentence for each."""
    text, place = read(path)
    after, said = compiled(text, place.parent, settings_beside(place.parent))
    changes = diff(text, after, place.name)
    if as_json:
        rows = [{"line": line, "text": what} for line, what in said]
        print_json({"calls": len(said), "lines": rows, "diff": "\n".join(changes)})
        return
    for line in changes:
        echo(line)
    for number, what in said:
        click.echo(f"line {number}: {what}", err=True)
    click.echo(f"{len(said)} model calls; nothing is written", err=True)


def in_words(one: dict[str, Any]) -> str:
    """The sentence of a reading, with a price for a task of each beat."""
    if one["kind"] != "beat" or not one["calls_per_day"]:
        return str(one["text"])
    cost = one["calls_per_day"] * _TOKENS * _PRICE / 1e6
    return f"{one['text'].rstrip('.')}, about ${cost:.2f}."


def run(
    path: Path | None,
    readings: Path | None,
    board: tuple[str | None, str | None],
    settings: dict[str, Any],
    price: float,
    as_json: bool,
) -> None:
    """Print the messages of a replay; `board`: the port and simulator of the board whose readings
    serve without `readings`."""
    text, place = read(path)
    name = place.name
    found = replay(text, _read_readings(readings) if readings else _of_board(*board), settings)
    found["cost_usd"] = round(found["tokens"] * price / 1e6, 4)
    if as_json:
        print_json(found)
        return
    for line in as_text(found["problems"], name):
        echo(line)
    for one in found["messages"]:
        where = f"line {one['line']}" if one["line"] else ""
        head, *more = one["text"].split("\n")
        echo(f"{one['time'][:16].replace('T', ' ')}  {one['kind']:<7} {where:<8} {head}")
        for line in more:
            echo(" " * 35 + line)
    echo(
        f"{len(found['messages'])} messages, {found['model_calls']} model calls, about "
        f"{found['tokens']} tokens (${found['cost_usd']:.4f} at ${price:g} a million)"
    )


def _read_readings(path: Path) -> Readings:
    """The readings in a CSV file, or in a folder with the state of a board."""
    try:
        if path.is_dir():
            return from_ring(_ring_files(path), str(path))
        with path.open(encoding="utf-8", newline="") as lines:
            return read_csv(lines, path.name)
    except (OSError, UnicodeError) as exc:
        raise CommandError(f"{path} cannot be read: {reason(exc)}") from exc


def _ring_files(folder: Path) -> dict[str, bytes]:
    found = {}
    for name in PATHS:
        file = folder / Path(name).name
        if not file.exists():
            # A copy of the entire board.
            file = folder / "state" / Path(name).name
        if file.exists():
            found[name] = file.read_bytes()
    return found


def _of_board(port: str | None, sim: str | None) -> Readings:
    try:
        with open_board(port, sim) as board:
            files = board.read_files(PATHS)
    except CommandError as exc:
        raise CommandError(
            f"--replay takes the board's own readings where --readings names none: {exc}"
        ) from exc
    return from_ring(files, "the board")
