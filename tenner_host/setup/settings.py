"""The settings of a board on this computer: read, changed by key, checked by the firmware's own
rules, written."""

from __future__ import annotations

import copy
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tenner_host import FIRMWARE
from tenner_host.errors import CommandError
from tenner_host.setup.zones import posix_zone

if str(FIRMWARE) not in sys.path:
    sys.path.insert(0, str(FIRMWARE))

from tenner.schedule.posix_tz import Zone
from tenner.store import configload, json_strict
from tenner.store.config import ConfigError, default, find, rows
from tenner.store.suggest import nearest

PATH = "/config.json"
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
            text = Path(text[1:]).read_text(encoding="utf-8").strip()
        except OSError as exc:
            raise CommandError(f"--set {key}: {text[1:]} cannot be read: {exc.strerror}") from exc
    elif text.startswith("$"):
        value = os.environ.get(text[1:])
        if value is None:
            raise CommandError(f"--set {key}: there is no variable {text[1:]} in the environment")
        text = value
    elif row[4] and text:
        raise CommandError(
            f"{key} is a secret, and others can see a command line: put it into a file and write "
            f"--set {key}=@FILE, or into the environment and write --set '{key}=$NAME'"
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
    try:
        value = configload.from_text(row[1], text)
        configload.convert(row[1], value)
    except ValueError as exc:
        raise CommandError(f"{key}: must be {exc}") from exc
    put(settings, key, value)


def _unknown(key: str) -> str:
    return f"{key!r} is no key of the settings{_hint(key)} (`tenner setup --keys` lists them)"


def _hint(key: str) -> str:
    best = nearest(key, [row[0] for row in rows()])
    return f", did you mean {best}?" if best else ""


def check(settings: Settings) -> None:
    """Raise CommandError with the firmware's own sentence if it would not start with these
    settings."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "config.json")
        # Another user must not read the keys before the file is removed.
        number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(number, "w", encoding="utf-8") as file:
            file.write(text(settings))
        try:
            loaded = configload.load(str(path), {})
        except ConfigError as exc:
            raise CommandError(str(exc).replace(str(path), "config.json")) from exc
    try:
        Zone(loaded.get("time.zone"))
    except ValueError as exc:
        raise CommandError(f"config.json: time.zone: {exc}") from exc


def settle(settings: Settings) -> None:
    """Replace the name of a zone by its rule, of which a board knows few, and `check` all."""
    name = get(settings, "time.zone")
    zone = posix_zone(name) if isinstance(name, str) else None
    if zone and zone != name and name:
        put(settings, "time.zone", zone)
    check(settings)


def nobody(settings: Settings) -> str:
    """The firmware's sentence about a name on Telegram that lets nobody in, or ""."""
    keys = ("telegram.owner", "telegram.allow")
    return str(configload.nobody({key: get(settings, key) for key in keys}))


def text(settings: Settings) -> str:
    """config.json without empty sections."""
    kept = {name: value for name, value in settings.items() if value not in ({}, None)}
    return json.dumps(kept, indent=1, ensure_ascii=False) + "\n"


def shown(settings: Settings, prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield (key, value) of every present setting, secrets hidden."""
    for name, value in settings.items():
        key = prefix + name
        if isinstance(value, dict):
            yield from shown(value, key + ".")
        elif isinstance(value, list) and any(isinstance(item, dict) for item in value):
            yield key, f"{len(value)} of them"
        else:
            yield key, "***" if is_secret(key) else json.dumps(value, ensure_ascii=False)


def every_key() -> list[tuple[str, str]]:
    """(key, meaning) of each row of the table."""
    return [(row[0], row[5]) for row in rows()]
