"""Write the tables of docs/services.md, from the last runs of all services (build/services.json)
and of the versions of TLS (build/tls.json)."""

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
TLS_RESULTS = ROOT / "build" / "tls.json"
_BEGIN_TLS = "<!-- made by make services-table from tests/services/on_tls.py -->\n"
_TLS_COLUMNS = ("cpython", "micropython", "micropython32", "kit")
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


def _tls_table() -> str:
    lines = [
        "| server | CPython | MicroPython 1.29 | Debian's MicroPython, Mbed TLS 3.6.6 | kit |",
        "|---|---|---|---|---|",
    ]
    for server, row in json.loads(TLS_RESULTS.read_text(encoding="utf-8")).items():
        lines.append(f"| {server} | {' | '.join(row.get(one, '–') for one in _TLS_COLUMNS)} |")
    return "\n".join(lines) + "\n"


def page() -> str:
    """The page, with the tables of the last runs; without a run of TLS that table stays."""
    text = TARGET.read_text(encoding="utf-8")
    if RESULTS.exists():
        text = generated.replaced(text, _BEGIN, _table(), str(TARGET))
    elif not TLS_RESULTS.exists():
        raise SystemExit(f"{RESULTS} is not there: make test-services writes it")
    if TLS_RESULTS.exists():
        text = generated.replaced(text, _BEGIN_TLS, _tls_table(), str(TARGET))
    return text


if __name__ == "__main__":
    sys.exit(generated.main(TARGET, page, __doc__))
