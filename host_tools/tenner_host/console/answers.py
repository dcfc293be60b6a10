"""The agent's answers as the documents of `--json` (tenner_host/json_shapes.py)."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any

from tenner_host.console.console import LOG_LINE
from tenner_host.errors import CommandError
from tenner_host.output import iso

_TOO_OLD = "the board's code is older than this program: run `tenner sync`"
#: By the name in the run log and in the answers of the agent.
_DETAILS = {"why": "reason", "sent": "sent", "tokens": "tokens", "ms": "duration_ms"}
_TASK = {
    "next_s": "next_in_s",
    "last_run": "last_run_at",
    "waits": "waits",
    "condition": "condition",
    "value": "value",
    "old_s": "value_age_s",
    "state": "state",
    "alarm": "alarm",
    "told": "told_at",
}


#: How the agent begins an answer that refuses a command; a board with a name puts it before.
_REFUSED = re.compile(
    r"There is no command /|/\w+ is not available here|expected: ack ID|"
    r"(?:[^:;]*: )?(?:There is no alarm |Nothing to acknowledge|\".*\" is no duration)"
)


def refusal(lines: list[str]) -> str:
    """The agent's reason to refuse a command, or ""."""
    text = " ".join(lines)
    return text if _REFUSED.match(text) else ""


def entries(lines: Iterable[str]) -> Iterator[dict[str, Any]]:
    """The objects among these lines; the last one of a power cut is none."""
    for line in lines:
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if isinstance(entry, dict):
            yield entry


def _parsed(lines: list[str]) -> list[dict[str, Any]]:
    """The objects of an answer; CommandError with its text if the agent has not understood the
    question."""
    found = list(entries(lines))
    if not found:
        said = " ".join(lines) or "nothing"
        raise CommandError(f"the agent answered {said!r}, which isn't JSON: try `tenner sync`")
    return found


def _time(text: str | None) -> str | None:
    if text and datetime.fromisoformat(text).tzinfo is None:
        raise CommandError(_TOO_OLD)
    return text


def status(lines: list[str]) -> dict[str, Any]:
    if lines and lines[0].startswith("tenner "):
        raise CommandError(_TOO_OLD)
    return _parsed(lines)[0]


def tasks(lines: list[str]) -> list[dict[str, Any]]:
    found = []
    for one in _parsed(lines) if lines != ["[]"] else ():
        task = {"line": one["line"], "text": one["text"], "done": bool(one.get("done"))}
        task |= {name: one.get(own) for own, name in _TASK.items()}
        task |= {name: _time(task[name]) for name in ("last_run_at", "told_at")}
        found.append(task)
    return found


def why(lines: list[str]) -> dict[str, Any]:
    *decisions, last = _parsed(lines)
    found = [
        {
            "task": one["task"],
            "at": _time(one["at"]),
            "result": one["result"],
            **_details(one),
            "times": one["times"],
            "since": _time(one["since"]),
        }
        for one in decisions
    ]
    return {"decisions": found, "next_in_s": last["next_s"]}


def _details(one: dict[str, Any]) -> dict[str, Any]:
    found = {name: one.get(own) for own, name in _DETAILS.items()}
    return {**found, "tokens_estimated": bool(one.get("est"))}


def heartbeat_now(text: str) -> dict[str, Any]:
    """Of the answer to `/trigger`: a line for each condition, and the outcome."""
    *before, outcome = text.splitlines()
    found = [match for line in before if (match := re.match(r"line (\d+): (.*)", line))]
    return {
        "conditions": [{"line": int(one[1]), "text": one[2]} for one in found],
        "outcome": outcome.removeprefix("heartbeat: "),
    }


def run(entry: dict[str, Any]) -> dict[str, Any]:
    """Of a line of the run log (firmware/tenner/schedule/saved_state.py)."""
    at = entry.get("t")
    return {
        "at": iso(at),
        "uptime_s": None if at else entry.get("up"),
        "due_at": iso(entry.get("due")) if at else None,
        "task": entry.get("k"),
        "job": entry.get("job"),
        "line": entry.get("n"),
        "result": str(entry.get("r", "?")),
        **_details(entry),
    }


def log_line(line: str) -> dict[str, Any]:
    """Of a line of the live log, received now."""
    found = LOG_LINE.match(line)
    when, area, text = found.groups() if found else ("", None, line)
    is_uptime = when.startswith("+")
    return {
        "received_at": iso(time.time()),
        "board_time": None if is_uptime else when or None,
        "uptime_s": float(when[1:-1]) if is_uptime else None,
        "area": area,
        "text": text,
    }
