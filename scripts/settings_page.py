"""Write or check the tables in docs/settings.md, made from the table of settings."""

from __future__ import annotations

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from scripts import generated
from tenner_host import FIRMWARE, ROOT

sys.path.insert(0, str(FIRMWARE))

from tenner.store import configload
from tenner.store.config import rows

TARGET = ROOT / "docs" / "settings.md"
_BEGIN = "<!-- made by scripts/settings_page.py from each settings.tsv below firmware/tenner -->\n"
#: The values of a type, by its name in the table of settings.
_VALUES = {
    "str": "text",
    "zone": "a time zone",
    "id": "text or number",
    "bool": "`true`, `false`",
    "hours": "`HH:MM-HH:MM`",
    "topic": "an MQTT topic",
    "url": "an address, `https://…`",
    "host": "a name or an IP address",
    "policy": "`allow`, `ask`, `deny`, list",
    "list": "list",
    "objects": "list of objects",
    "duration": "`30m`, `1h30m`, `off`",
}


def _values(type_text: str) -> str:
    """The values that a setting takes, for people."""
    kind = configload.kind(type_text)
    inside = re.search(r"\((.*)\)", type_text)
    if kind == "choice" and inside:
        return ", ".join(f"`{one}`" for one in inside[1].split("|"))
    if kind in ("int", "number") and inside:
        least, _, most = inside[1].partition("..")
        return f"{int(least):,} to {int(most):,}" if most else f"{int(least):,} or more"
    return _VALUES[kind]


def _tables() -> str:
    """A heading and a table for each section."""
    sections: dict[str, list[str]] = {}
    for key, type_text, default, unit, secret, meaning in rows():
        # A duration is written with its unit.
        has_unit = unit and configload.kind(type_text) != "duration"
        about = meaning + (f" ({unit})" if has_unit else "") + ("; **secret**" if secret else "")
        cells = (f"`{key}`", _values(type_text), f"`{default}`" if default else "–", about)
        line = "| " + " | ".join(cells).replace("*.", "NAME.").replace(".*", ".NAME") + " |"
        sections.setdefault(key.split(".")[0], []).append(line)
    lines = []
    for section, found in sections.items():
        lines += [
            f"## {section}",
            "",
            "| setting | values | default | meaning |",
            "|---|---|---|---|",
        ]
        lines += [*found, ""]
    return "\n".join(lines)


def page() -> str:
    """The page, with its tables renewed."""
    return generated.with_block(TARGET, _BEGIN, _tables())


if __name__ == "__main__":
    sys.exit(generated.main(TARGET, page, __doc__))
