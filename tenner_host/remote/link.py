"""A sealed session with one board through its broker."""

from __future__ import annotations

import contextlib
import json
import ssl
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from tenner_host.errors import BoardSilent, CommandError
from tenner_host.release import keys
from tenner_host.remote.broker import ANSWER_S, Broker
from tenner_host.remote.known import Known
from tenner_host.remote.seal import Forged, Opening, Session

#: The most content of a request that the board takes.
PIECE = 1024
#: A turn of the agent may go first.
OPEN_S = 120.0
PART_S = 60.0


class Link:
    """Requests to a board, and its replies."""

    def __init__(self, known: Known) -> None:
        self.known = known
        self._key = keys.load()
        self._out = f"{known.topic}/remote/out"
        self._status = f"{known.topic}/status"
        self._session: Session | None = None
        #: How many messages came that the board has not sent.
        self.forged = 0
        self.status = ""
        login = (known.user, known.password or None) if known.user else None
        self._broker = Broker(
            known.host, known.port, self._context(), login, [self._out, self._status]
        )

    def _context(self) -> ssl.SSLContext | None:
        if not self.known.tls:
            return None
        context = ssl.create_default_context()
        if self.known.authorities:
            context.load_verify_locations(cadata=self.known.authorities)
        return context

    def close(self) -> None:
        self._broker.close()

    def open(self, limit_s: float = OPEN_S) -> None:
        """Open a session, in place of an older one."""
        # Milliseconds count up, also over all computers of the owner.
        counter = time.time_ns() // 1_000_000
        opening = Opening(self.known.device, bytes.fromhex(self.known.key), self._key, counter)
        self._drain()
        self._send(opening.message)
        self._session = self._await(opening.session, limit_s)

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
        self._send(session.request(content))
        found = bytearray()
        part = 0
        while True:
            data, is_last = self._await(partial(session.reply, part), limit_s)
            part += 1
            if is_last:
                break
            found += data
            if progress:
                progress(len(found))
        result = json.loads(data)
        if "error" in result:
            raise CommandError(f"the board refuses: {result['error']}")
        return result, bytes(found)

    def wait_online(self, limit_s: float) -> bool:
        """Wait until the board says that it is connected, as it does after each start."""
        deadline = time.monotonic() + limit_s
        while found := self._broker.next(deadline - time.monotonic()):
            if found == (self._status, b"online"):
                return True
        return False

    def first_status(self) -> str:
        """Return whether the board is "online" or "offline", as the broker says after connecting;
        "" if it does not know."""
        deadline = time.monotonic() + ANSWER_S
        while not self.status and (found := self._broker.next(deadline - time.monotonic())):
            self._note(found)
        return self.status

    def hear(self, limit_s: float) -> bool:
        """Wait for the next message; return whether the board has just connected."""
        found = self._broker.next(limit_s)
        if found:
            self._note(found)
        return found == (self._status, b"online")

    def _send(self, data: bytes) -> None:
        self._broker.publish(f"{self.known.topic}/remote/in", data)

    def _drain(self) -> None:
        while found := self._broker.next(0):
            self._note(found)

    def _note(self, found: tuple[str, bytes]) -> None:
        if found[0] == self._status:
            self.status = found[1].decode(errors="replace")

    def _await(self, read: Callable[[bytes], Any], limit_s: float) -> Any:
        """Return the result of `read` for the first message that it does not find forged."""
        deadline = time.monotonic() + limit_s
        while (left := deadline - time.monotonic()) > 0:
            found = self._broker.next(left)
            if found is None:
                break
            self._note(found)
            if found[0] == self._out:
                with contextlib.suppress(Forged):
                    return read(found[1])
                self.forged += 1
        raise BoardSilent(self._why(limit_s))

    def _why(self, limit_s: float) -> str:
        board = f"the board {self.known.label} at {self._broker.place}"
        if self.forged:
            return (
                f"{board} gave no valid answer in {limit_s:g} s, and {self.forged} messages came "
                "that it did not send: somebody at the broker forges them, or the board has "
                "another key (`tenner sync` over the cable)"
            )
        if self.status == "offline":
            return f"{board} is offline"
        return (
            f"{board} gave no answer in {limit_s:g} s: is it on, and has `tenner sync` brought it "
            "this computer's key over the cable?"
        )
