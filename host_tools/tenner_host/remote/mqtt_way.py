"""The way to a board through its MQTT broker."""

from __future__ import annotations

import ssl
import time

from tenner_host.remote.broker import ANSWER_S, Broker, Message
from tenner_host.remote.known import Known
from tenner_host.remote.way import Way


class MqttWay(Way):
    """The broker hears from the board when it connects, and tells when it is gone."""

    most_s = 30.0
    announces = True

    def __init__(self, known: Known) -> None:
        self._topic = known.topic
        self._out = f"{known.topic}/remote/out"
        self._status_topic = f"{known.topic}/status"
        self._status = ""
        login = (known.user, known.password or None) if known.user else None
        self._broker = Broker(
            known.host, known.port, _context(known), login, [self._out, self._status_topic]
        )
        self.place = self._broker.place

    def send(self, data: bytes) -> None:
        self._broker.publish(f"{self._topic}/remote/in", data)

    def receive(self, limit_s: float) -> bytes | None:
        deadline = time.monotonic() + limit_s
        while found := self._broker.next(deadline - time.monotonic()):
            self._note(found)
            if found[0] == self._out:
                return found[1]
        return None

    def drop(self) -> None:
        self.has_spoken()

    def has_spoken(self) -> bool:
        found_any = False
        while found := self._broker.next(0):
            self._note(found)
            found_any = found_any or found[0] == self._out
        return found_any

    def done(self) -> None:
        """Does nothing."""

    def opened(self) -> None:
        """Does nothing."""

    def why(self) -> str:
        return "is offline" if self.is_off else ""

    def away(self) -> str:
        """As the broker says after connecting."""
        deadline = time.monotonic() + ANSWER_S
        while not self._status and (found := self._broker.next(deadline - time.monotonic())):
            self._note(found)
        return "it is offline" if self.is_off else ""

    @property
    def is_off(self) -> bool:
        return self._status == "offline"

    def hear(self, limit_s: float) -> bool:
        found = self._broker.next(limit_s)
        if found:
            self._note(found)
        return bool(found and found[:2] == (self._status_topic, b"online"))

    def close(self) -> None:
        self._broker.close()

    def _note(self, found: Message) -> None:
        if found[0] == self._status_topic:
            self._status = found[1].decode(errors="replace")


def _context(known: Known) -> ssl.SSLContext | None:
    if not known.tls:
        return None
    context = ssl.create_default_context()
    if known.authorities:
        context.load_verify_locations(cadata=known.authorities)
    return context
