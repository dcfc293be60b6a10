"""The owner's time zone in the board's form: `CET-1CEST,M3.5.0,M10.5.0/3`, not `Europe/Berlin`."""

from __future__ import annotations

import re
import zoneinfo
from importlib import resources
from pathlib import Path

import tzlocal

_LOCALTIME = Path("/etc/localtime")
_LONGEST = 80
_POSIX = re.compile(r"^(<[^>]+>|[A-Za-z]{3,})[+-]?\d{1,2}")


def posix_zone(text: str) -> str | None:
    """The POSIX form of a zone's name or of a POSIX zone; None for anything else."""
    text = text.strip()
    if "/" not in text.split(",")[0] and _POSIX.match(text):
        return text
    if text.upper() in ("UTC", "GMT"):
        return "UTC0"
    data = _file(text)
    return _footer(data) if data else None


def local_zone() -> tuple[str, str] | None:
    """(name, POSIX form) of this computer's zone, or None. A POSIX form stands for a zone without
    a name."""
    try:
        name = tzlocal.get_localzone_name()
    except zoneinfo.ZoneInfoNotFoundError:
        # Two files of the system name different zones; the system goes by the third.
        name = None
    if name and (posix := posix_zone(name)):
        return name, posix
    try:
        data = _LOCALTIME.read_bytes()
    except OSError:
        return None
    posix = _footer(data)
    return (_name_of(data) or posix, posix) if posix else None


def _name_of(data: bytes) -> str | None:
    """The zone whose file is the same, where /etc/localtime is a copy instead of a link."""
    # Names with a city first; several cities may share one file.
    names = sorted(zoneinfo.available_timezones(), key=lambda name: ("/" not in name, name))
    return next((name for name in names if _file(name) == data), None)


def _file(name: str) -> bytes | None:
    if len(name) > _LONGEST or not re.fullmatch(r"[A-Za-z0-9_+\-]+(/[A-Za-z0-9_+\-]+)*", name):
        return None
    for folder in zoneinfo.TZPATH:
        path = Path(folder, name)
        if path.is_file():
            return path.read_bytes()
    try:
        found = resources.files("tzdata").joinpath("zoneinfo", *name.split("/"))
        return found.read_bytes() if found.is_file() else None
    except (ModuleNotFoundError, FileNotFoundError, NotADirectoryError):
        return None


def _footer(data: bytes) -> str | None:
    """The last line of a TZif file of version 2 or newer: the rule for all future times."""
    if data[:4] != b"TZif" or data[4:5] < b"2" or not data.endswith(b"\n"):
        return None
    return data[:-1].rpartition(b"\n")[2].decode("ascii", "ignore") or None
