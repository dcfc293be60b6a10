"""Heap of an update over the network: the smallest in which a release is received, verified and
switched to."""

from __future__ import annotations

from tenner_host.release import keys
from tenner_sim.services import OWNER
from tests.bench import heap
from tests.host.releases import Server, code, public, release

_VERSION = "9.0.0"


def one_update(heap_kb: int) -> None:
    """An update to the same code with another version; Died when it does not fit."""
    with Server(release(code(_VERSION), _VERSION)) as server:
        with heap.agent(heap_kb, settings={"update": {"url": server.url}}) as running:
            (running.root / keys.ON_BOARD.lstrip("/")).write_bytes(public())
            running.idle()
            running.services.telegram.say(OWNER, f"/update {_VERSION}")
            running.wait_line(f"{_VERSION} is in place: restarting")


def min_kb() -> float:
    return heap.smallest_kb(one_update)
