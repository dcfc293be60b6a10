"""`make profile`: run the agent's work with marks, and place its code in firmware/layout.json by
the phases in which it ran. With PYTHONPATH=firmware, as `make profile` sets it:

python -m tests.bench.profile              all runs, about ten minutes; kept in build/profile.json
python -m tests.bench.profile turn page    these runs
python -m tests.bench.profile --again      no run; with the recorded ones
python -m tests.bench.profile --fresh      places all code, not only new code
python -m tests.bench.profile --tidy       no run: forget symbols that are gone, and take new
                                           ones as cold
"""

from __future__ import annotations

import copy
import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from mpy_linker import Table, bundle, layout, read_table
from mpy_linker.code_sizes import code_sizes
from mpy_linker.compare import replay, table
from mpy_linker.grouping import Moment
from mpy_linker.marks import MARKS, RUN_TIME, mark
from mpy_linker.place import (
    Layout,
    place,
    placed,
    read_layout,
    symbols_of,
    text_of,
    tidied,
)
from mpy_linker.symbols import Symbols
from tenner_host import FIRMWARE, LAYOUT, ROOT, RULES, build, interpreters
from tests.bench import agent, chip_page, heap, mqtt, remote
from tests.bench.images import Image
from tests.host import test_overlays_alive as alive

RECORDED = ROOT / "build" / "profile.json"
_TREE = build.firmware_tree
_KB = 16_000
#: After a poll has begun, the tasks that it woke are done.
_SETTLED_S = 1.0


def _requests(reach: remote.Reach) -> None:
    with reach(_KB) as (running, link):
        running.idle()
        remote.requests(link)
        remote.commands(link)
        running.idle()


def _update(reach: remote.Reach) -> None:
    with reach(_KB) as (running, link):
        running.idle()
        remote.one_update(running, link)


RUNS: dict[str, Callable[[], object]] = {
    "turn": lambda: heap.one_turn(_KB),
    "tools": lambda: heap.all_tools(_KB),
    "mcp": lambda: heap.mcp_turn(_KB),
    "approval": lambda: heap.approval_turn(_KB),
    "long_reply": lambda: heap.long_reply_turn(_KB),
    "long_message": lambda: heap.long_message_turn(_KB),
    "page": lambda: chip_page._all(_KB),
    "mqtt": lambda: mqtt.turn(_KB),
    "more_tools": alive.test_turns_with_tools,
    "photo_chat": lambda: alive.test_a_photo("chat"),
    "photo_messages": lambda: alive.test_a_photo("messages"),
    "voice": alive.test_a_voice_note,
    "history": alive.test_a_long_answer_and_a_long_history,
    "condition": alive.test_a_heartbeat_with_a_met_condition,
    "prose": alive.test_the_offer_of_a_rule_for_a_line_of_prose,
    "alarm_chart": alive.test_the_chart_of_an_alarm,
    "commands": alive.test_commands_load_their_overlays,
    "requests": lambda: _requests(remote.board),
    "requests_lan": lambda: _requests(remote.page),
    "remote_update": lambda: _update(remote.board),
    "lan_update": lambda: _update(remote.page),
    "update": alive.test_an_update_of_micropython,
    "failure": alive.test_a_model_that_fails,
    "web": alive.test_a_page_of_the_web,
    "question": alive.test_a_question_about_an_update_waits_during_a_turn,
}


def _marked_tree(board: str = "VIRTUAL", *, page: bool = False, **_: Any) -> dict[str, bytes]:
    """The files of a board with marked modules; each is one by itself, so the layout of today has
    no part in the profile."""
    tree = _TREE(board, mpy=False, page=page)
    sources = {
        f"/lib/{path}": source
        for path, source in mark(
            build.modules(), read_table(FIRMWARE / RULES).names
        ).sources.items()
    }
    sources = {path: source for path, source in sources.items() if path in tree}
    sources[f"/lib/{MARKS}.py"] = RUN_TIME.encode()
    for path, data in build.compile_modules(sources).items():
        tree.pop(path, None)
        tree[path.removesuffix(".py") + ".mpy"] = data
    return tree


def _record(name: str) -> list[list[str]]:
    """The lines of the marks in each board of a run."""
    boards: list[list[str]] = []
    image = Image("profile", interpreters.find_micropython)

    class Recorded(agent.Agent):
        def __init__(self, root: Path, services: Any, heap_kb: int, own: Image, mode: str) -> None:
            super().__init__(root, services, _KB, image, mode)

        def idle(self) -> int:
            # The marks change the heap all the time.
            self._wait(lambda timeout_s: self.services.telegram.wait_requests(1, timeout_s))
            time.sleep(_SETTLED_S)
            return 0

        def stop(self) -> None:
            super().stop()
            boards.append([line for line in self.lines if line.startswith("ran ")])

    with (
        mock.patch.object(build, "firmware_tree", _marked_tree),
        mock.patch.object(agent, "Agent", Recorded),
        # These look at the heap of a debug build.
        mock.patch.object(alive, "check"),
        mock.patch.object(alive, "looks", lambda lines: [mock.Mock(phase="REQUEST")]),
    ):
        began = time.monotonic()
        try:
            RUNS[name]()
            said = "ok"
        except (Exception, pytest.skip.Exception, pytest.fail.Exception) as exc:
            said = f"{type(exc).__name__}: {str(exc)[:300]}"
    phases = sum(len(lines) for lines in boards)
    print(f"{name}: {phases} phases, {time.monotonic() - began:.0f} s, {said}", flush=True)
    return boards


def record(wanted: Sequence[str]) -> dict[str, Any]:
    """Do these runs, or all, and keep the lines of their boards in build/profile.json."""
    names = mark(build.modules(), read_table(FIRMWARE / RULES).names).names
    runs: dict[str, list[list[str]]] = {}
    recorded = {"names": names, "runs": runs}
    for name in wanted or RUNS:
        runs[name] = _record(name)
        RECORDED.write_text(json.dumps(recorded), encoding="utf-8")
    return recorded


def moments(recorded: Mapping[str, Any]) -> Iterator[list[Moment]]:
    """Yield the moments of each board."""
    names = recorded["names"]
    for boards in recorded["runs"].values():
        for lines in boards:
            found = []
            for line in lines:
                ran, _, lives = line.partition("|")
                _, phase, *numbers = ran.split()
                found.append(
                    Moment(
                        phase,
                        frozenset(names[int(one)] for one in numbers),
                        frozenset(names[int(one)] for one in lives.split()),
                    )
                )
            yield found


def make(symbols: Symbols, rules: Table, recorded: Mapping[str, Any], fresh: bool) -> Layout:
    """The layout by a profile; not `fresh`: the one that is there, with new code."""
    sources, scripts = build.sources(FIRMWARE)
    known = read_layout(FIRMWARE / LAYOUT)
    built = bundle(sources, place(symbols, rules, known), scripts=scripts)
    sizes = code_sizes(built, sources, build.compile_modules)
    runs = list(moments(recorded))
    made = layout.make(
        copy.deepcopy(symbols), rules, sizes, runs, None if fresh or not known.homes else known
    )
    old, new = (replay(placed(symbols, rules, one), runs, sizes) for one in (known, made))
    print("\n".join(table(old, new)))
    return made


def main(argv: Sequence[str]) -> int:
    """Record, unless told otherwise, and write the layout; 1 for an unknown run."""
    wrong = [name for name in argv if name not in (*RUNS, "--again", "--fresh", "--tidy")]
    if wrong:
        print(f"profile: no run {' '.join(wrong)}; known: {' '.join(RUNS)}", file=sys.stderr)
        return 1
    rules = read_table(FIRMWARE / RULES)
    symbols = symbols_of(build.modules(), rules)
    if "--tidy" in argv:
        made = tidied(symbols, read_layout(FIRMWARE / LAYOUT))
    else:
        if "--again" in argv:
            recorded = json.loads(RECORDED.read_text(encoding="utf-8"))
        else:
            recorded = record([name for name in argv if name in RUNS])
        made = make(symbols, rules, recorded, "--fresh" in argv)
    (FIRMWARE / LAYOUT).write_text(text_of(made), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
