"""The heap of a chip that serves its page: the smallest in which every view is shown."""

from __future__ import annotations

import hashlib
import http.client
import json
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass

from tests.bench import heap
from tests.bench.agent import HEARTBEAT, Agent, agent, readings
from tests.bench.rows import Row

_SESSION, _TOKEN = "s" * 48, "t" * 48
_HASH = hashlib.sha256(f"{_SESSION} {_TOKEN}".encode()).hexdigest()
_LIMIT_S = 60.0
_BUDGET_KB = 96
#: Items with every kind of clause, for the check of the editor.
_ITEMS = """# Heartbeat
You look after one room.

- (every 1s; when room.temperature > 30 reset 28; notify) It is {room.temperature} in the room.
- (daily 07:30) Say: good morning.
"""
#: The version of the file of the agent.
_VERSION = hashlib.sha256(HEARTBEAT.encode()).hexdigest()[:32]

#: The run log of a day.
_RUNS = "".join(
    f'{{"t":{1790000000 + 60 * number},"due":{1790000000 + 60 * number},"k":"1f3a9c","n":4,'
    f'"r":"{"ran" if number % 5 else "skipped"}","why":"no condition met (1 checked)","ms":12}}\n'
    for number in range(200)
)


@dataclass(frozen=True)
class View:
    """A request of a view or of one of its buttons, and a text of the right answer."""

    name: str
    method: str
    path: str
    expects: str
    body: dict[str, object] | None = None


VIEWS = (
    View("now", "GET", "/now", '"room.humidity"'),
    View("chat", "GET", "/chat", '"messages"'),
    View("events", "GET", "/events", "retry: "),
    View("heartbeat", "GET", "/heartbeat", "Far too hot."),
    View("plots", "GET", "/readings?hours=24", '"room.humidity"'),
    View("csv", "GET", "/readings.csv?hours=24", "room.humidity"),
    View("log", "GET", "/log", "no condition met"),
    View("settings", "GET", "/settings", '"web.enabled"'),
    View("update", "GET", "/update", '"board_version"'),
)
ACTIONS = (
    View("check", "POST", "/heartbeat/check", '"problems": []', {"text": _ITEMS}),
    View("why", "POST", "/alarms", "last told", {"action": "why", "id": "line 1"}),
    View("mute", "POST", "/alarms", "Muted", {"action": "mute", "id": "line 1", "duration": "1h"}),
    View("unmute", "POST", "/alarms", "Not muted", {"action": "unmute", "id": "line 1"}),
    View("run", "POST", "/tasks/run", "Running", {"line": 1}),
    View("say", "POST", "/chat", "say: hello page", {"text": "say: hello page"}),
    View("save", "PUT", "/heartbeat", "Far too hot.", {"text": HEARTBEAT, "version": _VERSION}),
)
#: The last one: it restarts the board.
SET = View("set", "PATCH", "/settings", '"running": true', {"changes": {"name": "cellar"}})


class Page:
    """The page of a running agent, for a browser that is paired."""

    def __init__(self, running: Agent, port: int) -> None:
        self.running = running
        self.port = port

    def ask(self, view: View) -> None:
        """Send a request, again while the agent is at work; Died unless the answer is right."""
        end = time.monotonic() + _LIMIT_S
        while True:
            status, data = self._once(view.method, view.path, view.body)
            if status != 503 or time.monotonic() > end or b"memory" in data:
                break
            time.sleep(0.1)  # as a browser that comes again
        text = data.decode(errors="replace")
        if status not in (200, 202) or view.expects not in text or not _is_whole(text):
            raise heap.Died(f"{view}: {status} {text[:200]!r}; {self.running.last()}")

    def _once(self, method: str, path: str, body: dict[str, object] | None) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=_LIMIT_S)
        headers = {
            "Cookie": f"tenner_session={_SESSION}",
            "X-Tenner-Token": _TOKEN,
            "Content-Type": "application/json",
            "Accept-Encoding": "gzip",
        }
        text = json.dumps(body) if body is not None else None
        try:
            connection.request(method, f"/api/v1{path}", text, headers)
            answer = connection.getresponse()
            return answer.status, answer.read()
        except (OSError, http.client.HTTPException) as exc:
            raise heap.Died(f"{method} {path}: {exc!r}; {self.running.last()}") from exc
        finally:
            connection.close()


def _is_whole(text: str) -> bool:
    """Is it whole, if it is JSON? An answer breaks off when memory runs short."""
    if not text.startswith("{"):
        return bool(text)
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def with_page(heap_kb: int, work: Callable[[Page], None]) -> None:
    """Call `work` with the page of an agent in a heap of so many KB."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    files = {
        "state/browsers.json": json.dumps([_HASH]).encode(),
        "state/readings.0": readings(("room.temperature", "room.humidity")),
    }
    settings: dict[str, object] = {"web": {"enabled": True, "port": port}}
    with agent(heap_kb, settings=settings, files=files) as running:
        running.wait_line("is open")
        running.wait_line(": 1 tasks", unless="OutOfMemory")
        running.idle()
        (running.root / "state" / "runs.jsonl").write_text(_RUNS)
        work(Page(running, port))


def shown(heap_kb: int, *wanted: View) -> None:
    """Each of the views twice; Died when one does not fit."""

    def work(page: Page) -> None:
        for view in wanted * 2:
            page.ask(view)

    with_page(heap_kb, work)


def _all(heap_kb: int) -> None:
    """All views and actions, and a turn behind them."""

    def work(page: Page) -> None:
        for view in (*VIEWS, *ACTIONS):
            page.ask(view)
        page.running.ask(heap.QUESTION, heap.IN_ANSWER)
        page.ask(VIEWS[0])
        page.ask(SET)

    with_page(heap_kb, work)


def _set(heap_kb: int) -> None:
    with_page(heap_kb, lambda page: page.ask(SET))


def _row(view: View, work: Callable[[int], None] | None = None) -> Row:
    what = f"{view.method} {view.path}"

    def measure() -> float:
        return heap.smallest_kb(work or (lambda heap_kb: shown(heap_kb, view)))

    return Row(f"heap.page.{view.name}.min_kb", what, "KB", measure, _BUDGET_KB)


ROWS = [
    Row(
        "heap.page.min_kb",
        "every view and action of a chip's page, and a turn",
        "KB",
        lambda: heap.smallest_kb(_all),
        _BUDGET_KB,
    ),
    *(_row(view) for view in (*VIEWS, *ACTIONS)),
    _row(SET, _set),
]
