"""The order of an update of several boards: one, then a few at a time, until one fails."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

from tenner_host.remote.known import Known
from tenner_host.update.one import End, Result


def run(
    boards: Sequence[Known],
    update: Callable[[Known], Result],
    at_once: int,
    stopped: threading.Event,
) -> list[Result]:
    """
    Return the result of `update` for each board. The first one is alone; after it is healthy,
    `at_once` boards are updated at a time. A board that goes back, refuses or falls silent is the
    last one that is begun; one that was away from the start is passed over. `stopped` is set when
    the running updates are to end.
    """
    found: dict[str, Result] = {}
    waiting = list(boards)
    width = 1
    running: dict[Future[Result], Known] = {}
    with ThreadPoolExecutor(at_once) as pool:
        try:
            while waiting or running:
                while waiting and len(running) < width:
                    known = waiting.pop(0)
                    running[pool.submit(update, known)] = known
                ready, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in ready:
                    known = running.pop(future)
                    result = found[known.device] = future.result()
                    if result.end.is_good:
                        width = at_once
                    elif result.end.is_bad:
                        waiting.clear()
        except BaseException:
            # Also Ctrl-C: the pool waits for its threads.
            stopped.set()
            raise
    return [found.get(one.device) or Result(one.label, End.UNTOUCHED) for one in boards]
