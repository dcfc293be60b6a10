"""Write the table of results in docs/services.md, from the last run of all services
(build/services.json)."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from scripts import generated
from tenner_host import ROOT

TARGET = ROOT / "docs" / "services.md"
RESULTS = ROOT / "build" / "services.json"
_BEGIN = "<!-- made by make services-table -->\n"
_INTERPRETERS = ("cpython", "micropython", "micropython32")


def _cell(counts: Counter[str]) -> str:
    run = counts["passed"] + counts["failed"]
    text = f"{counts['passed']} of {run}" if run else "–"
    return f"{text}, {counts['skipped']} skipped" if counts["skipped"] else text


def _table() -> str:
    found: dict[str, dict[str, Counter[str]]] = {}
    for row in json.loads(RESULTS.read_text(encoding="utf-8")):
        counts = Counter({key: n for key, n in row.items() if isinstance(n, int)})
        found.setdefault(row["service"], {})[row["interpreter"]] = counts
    lines = ["| service | CPython | MicroPython | MicroPython, 32-bit |", "|---|---|---|---|"]
    total = {one: Counter[str]() for one in _INTERPRETERS}
    for service, row in sorted(found.items()):
        cells = [_cell(row.get(one, Counter())) for one in _INTERPRETERS]
        lines.append(f"| {service} | {' | '.join(cells)} |")
        for one, counts in row.items():
            total[one] += counts
    lines.append(f"| all | {' | '.join(_cell(total[one]) for one in _INTERPRETERS)} |")
    return "\n".join(lines) + "\n"


def page() -> str:
    """The page, with the table of the last run."""
    if not RESULTS.exists():
        raise SystemExit(f"{RESULTS} is not there: make test-services writes it")
    return generated.with_block(TARGET, _BEGIN, _table())


if __name__ == "__main__":
    sys.exit(generated.main(TARGET, page, __doc__))
