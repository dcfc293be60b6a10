"""The settings of a board on this computer: read, changed by key, checked by the firmware's own
rules, written."""

from __future__ import annotations

import copy
import importlib
import json
import math
import os
import re
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tenner_host import FIRMWARE
from tenner_host.board.board import Board
from tenner_host.errors import CommandError
from tenner_host.places import read_text
from tenner_host.setup.zones import posix_zone

if str(FIRMWARE) not in sys.path:
    sys.path.insert(0, str(FIRMWARE))

from tenner.store import configload, json_strict
from tenner.store.config import ConfigError, default, find, rows
from tenner.store.posix_tz import Zone
from tenner.store.suggest import nearest

PATH = "/config.json"
_LONGEST_KEY = 80
#: As people write a window: 8-22, 8:30 to 22, 08.00–22.00.
_WINDOW = re.compile(
    r"(\d{1,2})(?:[:.](\d\d))?\s*(?:-|\u2013|to)\s*(\d{1,2})(?:[:.](\d\d))?", re.ASCII
)
#: A bot as its address, in the form of the Bot API.
_BOT = re.compile(r"(https?://\S+)/bot(\d+:[^\s/]+)/?")
Settings = dict[str, Any]


def parse(text: str, place: str) -> Settings:
    """Parse settings from JSON with comments and trailing commas."""
    try:
        found = json_strict.loads(text)
    except ValueError as exc:
        raise CommandError(f"{place}: {exc}") from exc
    if not isinstance(found, dict):
        raise CommandError(f'{place}: must be an object, for example {{"name": "tenner"}}')
    return found


def get(settings: Settings, key: str) -> Any:
    """A setting by its dotted key, or the default of the table."""
    place: Any = settings
    for part in key.split("."):
        if not isinstance(place, dict) or part not in place:
            row = find(key)
            return default(row) if row else None
        place = place[part]
    return place


def seconds(settings: Settings, key: str) -> float:
    """A duration as the board takes it: a bare number is minutes, and the default holds for a
    wrong one."""
    row = find(key)
    found = get(settings, key)
    if found == default(row):
        return float(found)
    try:
        return float(configload.convert(row[1], found))
    except (TypeError, ValueError):
        return float(default(row))


def least(key: str) -> int:
    """The smallest value of a whole number's setting, from its row of the table, as in
    `int(5..600)`."""
    return int(find(key)[1].partition("(")[2].partition("..")[0])


def put(settings: Settings, key: str, value: Any) -> None:
    """Set a key; None and "" remove it, so that the default applies."""
    *sections, name = key.split(".")
    place = settings
    for section in sections:
        inner = place.setdefault(section, {})
        if not isinstance(inner, dict):
            raise CommandError(f"{key}: {section} is a setting, not a section")
        place = inner
    if value in (None, ""):
        place.pop(name, None)
    else:
        place[name] = value


def merge(below: Settings, above: Settings) -> Settings:
    """Merge both, sections key by key; `above` wins."""
    merged = copy.deepcopy(below)
    for name, value in above.items():
        if isinstance(value, dict) and isinstance(merged.get(name), dict):
            merged[name] = merge(merged[name], value)
        else:
            merged[name] = copy.deepcopy(value)
    return merged


def is_secret(key: str) -> bool:
    row = find(key)
    return bool(row and row[4])


def assign(settings: Settings, assignment: str) -> None:
    """Apply one `key=value` of the command line.

    A value that begins with @ comes from a file, with $ from the environment. A secret on the
    command line is refused: every other user of the machine could read it.
    """
    key, found, text = assignment.partition("=")
    row = find(key)
    if not found or row is None:
        raise CommandError(
            f"--set wants KEY=VALUE, and {assignment!r} has no =" if row else _unknown(key)
        )
    if text.startswith("@"):
        try:
            text = read_text(Path(text[1:])).strip()
        except CommandError as exc:
            raise CommandError(f"--set {key}: {exc.message}") from exc
    elif text.startswith("$"):
        value = os.environ.get(text[1:])
        if value is None:
            raise CommandError(f"--set {key}: there is no variable {text[1:]} in the environment")
        text = value
    elif row[4] and text:
        raise CommandError(
            f"{key} is a secret, and others can see a command line: put it into a file and write "
            f"--set {key}=@key.txt, or into the environment and write --set '{key}=$KEY'"
        )
    try:
        assign_text(settings, key, text)
    except CommandError as exc:
        raise CommandError(f"--set {exc.message}") from exc


def assign_text(settings: Settings, key: str, text: str) -> None:
    """Set a key to a value that a person typed; "" removes it, so that the default applies."""
    row = find(key)
    if row is None:
        raise CommandError(_unknown(key))
    if not text:
        put(settings, key, "")
        return
    if row[1] == "hours":
        text = _window(text)
    if key == "telegram.token" and (bot := _BOT.fullmatch(text)):
        assign_text(settings, "telegram.base_url", bot[1])
        text = bot[2]
    try:
        put(settings, key, configload.typed(key, row, text))
    except ValueError as exc:
        raise CommandError(str(exc)) from exc


def _window(text: str) -> str:
    """Return 08:00-22:00 for 8-22 and the like; any other text as it is."""
    found = _WINDOW.fullmatch(text.strip())
    if found is None:
        return text
    begin_h, begin_min, end_h, end_min = (int(one or 0) for one in found.groups())
    return f"{begin_h:02}:{begin_min:02}-{end_h:02}:{end_min:02}"


def _unknown(key: str) -> str:
    shown = repr(key[:_LONGEST_KEY])
    return f"{shown} is no key of the settings{_hint(key)} (`tenner setup --keys` lists them)"


def _hint(key: str) -> str:
    best = nearest(key, [row[0] for row in rows()])
    return f", did you mean {best}?" if best else ""


def check(settings: Settings, board: Board | None = None) -> None:
    """Raise CommandError with the firmware's own sentence if an agent, that of `board`, would not
    use all of these settings."""
    for key in _endless("", settings):
        raise CommandError(f"config.json: {key} must be a finite number")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "config.json")
        # Another user must not read the keys before the file is removed.
        number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(number, "w", encoding="utf-8") as file:
            file.write(text(settings))
        port = board and board.port_module and importlib.import_module(board.port_module).Port()
        try:
            configload.check(str(path), port)
        except ConfigError as exc:
            raise CommandError(str(exc).replace(str(path), "config.json")) from exc


def _endless(key: str, value: Any) -> Iterator[str]:
    """Yield the keys of numbers such as 1e999, which JSON could not write."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _endless(f"{key}.{name}" if key else name, inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _endless(key, inner)
    elif isinstance(value, float) and not math.isfinite(value):
        yield key


def settle(settings: Settings, board: Board | None = None) -> None:
    """Replace the name of a zone by its rule, of which a board knows few, and `check` all."""
    name = get(settings, "time.zone")
    zone = posix_zone(name) if isinstance(name, str) else None
    if zone and zone != name and name:
        put(settings, "time.zone", zone)
    check(settings, board)


def now_there(settings: Settings) -> str:
    """The weekday, date and time in the owner's zone, as the board counts."""
    return str(zone_of(settings).tell(int(time.time()), True))


def zone_of(settings: Settings) -> Zone:
    """The owner's zone; UTC for a wrong one, as on the board."""
    name = str(get(settings, "time.zone"))
    try:
        return Zone(posix_zone(name) or name)
    except ValueError:
        return Zone()


def nobody(settings: Settings) -> str:
    """The firmware's sentence about a name on Telegram that lets nobody in, or ""."""
    keys = ("telegram.owner", "telegram.allow")
    return str(configload.nobody({key: get(settings, key) for key in keys}))


def text(settings: Settings) -> str:
    """config.json without empty sections."""
    kept = {name: value for name, value in settings.items() if value != {} or find(name)}
    return json.dumps(kept, indent=1, ensure_ascii=False) + "\n"


def shown(settings: Settings) -> Iterator[tuple[str, str]]:
    """Yield (key, value) of every present setting, secrets hidden."""
    for key, value in _leaves(settings):
        if _has_objects(value):
            yield key, f"{len(value)} of them"
        else:
            yield key, "***" if is_secret(key) else json.dumps(value, ensure_ascii=False)


def for_programs(settings: Settings) -> dict[str, Any]:
    """The present settings by key, and the keys of those that are secret; of a list of objects,
    which may have secrets inside, its length."""
    found = dict(_leaves(settings))
    return {
        "settings": {
            key: len(value) if _has_objects(value) else value
            for key, value in found.items()
            if not is_secret(key)
        },
        "secrets": [key for key in found if is_secret(key)],
    }


def _leaves(settings: Settings, prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in settings.items():
        if isinstance(value, dict):
            yield from _leaves(value, prefix + name + ".")
        else:
            yield prefix + name, value


def _has_objects(value: object) -> bool:
    return isinstance(value, list) and any(isinstance(item, dict) for item in value)


def every_key() -> list[tuple[str, str]]:
    """(key, meaning) of each row of the table."""
    return [(row[0], row[5]) for row in rows()]
