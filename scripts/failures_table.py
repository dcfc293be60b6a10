"""Write or check the table of failures in docs/llm.md, generated from tests/llm_failures.json by
the firmware itself."""

from __future__ import annotations

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from scripts import generated
from tenner_host import ROOT

TARGET = ROOT / "docs" / "llm.md"
_BEGIN = "<!-- made by scripts/failures_table.py from tests/llm_failures.json -->\n"


def _table() -> str:
    # The firmware is no part of the host's tools: import it as its tests do.
    for folder in ("firmware", "tests"):
        sys.path.insert(0, str(ROOT / folder))
    import test_llm_failures  # type: ignore[import-not-found]

    lines = [
        "| from | status | message: sentence (the server's words); advice | kind | asked again |",
        "|---|---|---|---|---|",
    ]
    for line in (ROOT / "tests" / "llm_failures.json").read_text(encoding="utf-8").splitlines():
        if len(line) > len("["):
            row = json.loads(line.rstrip(","))
            error = test_llm_failures.failed(row)
            text = str(error).replace("|", "\\|").replace("<", "&lt;")
            cells = (row["by"], row.get("status", "–"), text, f"`{error.kind}`", row["retry"])
            lines.append("| " + " | ".join(str(cell) for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def page() -> str:
    """The page, with its table renewed."""
    return generated.with_block(TARGET, _BEGIN, _table())


if __name__ == "__main__":
    sys.exit(generated.main(TARGET, page, __doc__))
