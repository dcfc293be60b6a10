"""Which cases of the services are run, and the table of passes."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from tenner_host import ROOT
from tests.services.agent import INTERPRETERS

#: On every interpreter; providers differ only in the server's part, so the others run on CPython.
EVERYWHERE = {"provider": ("openai", "anthropic"), "aimock": (1,)}
HERE = Path(__file__).parent
RESULTS = ROOT / "build" / "services.json"
#: (service, interpreter): {outcome: how many cases}
_found: dict[tuple[str, str], Counter[str]] = {}


def _is_wanted(item: pytest.Item, interpreter: str) -> bool:
    params = getattr(item, "callspec", None)
    values = params.params if params else {}
    # By this name the other tests are told apart.
    item.interpreter = values.get("python", values.get("agent"))  # type: ignore[attr-defined]
    if interpreter not in ("all", item.interpreter):  # type: ignore[attr-defined]
        return False
    if values.get("python", "cpython") == "cpython":
        return True
    return all(values.get(name, wanted[0]) in wanted for name, wanted in EVERYWHERE.items())


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    interpreter = config.getoption("--interpreter")
    # pytest calls this for the tests of every folder of the session.
    here = [item for item in items if item.path.parent == HERE]
    left = [item for item in here if not _is_wanted(item, interpreter)]
    if left:
        config.hook.pytest_deselected(items=left)
        items[:] = [item for item in items if item not in left]


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if not report.nodeid.startswith("tests/services/"):
        return
    if report.when == "call" or (report.when == "setup" and report.outcome != "passed"):
        name, _, params = report.nodeid.partition("::")[2].partition("[")
        service = name.removeprefix("test_").split("_")[0]
        if service == "tls":
            return  # it has a table of its own
        words = params.rstrip("]").split("-")
        interpreter = next((one for one in INTERPRETERS if one in words), INTERPRETERS[0])
        _found.setdefault((service, interpreter), Counter())[report.outcome] += 1


def pytest_sessionfinish(session: pytest.Session) -> None:
    if _found:
        RESULTS.parent.mkdir(exist_ok=True)
        # Other rows stay unchanged: a full run takes minutes, and may be run in parts.
        before = json.loads(RESULTS.read_text()) if RESULTS.exists() else []
        rows = {(row["service"], row["interpreter"]): row for row in before}
        for key, counts in _found.items():
            rows[key] = {"service": key[0], "interpreter": key[1], **counts}
        RESULTS.write_text(json.dumps([rows[key] for key in sorted(rows)], indent=1) + "\n")
