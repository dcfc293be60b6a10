"""A sealed session with one board, through its broker or in the network."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from tenner_host.errors import BoardSilent, CommandError
from tenner_host.release import keys
from tenner_host.remote import known as store
from tenner_host.remote.known import Known
from tenner_host.remote.lan_way import LanWay
from tenner_host.remote.mqtt_way import MqttWay
from tenner_host.remote.seal import Forged, Opening, Session
from tenner_host.remote.way import Busy, Way

#: The most content of a request that the board takes.
PIECE = 1024
#: A turn of the agent may go first.
OPEN_S = 120.0
PART_S = 60.0
#: Until a busy board is asked again, and a restarting one.
_AGAIN_S = 0.3
_END_S = 5.0


class Link:
    """Requests to a board, and its replies; `scheme` is that of the way (known.py)."""

    def __init__(self, known: Known, scheme: str = store.MQTT) -> None:
        self.known = known
        self._key = keys.load()
        self._session: Session | None = None
        #: How many messages came that the board has not sent.
        self.forged = 0
        self.way: Way = MqttWay(known) if scheme == store.MQTT else LanWay(known)

    def close(self) -> None:
        if self._session and not self.way.announces:
            # Another command may begin at once.
            with contextlib.suppress(CommandError):
                self.ask("end", limit_s=_END_S)
        self.way.close()

    def open(self, limit_s: float = OPEN_S) -> None:
        """Open a session, in place of an older one."""
        self._session = None
        deadline = time.monotonic() + limit_s
        while True:
            # Milliseconds count up, also over all computers of the owner.
            counter = time.time_ns() // 1_000_000
            opening = Opening(self.known.device, bytes.fromhex(self.known.key), self._key, counter)
            self.way.drop()
            try:
                self.way.send(opening.message)
                self._session = self._await(opening.session, limit_s)
                break
            except Busy:
                if time.monotonic() > deadline:
                    raise
                time.sleep(_AGAIN_S)
        self.way.opened()

    def ask(
        self,
        do: str,
        body: bytes = b"",
        *,
        limit_s: float = PART_S,
        progress: Callable[[int], None] | None = None,
        **arguments: Any,
    ) -> tuple[dict[str, Any], bytes]:
        """Send a request and return (its result, the body of the reply); CommandError with the
        board's sentence if it refuses."""
        if self._session is None:
            self.open()
        assert self._session is not None
        session = self._session
        content = json.dumps({"do": do, **arguments}).encode() + b"\n" + body
        frame = session.request(content)
        found = bytearray()
        part = 0
        deadline = time.monotonic() + limit_s
        self.way.send(frame)
        while True:
            try:
                data, is_last = self._await(partial(session.reply, part), limit_s)
            except Busy:
                # It has not read the frame, so the number is still the next one.
                if time.monotonic() > deadline:
                    raise
                time.sleep(_AGAIN_S)
                self.way.send(frame)
                continue
            part += 1
            if is_last:
                break
            found += data
            if progress:
                progress(len(found))
        self.way.done()
        result = json.loads(data)
        if "error" in result:
            raise CommandError(f"the board refuses: {result['error']}")
        return result, bytes(found)

    def wait_restart(self, limit_s: float) -> bool:
        """Wait until the board has restarted, after a request for that."""
        began = time.monotonic()
        deadline = began + limit_s
        while (left := deadline - time.monotonic()) > 0:
            if self.way.announces:
                if self.way.hear(left):
                    self.open()
                    return True
                continue
            with contextlib.suppress(BoardSilent):
                self.open(min(left, _END_S))
                if self.ask("info")[0]["up_s"] <= time.monotonic() - began:
                    return True
            time.sleep(_AGAIN_S)
        return False

    def _await(self, read: Callable[[bytes], Any], limit_s: float) -> Any:
        """Return the result of `read` for the first message that it does not find forged."""
        deadline = time.monotonic() + limit_s
        while (left := deadline - time.monotonic()) > 0:
            found = self.way.receive(left)
            if found is None:
                break
            with contextlib.suppress(Forged):
                return read(found)
            self.forged += 1
        raise BoardSilent(self._why(limit_s))

    def _why(self, limit_s: float) -> str:
        board = f"the board {self.known.label} at {self.way.place}"
        if self.forged:
            return (
                f"{board} gave no valid answer in {limit_s:g} s, and {self.forged} messages came "
                "that it did not send: somebody on the way forges them, or the board has "
                "another key (`tenner sync` over the cable)"
            )
        if why := self.way.why():
            return f"{board} {why}"
        return (
            f"{board} gave no answer in {limit_s:g} s: is it on, and has `tenner sync` brought it "
            "this computer's key over the cable?"
        )
