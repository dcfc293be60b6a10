"""The errors in a HEARTBEAT.md, in the board's own words."""

from __future__ import annotations

import contextlib
import importlib
import sys
import tempfile
from pathlib import Path
from typing import Any

from tenner_host import FIRMWARE
from tenner_host.errors import CommandError
from tenner_host.setup import settings as store

NAME = "HEARTBEAT.md"
_JSON = ("SENSORS.json", "CRON.json")
_UTF16 = (b"\xff\xfe", b"\xfe\xff")


def firmware(name: str) -> Any:
    """A module of the firmware, such as `schedule.heartbeat_parser`."""
    if str(FIRMWARE) not in sys.path:
        sys.path.append(str(FIRMWARE))
    return importlib.import_module("tenner." + name)


def sensors_beside(folder: Path | None) -> Any:
    """The sensors of the SENSORS.json in a folder, for names; None without it."""
    return firmware("schedule.known_values").load(str(folder)) if folder else None


def must_be_text(folder: Path, heartbeat: str = NAME) -> None:
    """Refuse files of a workspace in which the board could read nothing, such as those that
    Notepad saves as "Unicode"."""
    for name in (heartbeat, *_JSON):
        try:
            data = (folder / name).read_bytes()
            if name in _JSON:
                data.decode()
        except OSError:
            # Its absence is no mistake; any other error is told where the file is sent.
            continue
        except UnicodeError:
            data = b"\0"
        if b"\0" in data or data.startswith(_UTF16):
            raise CommandError(
                f"{folder / name} is not UTF-8 text, so the board cannot read it: "
                "save it as UTF-8 (in Notepad: Save as, Encoding)"
            )


def problems(text: str, folder: Path | None = None) -> list[dict[str, Any]]:
    """Line and sentence of each error; `folder` has the SENSORS.json."""
    return _problems(text, sensors_beside(folder))


def _problems(text: str, known: Any) -> list[dict[str, Any]]:
    parser = firmware("schedule.heartbeat_parser")
    lines = enumerate(text.split("\n"), 1)
    return [
        {"line": line, "text": what}
        for kind, line, what, _ in parser.read(lines, known)
        if kind == parser.PROBLEM
    ]


def for_a_page(text: str, sensors: bytes | None, settings: store.Settings) -> dict[str, Any]:
    """The errors, how each line is understood, and the values that lines may name: {"problems",
    "readings", "names"}; `sensors` is a SENSORS.json, `settings` the board's."""
    with tempfile.TemporaryDirectory() as folder:
        if sensors is not None:
            (Path(folder) / "SENSORS.json").write_bytes(sensors)
        known = sensors_beside(Path(folder))
    brief = firmware("schedule.line_reading").brief
    rows = [brief(one) for one in _readings(text, known, settings)]
    sensors_of = known.sensors.items() if known else ()
    names = [f"{name}.{value}" for name, row in sensors_of for value in row[0].split()]
    return {"problems": _problems(text, known), "readings": rows, "names": names}


def readings(text: str, folder: Path | None = None) -> list[dict[str, Any]]:
    """How the board understands each line: line, kind, text, calls_per_day, problem, suggestion;
    `folder` has the SENSORS.json, and its parent may have the config.json."""
    return _readings(text, sensors_beside(folder), settings_beside(folder))


def settings_beside(folder: Path | None) -> store.Settings:
    """The settings in the config.json beside a workspace; {} without any."""
    config = folder.parent / "config.json" if folder else None
    if config and config.is_file():
        with contextlib.suppress(CommandError, OSError, UnicodeError):
            # `tenner setup --check` tells of its mistakes.
            return store.parse(config.read_text(encoding="utf-8"), config.name)
    return {}


def _readings(text: str, known: Any, settings: store.Settings) -> list[dict[str, Any]]:
    module = firmware("schedule.line_reading")
    if known:
        known.imperial = store.get(settings, "units") == "imperial"
    lines = text.split("\n")
    every_s = store.get({}, "heartbeat.every")
    section = settings.get("heartbeat")
    if isinstance(section, dict) and "every" in section:
        with contextlib.suppress(ValueError):
            every_s = firmware("store.configload").convert("duration(60..)", section["every"])
    is_placed = all(
        isinstance(store.get(settings, f"place.{name}"), (int, float))
        for name in ("latitude", "longitude")
    )
    return list(
        module.readings(
            lambda: enumerate(lines, 1), known, every_s, None, _suggestion, None, is_placed
        )
    )


def _suggestion(text: str, problem: str) -> str:
    """The right line nearest to a wrong one, whose mistake `problem` tells."""
    parts = problem.split('"')
    right = ""
    for index in range(1, len(parts) - 1, 2):
        before = parts[index - 1].rstrip()
        if before.endswith(("expected", "mean", "write", "like", "such as")):
            right = right or parts[index]
    wrong = parts[1] if len(parts) > 3 else ""
    if "is no clause; did you mean" in problem and wrong and wrong in text:
        if " " not in right:
            wrong = wrong.split()[0]
        return text.replace(wrong, right, 1)
    if right == ")":
        right = ""
    if not right:
        return "(every 10m) " + text if "(" not in text else "(daily 07:30) Report."
    if " " not in right and "." in right and right[:1] not in "0123456789(":
        dotted = []
        for word in text.replace("{", " ").replace("}", " ").replace("(", " ").split():
            if "." in word.strip(".:,;"):
                dotted.append(word.strip(".:,;)"))
        # `room gives no humidity`: that value of that sensor.
        said, _, value = problem.partition(" gives no ")
        nearest = firmware("store.suggest").nearest
        wrong = said.split()[-1] + "." + value.split(";")[0] if value else nearest(right, dotted)
        return text.replace(wrong, right) if wrong else "(when %s > 30; notify)" % right
    if right[:1] in "0123456789":
        return right
    _, closing, rest = text.partition(")")
    right = right if right[:1] == "(" else "(%s)" % right
    return right + " " + (rest.strip() if closing and text[:1] == "(" else text)


def as_text(found: list[dict[str, Any]], name: str) -> list[str]:
    return [f"{name} line {one['line']}: {one['text']}" for one in found]
