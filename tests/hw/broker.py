"""An MQTT broker as the board sees it, plain and over TLS, and as its owner's MQTT client does."""

from __future__ import annotations

import contextlib
import socket
import ssl
import threading
import time
from collections.abc import Iterator

import paho.mqtt.client as paho

_PIECE = 4096


class TlsFront:
    """A server at `host` that speaks TLS and passes all of it on to a plain broker."""

    def __init__(self, host: str, broker: tuple[str, int], context: ssl.SSLContext) -> None:
        self._broker = broker
        self._context = context
        self._server = socket.create_server((host, 0))
        self.port: int = self._server.getsockname()[1]
        #: How many clients have shown that they are content with the certificate.
        self.clients = 0

    def __enter__(self) -> TlsFront:
        threading.Thread(target=self._run, daemon=True).start()
        return self

    def __exit__(self, *_exc: object) -> None:
        # A thread in `accept` would keep the port.
        with contextlib.suppress(OSError):
            self._server.shutdown(socket.SHUT_RDWR)
        self._server.close()

    def _run(self) -> None:
        while True:
            try:
                link, _ = self._server.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=[link], daemon=True).start()

    def _serve(self, link: socket.socket) -> None:
        with contextlib.suppress(OSError), contextlib.ExitStack() as stack:
            stack.enter_context(link)
            client = stack.enter_context(self._context.wrap_socket(link, server_side=True))
            broker = stack.enter_context(socket.create_connection(self._broker))
            self.clients += 1
            back = threading.Thread(target=_copy, args=[broker, client], daemon=True)
            back.start()
            _copy(client, broker)
            back.join()


def _copy(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(_PIECE):
            target.sendall(data)
    with contextlib.suppress(OSError):
        target.shutdown(socket.SHUT_RDWR)


class Talker:
    """The owner's client; the board's topics are below `topic`."""

    def __init__(self, client: paho.Client, topic: str) -> None:
        self._client = client
        self._topic = topic
        self._changed = threading.Condition()
        self._answers: list[str] = []
        client.on_message = self._take

    def ask(self, text: str, limit_s: float) -> tuple[str, float]:
        """Return the board's answer and the seconds that it took; TimeoutError without one."""
        begun = time.monotonic()
        with self._changed:
            before = len(self._answers)
            self._client.publish(f"{self._topic}/say", text, qos=1)
            if not self._changed.wait_for(lambda: len(self._answers) > before, limit_s):
                raise TimeoutError(f"no answer to {text!r} by the broker within {limit_s:g} s")
            return self._answers[before], time.monotonic() - begun

    def _take(self, _client: object, _data: object, message: paho.MQTTMessage) -> None:
        with self._changed:
            self._answers.append(message.payload.decode())
            self._changed.notify_all()


@contextlib.contextmanager
def talker(broker: tuple[str, int], topic: str) -> Iterator[Talker]:
    """An owner at a plain broker without a password."""
    client = paho.Client(paho.CallbackAPIVersion.VERSION2)
    made = Talker(client, topic)
    client.on_connect = lambda *_: client.subscribe(f"{topic}/answer", qos=1)
    client.connect(*broker)
    client.loop_start()
    try:
        yield made
    finally:
        client.disconnect()
        client.loop_stop()
