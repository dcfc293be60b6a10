"""One background thread with one asyncio loop, shared by all services of a process."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from tenner_sim import LIMIT_S

_T = TypeVar("_T")


class LoopThread:
    """Run coroutines in a separate thread; `stop` ends every task and joins the thread."""

    def __init__(self, name: str = "local-services") -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._main, name=name, daemon=True)

    @property
    def running(self) -> bool:
        return self._thread.is_alive()

    def start(self) -> None:
        """Start the thread; a stopped one does not start again."""
        self._thread.start()

    def run(self, coroutine: Coroutine[Any, Any, _T], timeout_s: float = LIMIT_S) -> _T:
        """Run a coroutine in the loop and return its result."""
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(timeout_s)

    def call(self, function: Callable[[], object]) -> None:
        """Schedule a call of a function in the loop; do nothing if the loop does not run."""
        if self.running:
            self._loop.call_soon_threadsafe(function)

    def stop(self) -> None:
        """Cancel all running tasks, close the loop, join the thread. Safe to call twice."""
        if not self.running:
            return
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def _main(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_forever()
            tasks = asyncio.all_tasks(self._loop)
            for task in tasks:
                task.cancel()
            self._loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        finally:
            self._loop.close()
