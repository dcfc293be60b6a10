# tenner status_lines: the answer to /status.
# MIT license; Copyright (c) 2026 the tenner authors

import sys

from tenner import __version__, failures
from tenner.port.compat import const

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from tenner.app import App


_GOAL = const(4096)  # bytes


def lines(app: "App", waiting: int) -> "Iterator[str]":
    """Yield the lines of /status; `waiting` is the number of unsent messages."""
    free, used = app.port.memory()
    up_s = app.clock.mono_s()
    yield "tenner %s, %s %s" % (
        __version__,
        sys.implementation.name,
        ".".join(str(n) for n in sys.implementation.version[:3]),
    )
    yield "up %d h %d min, heap %d KB free, %d KB used" % (
        up_s // 3600,
        up_s // 60 % 60,
        free // 1024,
        used // 1024,
    )
    system = app.port.system_memory()
    if system:
        yield "for Wi-Fi and TLS: %d KB free, %d KB of it in one block, %d KB at the least" % (
            system[0] // 1024,
            system[1] // 1024,
            system[2] // 1024,
        )
        why = app.get("semaphore").why()
        if not why and system[2] < _GOAL and app.port.shares_memory:
            why = (
                "only %d KB were left at the worst moment, in place of %d: connections may fail"
                % (
                    system[2] // 1024,
                    _GOAL // 1024,
                )
            )
        if why:
            yield "memory: " + why
    yield "network %s, clock %s" % (
        "up" if app.port.network_up() else "down",
        app.now_text(),
    )
    if app.telegram is not None:
        yield "telegram: " + app.telegram.status
    yield "outbox: %d waiting" % waiting
    for sentence in failures.sentences():
        yield "failing: " + sentence
