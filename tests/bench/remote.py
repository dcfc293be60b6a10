"""Heap of the requests of an owner's computer, over a real mosquitto and over HTTP: files,
settings, answers, updates."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from hashlib import sha256
from pathlib import Path

from tenner_host.errors import CommandError
from tenner_host.release import keys
from tenner_host.remote import known
from tenner_host.remote.link import PIECE, Link
from tenner_host.update.server import ReleaseServer
from tests.bench import heap
from tests.bench.agent import Agent, Died, agent
from tests.bench.mqtt import broker, wait_text
from tests.host.releases import code, public, release
from tests.host.remote_board import KEY, own_key
from tests.ports import free_port

#: machine.unique_id() of tests/bench/chip.
_DEVICE = "240ac4000001"
_BODY = b"0123456789abcdef" * 256


@contextmanager
def board(heap_kb: int, debug: bool = False) -> Iterator[tuple[Agent, Link]]:
    """An agent at a broker, and the computer's link to it."""
    with broker() as (port, log):
        mqtt = {"host": "127.0.0.1", "port": port, "tls": False, "topic": "attic"}
        with _reached(heap_kb, debug, {"mqtt": mqtt}, known.MQTT) as (running, link):
            # Not the line "connected": a message before the subscription would be lost.
            wait_text(log, "Sending SUBACK to attic")
            yield running, link


@contextmanager
def page(heap_kb: int, debug: bool = False) -> Iterator[tuple[Agent, Link]]:
    """An agent with its page, and the computer's link to it."""
    settings: dict[str, object] = {"name": "attic", "web": {"enabled": True, "port": free_port()}}
    with _reached(heap_kb, debug, settings, known.LAN) as (running, link):
        running.wait_line("takes sealed requests")
        yield running, link


@contextmanager
def _reached(
    heap_kb: int, debug: bool, settings: dict[str, object], scheme: str
) -> Iterator[tuple[Agent, Link]]:
    with own_computer():
        on_board = {known.ON_BOARD: KEY.encode()}
        known.learn(_DEVICE, on_board, settings, [], "127.0.0.1")
        link = Link(known.find("attic", None, scheme), scheme)
        files = {**on_board, keys.ON_BOARD: public()}
        with agent(heap_kb, settings=settings, files=files, debug=debug) as running:
            try:
                yield running, link
            except CommandError as exc:
                raise Died(f"{exc.message}; {running.last()}") from exc
            finally:
                link.close()


@contextmanager
def own_computer() -> Iterator[None]:
    """A folder for the owner's keys and boards."""
    with tempfile.TemporaryDirectory() as folder:
        before = os.environ.get("TENNER_CONFIG")
        os.environ["TENNER_CONFIG"] = folder
        try:
            own_key(Path(folder))
            yield
        finally:
            if before is None:
                del os.environ["TENNER_CONFIG"]
            else:
                os.environ["TENNER_CONFIG"] = before


def requests(link: Link) -> None:
    """Requests for files and settings, of each kind; Died when one goes wrong."""
    limit_s = 30.0
    link.open(limit_s)
    link.ask("info", limit_s=limit_s)
    link.ask("list", roots=["/workspace", "/state"], limit_s=limit_s)
    for path in ("/workspace/a.md", "/config.json"):
        body = _BODY
        if path == "/config.json":
            found = json.loads(link.ask("read", path=path, at=0, limit_s=limit_s)[1])
            body = json.dumps({**found, "name": "attic"}).encode()
        for at in range(0, len(body), PIECE):
            piece = body[at : at + PIECE]
            link.ask("write", piece, path=path, at=at, size=len(body), limit_s=limit_s)
        link.ask("commit", path=path, sha256=sha256(body).hexdigest(), old="*", limit_s=limit_s)
        if link.ask("read", path=path, at=0, limit_s=limit_s)[1] != body:
            raise Died(f"{path} came back changed")


def commands(link: Link) -> None:
    """The agent's answers to commands; Died without one."""
    for command in ("/status", "/why", "/heartbeat"):
        if not link.ask("say", text=command)[1]:
            raise Died(f"no answer to {command}")


def one_update(running: Agent, link: Link) -> None:
    """An update that this computer serves, up to the restart into the trial."""
    with ReleaseServer(release(code("9.0.0"), "9.0.0"), "127.0.0.1") as server:
        begin_update(link, server)
        running.wait_line("9.0.0 is in place: restarting", unless="No update")


def begin_update(link: Link, server: ReleaseServer) -> None:
    """Tell a board of a release."""
    link.ask(
        "update",
        server.certificate,
        limit_s=30.0,
        version="9.0.0",
        address="127.0.0.1",
        port=server.port,
        path=server.path(),
    )


#: A way to a board in a heap of so many KB.
Reach = Callable[[int], AbstractContextManager[tuple[Agent, Link]]]


def _smallest_for_update(reach: Reach) -> float:
    def fits(heap_kb: int) -> None:
        with reach(heap_kb) as (running, link):
            running.idle()
            one_update(running, link)

    return heap.smallest_kb(fits)


def _smallest_for_requests(reach: Reach) -> float:
    def fits(heap_kb: int) -> None:
        with reach(heap_kb) as (_, link):
            requests(link)
            commands(link)

    return heap.smallest_kb(fits)


def update_min_kb() -> float:
    return _smallest_for_update(board)


def update_lan_min_kb() -> float:
    return _smallest_for_update(page)


def min_kb() -> float:
    return _smallest_for_requests(board)


def lan_min_kb() -> float:
    return _smallest_for_requests(page)
