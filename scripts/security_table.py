"""Write or check the table of defenses in docs/security.md, generated from the table of
attacks."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from scripts import generated
from tenner_host import ROOT

TARGET = ROOT / "docs" / "security.md"
_ATTACKS = ROOT / "tests" / "attacks" / "attacks.json"
_BEGIN = "<!-- made by scripts/security_table.py from tests/attacks/attacks.json -->\n"
_OUTCOMES = ("refused", "asked", "harmless")


def _table() -> str:
    rows = json.loads(_ATTACKS.read_text(encoding="utf-8"))
    tools = {path.stem for path in (ROOT / "firmware/tenner/tools").glob("*.json")}
    counts: dict[str, Counter[str]] = {}
    for row in rows:
        name = row[1] if row[1] in tools else "an MCP server's"
        if row[1].split("-")[0] != "home" and row[1] not in tools:
            name = "no tool at all"
        counts.setdefault(name, Counter())[row[3]] += 1
    lines = ["| tool | attacks | refused | you are asked | harmless |", "|---|---|---|---|---|"]
    for name in sorted(counts):
        found = counts[name]
        title = f"`{name}`" if name in tools else name
        cells = [str(found[outcome] or "–") for outcome in _OUTCOMES]
        lines.append(f"| {title} | {found.total()} | {' | '.join(cells)} |")
    total = sum(counts.values(), Counter[str]())
    cells = [str(total[outcome]) for outcome in _OUTCOMES]
    lines.append(f"| all | {total.total()} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def page() -> str:
    """The page, with its table renewed."""
    return generated.with_block(TARGET, _BEGIN, _table())


if __name__ == "__main__":
    sys.exit(generated.main(TARGET, page, __doc__))
