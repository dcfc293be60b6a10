"""`tenner heartbeat --check` and `--replay`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from host_tools.errors import CommandError
from host_tools.heartbeat.check import NAME, as_text, problems
from host_tools.heartbeat.replay import Readings, read_csv, replay
from host_tools.output import echo, print_json
from host_tools.project import Project


def read(path: Path | None) -> tuple[str, str]:
    """(text, name) of the file, or of the workspace's."""
    place = path or Project.find().root / "workspace" / NAME
    try:
        return place.read_text(encoding="utf-8"), place.name
    except (OSError, UnicodeError) as exc:
        raise CommandError(f"{place} cannot be read: {exc}; name the file") from exc


def check(path: Path | None, as_json: bool) -> None:
    """Print what is not understood; exit status 1 when something is not."""
    text, name = read(path)
    found = problems(text)
    if as_json:
        print_json({"problems": found})
    else:
        for line in as_text(found, name) or [f"{name} is understood"]:
            echo(line)
    if found:
        raise SystemExit(1)


def run(
    path: Path | None, readings: Path | None, settings: dict[str, Any], price: float, as_json: bool
) -> None:
    """Print what would have been told."""
    text, name = read(path)
    if readings is None:
        raise CommandError("--replay needs --readings FILE, with lines time,sensor.value,number")
    found = replay(text, _read_readings(readings), settings)
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
        f"{len(found['messages'])} messages, {found['model_calls']} model calls, about {found['tokens']} tokens "
        f"(${found['cost_usd']:.4f} at ${price:g} a million)"
    )


def _read_readings(path: Path) -> Readings:
    try:
        with path.open(encoding="utf-8", newline="") as lines:
            return read_csv(lines, path.name)
    except (OSError, UnicodeError) as exc:
        raise CommandError(f"{path} cannot be read: {exc}") from exc
