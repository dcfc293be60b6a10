# tenner channels.mqtt.channel: sends alerts, answers and readings to a broker; receives messages.
# MIT license; Copyright (c) 2026 the tenner authors
"""
Below `mqtt.topic`, `tenner/<device id>` unless it is set:

    status          online or offline (the last will); retained
    state           version, uptime, heap, as JSON; retained
    sensor/<name>   the values of a sensor as JSON; retained
    update          the running version and a newer one, for Home Assistant; retained
    alert, answer   texts to the owner, acknowledged by the broker
    ask             a question; `yes <id>` or `no <id>` to `say` answers it
    say             in: a message or a /command of the owner
    remote/in, out  sealed requests of the owner's computer, and replies; see tenner.remote

Home Assistant announces its start on <mqtt.discovery>/status.

Everyone with write access to `say` counts as the owner: the broker's password and access list
decide that. Messages of other topics, such as an old subscription, count as untrusted text, never
as a command or an answer to a question.

A connection lives as long as the board, so this module has only the code that waits: `connect`,
`inbox` and `packets` are loaded for a moment.
"""

import asyncio
from binascii import hexlify

from tenner import overlay
from tenner.agent import health
from tenner.channels.mqtt import connect, home_assistant, inbox
from tenner.channels.question import Question
from tenner.net.http_errors import Yielded
from tenner.port.compat import const, ticks_diff, ticks_ms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from tenner.agent.message_queue import Queue
    from tenner.channels.mqtt.types import Application
    from tenner.net.tls_reserve import TlsContext
    from tenner.port import Port
    from tenner.port.cpython import Stream
    from tenner.store.config import Config

_ASK_TRIES = const(60)
#: Where Telegram has the only TLS session too: after so long without it MQTT gets it, and after so
#: long with it gives it back.
_WITHOUT_MS = const(20000)
_WITH_MS = const(10000)
_PIECE = const(4096)  # of a packet: TLS loses bytes of longer ones
_SCRATCH = const(512)
_PUBACK = const(0x40)
_PINGREQ = b"\xc0\x00"
_DISCONNECT = b"\xe0\x00"
_CLOSED = const("the connection is closed")


class Mqtt:
    """
    `tls()` returns the verifying TLS context; `up()` is called after each connect; `get(name)`
    returns the TLS semaphore, the sensors and other parts of the app.
    """

    name = "mqtt"
    #: The chats of this channel: the last parts of their topics.
    owner = "answer"
    alert_chat = "alert"
    #: The session with the owner's computer (remote.session), and its requests that wait.
    session: "Any" = None
    requests = 0
    #: Check sums of the last messages of QoS 1 that it has taken.
    taken: "tuple[int, ...]" = ()

    #: The broker may count on a packet in so many seconds, so the pings come sooner.
    keep_alive_s = 60
    ping_s = 30
    #: The longest wait for an answer of the broker.
    ack_s = 15
    #: Bytes of a person's message.
    max_text = 4096

    def __init__(
        self,
        config: "Config",
        port: "Port",
        tls: "Callable[[], TlsContext]",
        inbound: "Queue",
        get: "Callable[[str], Any]",
        up: "Callable[[], None]",
        mono_s: "Callable[[], int]",
        app: "Application | None" = None,
    ) -> None:
        setting = config.get
        self.id = hexlify(port.device_id()).decode()
        self.base = setting("mqtt.topic") or "tenner/" + self.id
        #: The state of the service, for /status.
        self.status = "starting"
        self.config = config
        self.port = port
        self.tls = tls if setting("mqtt.tls") else None
        self._semaphore = get("semaphore") if setting("mqtt.tls") else None
        self.inbound = inbound
        self.get = get
        self.up = up
        self.mono_s = mono_s
        #: The app, for requests of the owner's computer.
        self.app = app
        self.stream: Stream | None = None
        self.is_connected = False
        self.failures = 0  # in a row
        #: Has it given the connection back since the broker last heard from it?
        self.away = False
        self.questions = {}  # the pending ones, by id
        self.announced = []  # the values announced to Home Assistant, see readings
        #: The topic on which Home Assistant announces its start.
        self.birth = setting("mqtt.discovery") and setting("mqtt.discovery") + "/status"
        self._wanted = asyncio.Event()  # set when readings are due now
        self._late = False  # have they become due without a connection?
        self._task: asyncio.Task | None = None  # serves the connection
        self._end: Exception | None = None  # ends it on request
        self._since_ms = 0  # when it asked for the connection, or has got it
        self._pressing = False  # does a text wait for it?
        self._writing = asyncio.Lock()
        self._number = 0  # of the last message
        self._unacknowledged = {}  # an Event for each, by number
        self._heard = asyncio.Event()  # set since the last ping

    # --- the connection

    async def run(self) -> None:
        """Keep the connection forever; wait after a failure and retry."""
        while True:
            wait_s = 0
            try:
                await self._session()
            except (OSError, ValueError) as error:
                wait_s = await overlay.run("MQTT", connect.after_failure, self, error)
            health.finished("mqtt", wait_s + self.ping_s)
            await asyncio.sleep(wait_s)

    async def _session(self):
        """Serve one connection; return after `give_way`, raise OSError when it ends."""
        if self._semaphore:
            self._since_ms = ticks_ms()
            await self._semaphore.acquire(self)
            self._since_ms = ticks_ms()
        self._end = None
        self._task = asyncio.create_task(self._serve())
        try:
            await self._task
        except asyncio.CancelledError:
            if not isinstance(self._end, Yielded):
                raise self._end or asyncio.CancelledError
            self.status = "waiting for the TLS connection"
            self.away = True
            if self.is_connected:
                # The broker publishes the last will of a client that leaves without it.
                await self.write(_DISCONNECT)
        finally:
            self._task = None
            await self.close()
            if self._semaphore:
                self._semaphore.release(self)

    async def _serve(self):
        await overlay.run("MQTT", connect.connect, self)
        self._since_ms = ticks_ms()
        self._pressing = False
        pings = asyncio.create_task(self._ping())
        try:
            await self._receive()
        finally:
            pings.cancel()

    async def close(self) -> None:
        """Close the connection, if there is one."""
        stream, self.stream = self.stream, None
        self.is_connected = False
        if stream:
            await stream.wait_closed()

    @property
    def yields(self) -> bool:
        """Does it leave a long poll its connection? Not with something to say nor after a while,
        unless a turn runs."""
        return not overlay.is_free() or not (self._pressing or self._had(_WITHOUT_MS))

    async def give_way(self, to_poll: bool) -> None:
        """Give the connection back soon; the semaphore calls this when another task waits."""
        if not to_poll or self._had(_WITH_MS if self.is_connected else _WITHOUT_MS):
            self._stop(Yielded())

    def _had(self, span_ms):
        return ticks_diff(ticks_ms(), self._since_ms) > span_ms

    def _stop(self, error):
        """End the connection, on request only after the acknowledgment of all messages."""
        self._end = self._end or error
        if self._task and not (self._unacknowledged and isinstance(error, Yielded)):
            self._task.cancel()

    async def _ping(self):
        while True:
            self._heard.clear()
            await asyncio.sleep(self.ping_s)
            try:
                await self.write(_PINGREQ)
                await asyncio.wait_for(self._heard.wait(), self.ack_s)
            except (OSError, asyncio.TimeoutError):
                self._stop(OSError("the broker is silent"))
                return
            self.failures = 0
            health.finished("mqtt", self.ping_s)

    async def read(self, view: memoryview) -> None:
        """Fill `view` with the next bytes of the broker."""
        used = 0
        while used < len(view):
            count = await self.stream.readinto(view[used:])
            if count == 0:
                raise OSError("the broker closed the connection")
            # None: TLS received a record without data.
            used += count or 0
            self._heard.set()

    async def write(self, packet: bytes) -> None:
        """Send a packet."""
        try:
            await asyncio.wait_for(self._write(packet), self.ack_s)
        except asyncio.TimeoutError:
            raise OSError("the broker accepts no data")

    async def _write(self, packet):
        view = memoryview(packet)
        async with self._writing:
            for start in range(0, len(packet), _PIECE):
                if self.stream is None:
                    # During the wait for another packet; the broker drops a part of one.
                    raise OSError(_CLOSED)
                self.stream.write(view[start : start + _PIECE])
                await self.stream.drain()

    async def _receive(self):
        head = memoryview(bytearray(5))
        while True:
            if self._end and not self._unacknowledged:
                # A wait that ends at the moment of a cancellation swallows it.
                raise asyncio.CancelledError
            await self.read(head[:2])
            last = 1
            while head[last] & 128 and last < 4:
                last += 1
                await self.read(head[last : last + 1])
            size = 0
            for at in range(last, 0, -1):
                size = size << 7 | head[at] & 127
            body = bytearray(min(size, self.max_text + 256))
            await self.read(memoryview(body))
            await self._skip(size - len(body))
            if head[0] == _PUBACK:
                done = self._unacknowledged.get(int.from_bytes(body, "big"))
                if done:
                    done.set()
                continue
            answer = inbox.handle(self, head[0], body, size)
            body = None
            if answer:
                await self.write(answer)

    async def _skip(self, left):
        scratch = memoryview(bytearray(min(left, _SCRATCH)))
        while left:
            await self.read(scratch[:left])
            left -= len(scratch[:left])

    # --- out

    async def send(
        self,
        chat: str,
        text: str,
        reply_to: int | None = None,
        began: "Callable[[], None] | None" = None,
        alarm: str | None = None,
    ) -> "tuple[str, Any]":
        """Publish a text and wait for the broker's acknowledgment; see channels.delivery."""
        if not self.is_connected:
            self._pressing = True
            return "retry", None
        if began:
            began()
        return await self.deliver("%s/%s" % (self.base, chat), text)

    async def deliver(
        self, topic: str, payload: bytes | str, retain: bool = False
    ) -> "tuple[str, Any]":
        """Publish to a complete topic; return the outcome as `send` does."""
        acknowledged = await self.publish_at(topic, payload, retain)
        if acknowledged is None:
            return "retry", None
        if acknowledged:
            return "ok", None
        return "unknown", "the broker did not acknowledge it"

    async def publish(self, topic: str, payload: bytes | str, retain: bool = False) -> bool | None:
        """Publish to a topic below the base; return whether the broker has acknowledged it, None
        if it cannot have arrived."""
        return await self.publish_at("%s/%s" % (self.base, topic), payload, retain)

    async def publish_at(
        self, topic: str, payload: bytes | str, retain: bool = False
    ) -> bool | None:
        """Publish to a complete topic; see `publish`."""
        if not self.is_connected:
            return None
        # Greater than the numbers of `connect`, and not so soon the same again.
        self._number = number = self._number + 1 & 0x0FFF | 0x1000
        done = self._unacknowledged[number] = asyncio.Event()
        try:
            await self.write(connect.publish(topic, payload, number, retain))
            await asyncio.wait_for(done.wait(), self.ack_s)
        except (OSError, asyncio.TimeoutError) as error:
            # A TimeoutError says nothing.
            lost = OSError("the broker does not acknowledge a message")
            self._stop(error if error.args else lost)
            return None if error.args == (_CLOSED,) else False
        finally:
            del self._unacknowledged[number]
            if self._end:
                self._stop(self._end)
        return True

    async def ask(self, text: str, timeout_s: float = 600) -> bool:
        """Ask the owner; a timeout means no."""
        question = Question(text)
        self.questions[question.id] = question
        text = "%s\nyes %s or no %s?" % (text, question.id, question.id)
        try:
            for _ in range(_ASK_TRIES):
                # A turn may have had the only TLS session.
                if await self.publish("ask", text):
                    break
                self._pressing = True
                await asyncio.sleep(1)
            return await question.wait(timeout_s)
        finally:
            del self.questions[question.id]

    # --- readings

    def announce_again(self) -> None:
        """Announce all sensors with the next readings, which are due now."""
        # A restarted broker may have lost retained messages, as may Home Assistant.
        self.announced.clear()
        self._wanted.set()

    def back(self) -> None:
        """Publish the readings that became due while it was away, if any."""
        if self._late:
            self._wanted.set()

    async def readings(self) -> None:
        """Publish the values of the sensors and the state of the board every `mqtt.every`."""
        every_s = self.config.get("mqtt.every")
        while True:
            self._wanted.clear()
            if self.is_connected:
                await overlay.run("MQTT", home_assistant.publish_values, self)
            self._late = not self.is_connected
            try:
                await asyncio.wait_for(self._wanted.wait(), every_s or None)
            except asyncio.TimeoutError:
                pass
