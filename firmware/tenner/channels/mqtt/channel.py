# tenner channels.mqtt.channel: sends alerts, answers and readings to a broker; receives messages.
# MIT license; Copyright (c) 2026 the tenner authors
"""
Below `mqtt.topic`, `tenner/<device id>` unless it is set:

    status          online or offline (the last will); retained
    state           version, uptime, heap, as JSON; retained
    sensor/<name>   the values of a sensor as JSON; retained
    alert, answer   texts to the owner, acknowledged by the broker
    ask             a question; `yes <id>` or `no <id>` to `say` answers it
    say             in: a message or a /command of the owner

Home Assistant announces its start on <mqtt.discovery>/status.

Everyone with write access to `say` counts as the owner: the broker's password and access list
decide that. Messages of other topics, such as an old subscription, count as untrusted text, never
as a command or an answer to a question. The client is the library chumicro-mqtt, in /lib of a
board with an mqtt.host.
"""

import asyncio
from binascii import hexlify

from tenner import overlay
from tenner.agent.message_queue import Message
from tenner.channels.mqtt import readings
from tenner.channels.question import Question
from tenner.log import log, visible
from tenner.net.rawsocket import RawSocket
from tenner.net.tls_errors import explain
from tenner.port.compat import const, sleep_ms, ticks_add, ticks_diff, ticks_ms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from tenner.agent.message_queue import Queue
    from tenner.net.tls_reserve import TlsContext
    from tenner.port import Port
    from tenner.store.config import Config

_KEEP_ALIVE_S = const(60)
_ACK_S = const(15)
_BUSY_MS = const(10)
_IDLE_MS = const(100)
_LONGEST_WAIT_S = const(300)
_MAX_TEXT = const(4096)


class _Ticks:
    """The clock of the library, by its names, since a build has no module `compat`."""

    ticks_ms = ticks_ms
    ticks_diff = ticks_diff
    ticks_add = ticks_add


class Mqtt:
    """
    `tls()` returns the verifying TLS context; `up()` is called after each connect; `get(name)`
    returns the TLS semaphore, the sensors and other parts of the app.
    """

    name = "mqtt"
    #: The chats of this channel: the last parts of their topics.
    owner = "answer"
    alert_chat = "alert"
    #: The semaphore may ask for the connection back, as with a long poll.
    yields = True

    def __init__(
        self,
        config: "Config",
        port: "Port",
        tls: "Callable[[], TlsContext]",
        inbound: "Queue",
        get: "Callable[[str], Any]",
        up: "Callable[[], None]",
        mono_s: "Callable[[], int]",
    ) -> None:
        setting = config.get
        self.id = hexlify(port.device_id()).decode()
        self.base = setting("mqtt.topic") or "tenner/" + self.id
        #: The state of the service, for /status.
        self.status = "starting"
        self.config = config
        self.port = port
        self._tls = tls if setting("mqtt.tls") else None
        self._semaphore = get("semaphore") if setting("mqtt.tls") else None
        self._inbound = inbound
        self.get = get
        self._up = up
        self.mono_s = mono_s
        self._client: Any = None
        self._asked = False
        self._questions = {}  # the pending ones, by id
        self.announced = []  # the values announced to Home Assistant, see readings
        #: The topic on which Home Assistant announces its start.
        self._birth = setting("mqtt.discovery") and setting("mqtt.discovery") + "/status"
        self._wanted = asyncio.Event()  # set when readings are due now

    # --- the connection

    async def run(self) -> None:
        """Keep the connection forever; wait after a failure and retry."""
        failures = 0
        while True:
            wait_s = 0
            try:
                if self._semaphore:
                    await self._semaphore.acquire(self)
                try:
                    await self._session()
                    failures = 0
                finally:
                    self._client = None
                    if self._semaphore:
                        self._semaphore.release(self)
            except (OSError, ValueError) as error:
                wait_s = min(1 << min(failures, 9), _LONGEST_WAIT_S)
                failures += 1
                await overlay.run("RECEIVE", _log_failure, self, error, wait_s)
            await asyncio.sleep(wait_s)

    async def _session(self):
        """Serve one connection; return after `give_way`, raise OSError when it ends."""
        # Only a board with an mqtt.host has the library.
        from chumicro_mqtt import MQTTClient
        from chumicro_mqtt.client import ProtocolState

        get = self.config.get
        self._asked = False
        tls = self._tls and self._tls()
        raw = RawSocket(get("mqtt.host"), get("mqtt.port"), tls)
        client = MQTTClient(
            raw,
            client_id=self.base.replace("/", "-"),  # as unique as the topic
            keep_alive_seconds=_KEEP_ALIVE_S,
            clean_session=False,  # the broker keeps messages while we are offline
            username=get("mqtt.user") or None,
            password=get("mqtt.password") or None,
            will_topic=self.base + "/status",
            will_message=b"offline",
            will_qos=1,
            will_retain=True,
            rx_buffer_size=_MAX_TEXT + 256,
            ticks=_Ticks,
        )

        def listen(topic, granted_qos):
            # Last: a broker that forbids this ends the connection.
            if self._birth:
                client.subscribe(self._birth)

        def greet():
            # A retained message would come again at each connect: remove it before subscribing.
            client.publish(self.base + "/say", b"", retain=True)
            client.publish(self.base + "/status", b"online", qos=1, retain=True)
            client.subscribe(self.base + "/say", 1, on_subscribe=listen)
            self._client = client
            self._announce_again()
            self.status = "connected"
            log("mqtt", "connected as %s" % self.base)
            self._up()

        client.on_connect = greet
        client.on_message = self._take
        client.on_oversized = self._too_long
        client.connect()
        try:
            while True:
                client.handle(ticks_ms())
                if client.state == ProtocolState.FAILED:
                    error = str(client.last_error)
                    if self._client and self._birth and "SUBACK" in error:
                        log("mqtt", "no birth messages: the broker rejects %s" % self._birth)
                        self._birth = None
                    raise OSError("the broker: " + error)
                busy = client.io_interest(ticks_ms()) & 2
                if self._asked and not busy:
                    self.status = "waiting for a turn to end"
                    return
                await sleep_ms(_BUSY_MS if busy else _IDLE_MS)
        finally:
            if self._asked:
                client.disconnect()
            else:
                # The broker publishes the last will of a client that leaves without a DISCONNECT.
                raw.close()

    async def give_way(self, to_poll: bool) -> None:
        """Give the connection back soon; the semaphore calls this when another task waits."""
        self._asked = self._asked or not to_poll

    # --- out

    def is_connected(self) -> bool:
        """Return whether the broker is connected now."""
        return self._client is not None

    async def send(
        self,
        chat: str,
        text: str,
        reply_to: int | None = None,
        began: "Callable[[], None] | None" = None,
        alarm: str | None = None,
    ) -> "tuple[str, Any]":
        """Publish a text and wait for the broker's acknowledgment; see channels.delivery."""
        if self._client is None:
            return "retry", None
        if began:
            began()
        if await self.publish(chat, text):
            return "ok", None
        return "unknown", "the broker did not acknowledge it"

    async def publish(self, topic: str, payload: bytes | str, retain: bool = False) -> bool:
        """Publish to a topic below the base; return whether the broker has acknowledged it."""
        return await self.publish_at("%s/%s" % (self.base, topic), payload, retain)

    async def publish_at(self, topic: str, payload: bytes | str, retain: bool = False) -> bool:
        """Publish to a complete topic; see `publish`."""
        client = self._client
        if client is None:
            return False
        done = asyncio.Event()
        try:
            client.publish(topic, payload, qos=1, retain=retain, on_publish=lambda *_: done.set())
            await asyncio.wait_for(done.wait(), _ACK_S)
        except asyncio.TimeoutError:
            return False
        return True

    async def ask(self, text: str, timeout_s: float = 600) -> bool:
        """Ask the owner; a timeout means no."""
        question = Question(text)
        self._questions[question.id] = question
        try:
            await self.publish("ask", "%s\nyes %s or no %s?" % (text, question.id, question.id))
            return await question.wait(timeout_s)
        finally:
            del self._questions[question.id]

    # --- in

    def _announce_again(self):
        # A restarted broker may have lost retained messages, as may Home Assistant.
        self.announced.clear()
        self._wanted.set()

    def _take(self, topic, payload):
        if self._birth and topic == self._birth:
            if bytes(payload) == b"online":
                self._announce_again()
            return
        try:
            text = bytes(payload).decode().strip()
        except ValueError:
            log("mqtt", "dropped a message that is not text")
            return
        by_owner = topic == self.base + "/say"
        words = text.lower().split()
        answers = len(words) == 2 and words[0] in ("yes", "no") and words[1] in self._questions
        if answers and by_owner:
            self._questions[words[1]].resolve(words[0] == "yes")
        elif text:
            if not by_owner:
                text = "(of the topic %s)\n%s" % (visible(topic), text)
            message = Message("mqtt", self.owner, text, "mqtt")
            message.by_owner = by_owner
            if not self._inbound.put_nowait(message):
                self._say("Too much is waiting. Please try again in a moment.")

    def _too_long(self, size, topic):
        self._say("I read %d bytes of a message at most, not %d." % (_MAX_TEXT, size))

    def _say(self, text):
        # Not through the outbox: its code may not be loaded, and the writer is connected.
        self._client.publish("%s/%s" % (self.base, self.owner), text)

    # --- readings

    async def readings(self) -> None:
        """Publish the values of the sensors and the state of the board every `mqtt.every`."""
        every_s = self.config.get("mqtt.every")
        while True:
            self._wanted.clear()
            if self.is_connected():
                await overlay.run("MQTT", readings.publish, self)
            try:
                await asyncio.wait_for(self._wanted.wait(), every_s)
            except asyncio.TimeoutError:
                pass


async def _log_failure(mqtt, error, wait_s):
    mqtt.status = "%s; next try in %d s" % (explain(error) or error, wait_s)
    log("mqtt", mqtt.status)
