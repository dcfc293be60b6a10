"""A connection to an MQTT broker."""

from __future__ import annotations

import ssl
import threading
from queue import Empty, SimpleQueue
from types import TracebackType
from typing import Any, NamedTuple

from tenner_host import libraries
from tenner_host.errors import CommandError, reason

ANSWER_S = 10.0

Login = tuple[str, str | None]


class Message(NamedTuple):
    """A message; a retained one may be old."""

    topic: str
    data: bytes
    is_retained: bool = False


class Broker:
    """The client of one broker, subscribed to some topics; use it in a `with` block."""

    def __init__(
        self,
        host: str,
        port: int,
        context: ssl.SSLContext | None,
        login: Login | None,
        topics: list[str],
    ) -> None:
        paho, version = _library()
        self.place = f"{host}:{port}"
        self._topics = topics
        self._ready = threading.Event()
        self._refused: list[str] = []
        self.messages: SimpleQueue[Message] = SimpleQueue()
        self._client = paho.Client(version.VERSION2)
        self._client.on_connect = self._connected
        self._client.on_subscribe = lambda *_: self._ready.set()
        self._client.on_message = lambda _client, _data, message: self.messages.put(
            Message(message.topic, bytes(message.payload), bool(message.retain))
        )
        if login:
            self._client.username_pw_set(*login)
        if context:
            self._client.tls_set_context(context)
        try:
            self._client.connect(host, port)
        except ssl.SSLError as exc:
            raise CommandError(
                f"{self.place} is not trusted: {exc.reason or exc}; give its authority with --ca"
            ) from exc
        except OSError as exc:
            raise CommandError(f"there is no broker at {self.place}: {reason(exc)}") from exc
        self._client.loop_start()
        if not self._ready.wait(ANSWER_S) or self._refused:
            self.close()
            if self._refused:
                raise CommandError(
                    f"the broker at {self.place} rejected the connection: {self._refused[0]}"
                )
            raise CommandError(f"the broker at {self.place} gave no answer in {ANSWER_S:.0f} s")

    def _connected(
        self, client: Any, _data: object, _flags: object, reason: Any, _properties: object
    ) -> None:
        if reason.is_failure:
            self._refused.append(str(reason))
            self._ready.set()
        else:
            # After each connect: the broker forgets the subscriptions of a client that went away.
            client.subscribe([(topic, 1) for topic in self._topics])

    def publish(self, topic: str, data: bytes) -> None:
        self._client.publish(topic, data, qos=1)

    @property
    def is_connected(self) -> bool:
        """Is the connection there now? A lost one is made again."""
        return bool(self._client.is_connected())

    def next(self, limit_s: float) -> Message | None:
        """Return the next message; None if there is none within the limit."""
        try:
            return self.messages.get(timeout=max(limit_s, 0))
        except Empty:
            return None

    def close(self) -> None:
        self._client.disconnect()
        self._client.loop_stop()

    def __enter__(self) -> Broker:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


def _library() -> tuple[Any, Any]:
    try:
        import paho.mqtt.client as paho
        from paho.mqtt.enums import CallbackAPIVersion
    except ImportError as exc:
        raise CommandError(libraries.missing("a broker", libraries.PAHO_MQTT)) from exc
    return paho, CallbackAPIVersion
