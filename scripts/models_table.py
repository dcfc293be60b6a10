"""Write or check the table of strict models in docs/services.md: the firmware itself talks to the
stand-ins of tests/strict_servers.py."""

from __future__ import annotations

import contextlib
import io
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from scripts import generated
from tenner_host import ROOT

TARGET = ROOT / "docs" / "services.md"
_BEGIN = "<!-- made by scripts/models_table.py from tests/strict_servers.py -->\n"


def _table() -> str:
    # The firmware is no part of the host's tools: import it as its tests do.
    for folder in ("firmware", "tests"):
        sys.path.insert(0, str(ROOT / folder))
    import test_llm_tails  # type: ignore[import-not-found]

    lines = [
        "| server | refuses | modelled from | three turns | retries |",
        "|---|---|---|---|---|",
    ]
    case = test_llm_tails.TestThreeTurns()
    with contextlib.redirect_stdout(io.StringIO()):
        for kind in test_llm_tails.SERVERS:
            server = kind()
            answers = test_llm_tails.three_turns(case, server)
            worked = f"{answers.count('ok')} of {len(answers)}"
            cells = (kind.title, kind.refuses, kind.source, worked, str(len(server.refused)))
            lines.append(f"| {' | '.join(cells)} |")
        case.doCleanups()
    return "\n".join(lines) + "\n"


def page() -> str:
    """The page, with its table renewed."""
    return generated.with_block(TARGET, _BEGIN, _table())


if __name__ == "__main__":
    sys.exit(generated.main(TARGET, page, __doc__))
