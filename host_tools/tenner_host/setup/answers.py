"""Typed answers in the form of their setting."""

from __future__ import annotations

import difflib
import ipaddress
import re
import zoneinfo
from collections.abc import Callable

from tenner_host.errors import CommandError
from tenner_host.setup.zones import posix_zone

_QUOTES = "\"'`\u201c\u201d\u2018\u2019<>"
#: Copied along with a key: the name of a shell's variable, of a header.
_BEFORE_KEY = re.compile(
    r"(?:export\s+)?[A-Za-z_]+=|(?:authorization|x-api-key|api[ _-]key)\s*:|bearer\s",
    re.IGNORECASE,
)
_TOKEN = re.compile(r"(?:https?://\S+/)?(?:bot)?\d+:[\w-]+", re.ASCII | re.IGNORECASE)
_METHOD = re.compile(r"/get[A-Za-z]+/?$")
_ENDPOINT = re.compile(r"/(?:chat/completions|completions|messages|responses|models)/?$")
_HOST = re.compile(r"([a-z0-9.-]+)((?::\d{1,5})?(?:/\S*)?)", re.ASCII | re.IGNORECASE)
#: Ends of names that only a network at home has.
_AT_HOME = (".local", ".lan", ".home", ".internal")
_OFFSET = re.compile(r"(?:UTC|GMT)?\s*([+-])\s*(\d{1,2})(?::?(\d\d))?", re.ASCII | re.IGNORECASE)
_TIME = r"(\d{1,2})(?:[:.](\d\d))?\s*(am|pm|a\.m\.|p\.m\.|h)?"
_WINDOW = re.compile(
    rf"(?:from\s+)?{_TIME}\s*(?:-|\u2013|\u2014|to|until|till)\s*{_TIME}",
    re.ASCII | re.IGNORECASE,
)
_ALWAYS = ("always", "all day", "24h", "24/7", "0-24")


def tidy(key: str, text: str) -> str:
    """The answer in the form of the setting. Any other answer stays as it is, and the setting's
    check refuses it."""
    return _TIDY[key](text) if key in _TIDY else text


def _key(text: str) -> str:
    while found := _BEFORE_KEY.match(text):
        text = text[found.end() :].strip().strip(_QUOTES)
    text = text.strip(_QUOTES).strip()
    if text and not (text.isascii() and text.isprintable() and " " not in text):
        raise CommandError(
            "That must be one word of plain letters, digits and signs: copy the whole key again."
        )
    return text


def _token(text: str) -> str:
    if not text:
        return text
    if text.startswith("@") or "t.me/" in text:
        raise CommandError(
            "That must be the bot's token, not its name: @BotFather shows it as 123456789:AAE..."
        )
    bare = _METHOD.sub("", text.rpartition("=")[2].strip(_QUOTES + " "))
    if not _TOKEN.fullmatch(bare.rstrip("/")):
        raise CommandError(
            "That must be a number, a colon and about 35 letters, such as 123456789:AAE...: copy "
            "all of it from @BotFather."
        )
    return re.sub(r"^bot", "", bare, flags=re.IGNORECASE)


def _address(text: str) -> str:
    text = _ENDPOINT.sub("", text.strip(_QUOTES))
    scheme, found, rest = text.partition("://")
    if found:
        return f"{scheme.lower()}://{rest}"
    bare = _HOST.fullmatch(text)
    if bare is None or not (bare[2] or "." in bare[1]) or bare[1].lower() in ("http", "https"):
        return text
    return f"http{'' if _is_at_home(bare[1]) else 's'}://{text}"


def _is_at_home(host: str) -> bool:
    """Is it a server that a certificate would hardly name?"""
    try:
        return ipaddress.ip_address(host).is_private
    except ValueError:
        return "." not in host or host.lower().endswith(_AT_HOME)


def _zone(text: str) -> str:
    text = text.strip(_QUOTES)
    offset = _OFFSET.fullmatch(text)
    if offset:
        # People count east of Greenwich, and POSIX counts west.
        return f"{offset[1]}{int(offset[2]):02}:{offset[3] or '00'}"
    known = posix_zone(text)
    if known:
        return known
    name = _named(text)
    if name is None:
        hint = _like(text) or "Write it like Europe/Berlin or America/New_York, or as +02:00."
        raise CommandError(f"There's no time zone of that name. {hint}")
    return posix_zone(name) or name


def _named(text: str) -> str | None:
    """The zone with this name in other letters, or with this city."""
    wanted = text.lower().replace(" ", "_")
    names = zoneinfo.available_timezones()
    whole = [name for name in names if name.lower() == wanted]
    cities = [name for name in names if name.lower().rpartition("/")[2] == wanted]
    # Of a city's names, the one with its continent: America/Havana, not Cuba.
    found = whole or cities
    rules = {posix_zone(name) for name in found}
    return min(found) if len(rules) == 1 else None


def _like(text: str) -> str:
    names = [name for name in sorted(zoneinfo.available_timezones()) if "/" in name]
    known = {name.lower().rpartition("/")[2]: name for name in names}
    known.update((name.lower(), name) for name in names)
    near = difflib.get_close_matches(text.lower().replace(" ", "_")[:40], known, 1, 0.75)
    return f"Did you mean {known[near[0]]}?" if near else ""


def _hours(text: str) -> str:
    text = text.strip(_QUOTES)
    if text.lower() in _ALWAYS:
        return ""
    found = _WINDOW.fullmatch(text)
    if found is None or bool(_half(found[3])) != bool(_half(found[6])):
        return text
    begin, end = _minute(*found.groups()[:3]), _minute(*found.groups()[3:])
    return text if None in (begin, end) else f"{begin}-{end}"


def _minute(hour: str, minute: str | None, half: str | None) -> str | None:
    """HH:MM; None for 13pm. An hour past 24 is left to the setting's check."""
    number = int(hour)
    if _half(half):
        if not 1 <= number <= 12:
            return None
        number = number % 12 + (12 if _half(half) == "p" else 0)
    return f"{number:02}:{minute or '00'}"


def _half(half: str | None) -> str:
    """ "a" or "p" of am or pm."""
    return "" if half is None or half.lower() == "h" else half[0].lower()


_TIDY: dict[str, Callable[[str], str]] = {
    "llm.api_key": _key,
    "telegram.token": _token,
    "llm.base_url": _address,
    "llm.api": str.lower,
    "time.zone": _zone,
    "heartbeat.active_hours": _hours,
}
