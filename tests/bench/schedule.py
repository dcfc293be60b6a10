"""The cost of a day of the heartbeat: model calls and the bytes of their requests, by the
firmware's own code."""

from __future__ import annotations

import functools
import json
import subprocess
import tempfile
from pathlib import Path

from tenner_host import FIRMWARE, build, interpreters
from tenner_sim.services import API_KEY, MODEL
from tests.bench.code import CHIP
from tests.bench.rows import NotMeasured

#: Three conditions, evaluated every ten minutes; the first holds while the room is warm, and fires
#: once.
CONDITIONS = (
    "# Heartbeat\n"
    "- (every 10m; when room.temperature > 30 reset 28) Too warm: say what to do.\n"
    "- (every 10m; when room.temperature < 5) Frost: warn me.\n"
    "- (every 10m; when room.temperature outside 0..60) Check the sensor's wiring.\n"
)
#: Ten tasks without a bracket: all of them on every beat, which is every half hour.
TEN_TASKS = "# Heartbeat\n" + "".join(
    f"- Compare sensor {number} with yesterday and tell me if it drifts.\n" for number in range(1, 11)  # noqa: E501
)  # fmt: skip
NEVER, NOON = 24, 12


@functools.cache
def day(heartbeat: str | None, warm_from_h: int = NEVER) -> tuple[int, int]:
    """(model calls, bytes of their bodies) of a day with this HEARTBEAT.md; None: the template."""
    # Sources, since day.py uses the original names.
    tree = build.firmware_tree("VIRTUAL", mpy=False)
    template = (FIRMWARE / "workspace" / "HEARTBEAT.md").read_bytes()
    tree["/workspace/HEARTBEAT.md"] = template if heartbeat is None else heartbeat.encode()
    tree["/workspace/SENSORS.json"] = b'{"room":{"driver":"tmp102","bus":"i2c0","address":"0x48"}}'
    # The one question for a rule that each line gets is no part of a day.
    config = {"llm": {"api_key": API_KEY, "model": MODEL}, "heartbeat": {"prose": "ask"}}
    tree["/config.json"] = json.dumps(config).encode()
    try:
        found = interpreters.find_micropython()
    except interpreters.InterpreterMissing as exc:
        raise NotMeasured(str(exc)) from exc
    with tempfile.TemporaryDirectory() as folder:
        build.write_tree(tree, Path(folder))
        done = subprocess.run(
            found.command(CHIP / "day.py", CHIP, folder, str(warm_from_h), heap="8M"),
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
    words = (done.stdout.splitlines() or [""])[-1].split()
    if done.returncode or words[:1] != ["day"]:
        last = (done.stderr or done.stdout).strip().splitlines()[-1:] or ["no output"]
        raise NotMeasured(f"the day ended early: {last[0]}")
    return int(words[1]), int(words[2])


def idle_day_model_calls() -> float:
    """Model calls of a day with three tasks with conditions of which none is ever true."""
    return day(CONDITIONS)[0]


def template_bytes() -> float:
    """Request bytes of a day with the HEARTBEAT.md a board comes with."""
    return day(None)[1]


def condition_bytes() -> float:
    """Request bytes of a day with three tasks with conditions, one of them true from noon on."""
    return day(CONDITIONS, NOON)[1]


def ten_tasks_bytes() -> float:
    """Request bytes of a day with ten tasks on every beat, 48 beats."""
    return day(TEN_TASKS)[1]
