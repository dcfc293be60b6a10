"""Which cases of the services are run, and the table of what passes."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from host_tools import ROOT

#: On every interpreter; what differs between providers is the server's part, so the others run on CPython.
EVERYWHERE = {"provider": ("openai", "anthropic"), "aimock": (1,)}
RESULTS = ROOT / "build" / "services.json"
#: (service, what of it): {outcome: how many cases}
_found: dict[tuple[str, str], Counter[str]] = {}


def _is_wanted(item: pytest.Item) -> bool:
    params = getattr(item, "callspec", None)
    values = params.params if params else {}
    if values.get("python", "cpython") == "cpython":
        return True
    return all(values.get(name, wanted[0]) in wanted for name, wanted in EVERYWHERE.items())


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    left = [item for item in items if not _is_wanted(item)]
    if left:
        config.hook.pytest_deselected(items=left)
        items[:] = [item for item in items if _is_wanted(item)]


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.when == "call" or (report.when == "setup" and report.outcome != "passed"):
        path, _, name = report.nodeid.partition("::")
        service = name.removeprefix("test_").split("_")[0]
        key = (Path(path).stem.removeprefix("on_"), service)
        _found.setdefault(key, Counter())[report.outcome] += 1


def pytest_sessionfinish(session: pytest.Session) -> None:
    if _found:
        RESULTS.parent.mkdir(exist_ok=True)
        rows = [
            {"area": area, "service": service, **counts}
            for (area, service), counts in sorted(_found.items())
        ]
        RESULTS.write_text(json.dumps(rows, indent=1) + "\n")
