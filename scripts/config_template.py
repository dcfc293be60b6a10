"""Write or check the commented settings template, generated from the table of settings."""

from __future__ import annotations

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from scripts import generated
from tenner_host import FIRMWARE

sys.path.insert(0, str(FIRMWARE))

from tenner.store import configload
from tenner.store.config import default as default_of
from tenner.store.config import rows

TARGET = FIRMWARE / "config.example.jsonc"

#: Settings that are active in the template: the first ones an owner fills in.
ESSENTIAL = {
    "wifi.ssid",
    "wifi.password",
    "llm.base_url",
    "llm.api_key",
    "llm.model",
    "telegram.token",
    "telegram.owner",
}

#: An example name for the `*` in a key, and an example value where the table has no default.
NAMES = {"tools": "i2c", "i2c": "i2c0", "spi": "spi0", "mcp": "home", "people": "anna"}
EXAMPLES = {"policy": '"ask"', "id": '"5"', "str": '"..."', "url": '"https://nas.local/mcp"'}

HEAD = """\
// Settings of tenner: copy to config.json, fill in, delete the rest.
// A line that starts with //" is a setting with its default; remove the slashes to change it.
{
"""


def _value(type_text: str, default: str) -> str:
    """The JSON text of a default."""
    kind = configload.kind(type_text)
    if kind in ("duration", "str", "zone", "url", "host", "id", "choice", "hours", "topic"):
        return json.dumps(default)
    return json.dumps(default_of(("", type_text, default)))


def template() -> str:
    """The whole text, sections in the order of the table."""
    sections: dict[str, list[str]] = {}
    patterns: dict[str, list[tuple[str, str, str]]] = {}
    for key, type_text, default, unit, _, meaning in rows():
        if "*" in key:
            head, _, name = key.partition("*")
            patterns.setdefault(head[:-1], []).append(
                (name[1:], meaning, _example(type_text, default))
            )
            sections.setdefault(key.split(".")[0], [])
        elif configload.kind(type_text) == "objects":
            sections.setdefault(key.split(".")[0], []).append(f"// {meaning}")
        else:
            section, _, name = key.rpartition(".")
            on = "" if key in ESSENTIAL else "//"
            # A duration is written with its unit, in any unit.
            is_duration = configload.kind(type_text) == "duration"
            sections.setdefault(section, []).extend(
                (
                    f"// {meaning}" + (f" ({unit})" if unit and not is_duration else ""),
                    f'{on}"{name}": {_value(type_text, default)},',
                )
            )
    for prefix, entries in patterns.items():
        sections[prefix.split(".")[0]].extend(_pattern_lines(prefix, entries))
    text = HEAD
    for section, lines in sections.items():
        if section:
            lines = [f'"{section}": {{', *(f"  {line}" for line in lines), "},"]
        text += "".join(f"  {line}\n" for line in lines)
    return text + "}\n"


def _example(type_text: str, default: str) -> str:
    return (
        EXAMPLES.get(configload.kind(type_text), "") if not default else _value(type_text, default)
    )


def _pattern_lines(prefix: str, entries: list[tuple[str, str, str]]) -> list[str]:
    """One example of the entries below an owner's own name, their meanings above."""
    lines = [f"// {name}: {meaning}" if name else f"// {meaning}" for name, meaning, _ in entries]
    if not entries[0][0]:
        return [*lines, f'//"{NAMES[prefix]}": {entries[0][2]},']
    members = "{" + ", ".join(f'"{name}": {example}' for name, _, example in entries) + "}"
    name = NAMES.get(prefix)
    if name:
        return [*lines, f'//"{name}": {members},']
    return [*lines, f'//"{prefix.rsplit(".", maxsplit=1)[-1]}": [{members}],']


if __name__ == "__main__":
    sys.exit(generated.main(TARGET, template, __doc__))
