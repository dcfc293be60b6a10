"""The heap of a chip that serves its page: the smallest in which every view is shown."""

from __future__ import annotations

import hashlib
import http.client
import json
import socket
import time
from collections.abc import Callable

from tests.bench import heap
from tests.bench.agent import Agent, agent, readings

_SESSION, _TOKEN = "s" * 48, "t" * 48
_HASH = hashlib.sha256(f"{_SESSION} {_TOKEN}".encode()).hexdigest()
_LIMIT_S = 60.0
_HEARTBEAT = """# Heartbeat
You look after one room.

- (every 1s; when room.temperature > 30 reset 28; notify) It is {room.temperature} in the room.
- (daily 07:30) Say: good morning.
"""

#: The requests of the views.
VIEWS: list[tuple[str, str, dict[str, object] | None]] = [
    ("GET", "/session", None),
    ("GET", "/now", None),
    ("GET", "/chat", None),
    ("GET", "/events", None),
    ("GET", "/heartbeat", None),
    ("POST", "/heartbeat/check", {"text": _HEARTBEAT}),
    ("GET", "/readings?hours=24", None),
    ("GET", "/log", None),
    ("GET", "/settings", None),
    ("GET", "/update", None),
]


class Page:
    """The page of a running agent, for a browser that is paired."""

    def __init__(self, running: Agent, port: int) -> None:
        self.running = running
        self.port = port

    def ask(self, method: str, path: str, body: dict[str, object] | None = None) -> bytes:
        """The answer to a request; Died unless it comes whole, with success."""
        end = time.monotonic() + _LIMIT_S
        while True:
            status, data = self._once(method, path, body)
            if status != 503 or time.monotonic() > end or b"memory" in data:
                break
            time.sleep(0.1)  # as a browser that comes again
        if status != 200:
            raise heap.Died(f"{method} {path}: {status} {data[:100]!r}; {self.running.last()}")
        return data

    def _once(self, method: str, path: str, body: dict[str, object] | None) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=_LIMIT_S)
        headers = {
            "Cookie": f"tenner_session={_SESSION}",
            "X-Tenner-Token": _TOKEN,
            "Content-Type": "application/json",
            "Accept-Encoding": "gzip",
        }
        url = path if path.startswith("//") else f"/api/v1{path}"
        try:
            connection.request(
                method,
                url.removeprefix("/") if url[:2] == "//" else url,
                json.dumps(body) if body is not None else None,
                headers,
            )
            answer = connection.getresponse()
            return answer.status, answer.read()
        except (OSError, http.client.HTTPException) as exc:
            raise heap.Died(f"{method} {path}: {exc!r}; {self.running.last()}") from exc
        finally:
            connection.close()


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
    with agent(heap_kb, settings=settings, files=files, heartbeat=_HEARTBEAT) as running:
        running.wait_line("is open")
        running.idle()
        work(Page(running, port))


def views(heap_kb: int) -> None:
    """All views of the page, and a turn behind them; Died when one does not fit."""

    def work(page: Page) -> None:
        page.ask("GET", "//")
        for view in VIEWS:
            page.ask(*view)
        page.running.ask(heap.QUESTION, heap.IN_ANSWER)
        page.ask("GET", "/now")

    with_page(heap_kb, work)


def min_kb() -> float:
    """The smallest heap for all views, and a turn behind them."""
    return heap.smallest_kb(views)
