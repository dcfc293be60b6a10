"""Write or check the tables of docs/memory.md: the budget of chips by boards/memory.tsv and
boards/chains.tsv, and the sentences of failures by the firmware itself."""

from __future__ import annotations

import contextlib
import io
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from scripts import generated
from tenner_host import ROOT, budget

TARGET = ROOT / "docs" / "memory.md"
_BUDGET = (
    "<!-- made by scripts/memory_tables.py from boards/memory.tsv and boards/chains.tsv -->\n"
)
_FAULTS = "<!-- made by scripts/memory_tables.py from tests/tls_causes.py: certificates -->\n"
_SHORTAGES = "<!-- made by scripts/memory_tables.py from tests/tls_causes.py: memory -->\n"


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(row)} |\n" for row in lines).replace("|  |", "| |")


def _kb(size: float) -> str:
    return f"{size / 1024:.1f} KB"


def _budgets() -> str:
    chains = budget.chains().values()
    first = _table(
        ["chain of the server", "bytes", "held by the session", "peak of the handshake"],
        [[one.like, f"{one.sent:,}", _kb(one.held), _kb(one.peak)] for one in chains],
    )
    chips = list(budget.chips().values())
    telegram, small = budget.chains()[budget.DEFAULT], budget.chains()["ecdsa"]
    rows = [
        ["Python's heap at the start, and the free rest"]
        + [f"{one.start_kb} + {one.rest_kb} KB" for one in chips],
        ["Wi-Fi, connected", *(f"{one.wifi_kb} KB" for one in chips)],
        ["reserve for a busy network", *(f"{budget.RESERVE_KB} KB" for _ in chips)],
    ]
    for name, chain in (("Telegram's chain", telegram), ("an ECDSA chain", small)):
        left = [one.left_kb(chain.peak) for one in chips]
        rows.append([f"left for Python beside {name}", *(f"{size:.0f} KB" for size in left)])
        missing = [one.missing_kb(chain.peak) for one in chips]
        rows.append(
            [f"of that to spare, {budget.GOAL_KB} KB are the goal"]
            + [
                f"{size - budget.TURN_KB:.0f} KB" + (": too little" if short else "")
                for size, short in zip(left, missing, strict=True)
            ]
        )
    rows.append(["figures", *(one.source for one in chips)])
    head = ["a turn with a tool needs " + f"{budget.TURN_KB} KB", *(one.title for one in chips)]
    return first + "\n" + _table(head, rows)


def _causes() -> tuple[str, str]:
    # The firmware is no part of the host's tools: import it as its tests do.
    for folder in ("firmware", "tests"):
        sys.path.insert(0, str(ROOT / folder))
    import tls_causes  # type: ignore[import-not-found]

    def test(name: str) -> str:
        file, _, what = name.partition("::")
        return f"[{what}](../tests/{file})"

    with contextlib.redirect_stdout(io.StringIO()):
        faults = [
            [cause, tls_causes.explained(error), test(name)]
            for cause, error, name in tls_causes.FAULTS
        ]
        shortages = [
            [cause, place, sentence(), test(name)]
            for cause, place, sentence, name in tls_causes.SHORTAGES
        ]
    return (
        _table(["cause", "sentence", "test"], faults),
        _table(["cause", "where", "sentence", "test"], shortages),
    )


def page() -> str:
    """The page, with its tables renewed."""
    faults, shortages = _causes()
    text = generated.with_block(TARGET, _BUDGET, _budgets())
    text = generated.replaced(text, _FAULTS, faults, TARGET.name)
    return generated.replaced(text, _SHORTAGES, shortages, TARGET.name)


if __name__ == "__main__":
    sys.exit(generated.main(TARGET, page, __doc__))
