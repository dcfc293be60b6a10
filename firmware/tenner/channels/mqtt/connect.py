# tenner channels.mqtt.connect: makes packets of MQTT 3.1.1, opens the connection, tells failures.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio
import gc

from tenner import overlay
from tenner.log import log
from tenner.net.tls import ENOMEM, explain
from tenner.port.compat import const, open_connection
from tenner.store import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.channels.mqtt.types import Connecting

#: The numbers of the packets sent here. Those of the channel's own messages are greater.
ONLINE = const(1)
SAY = const(2)
BIRTH = const(3)
REMOTE = const(4)

_CONNECT = const(0x10)
_CONNACK = b"\x20\x02"
# Flags of CONNECT: a will of QoS 1, retained; the broker keeps messages while we are offline.
_WILL = const(0x2C)
_USER = const(0x80)
_PASSWORD = const(0x40)

_OPEN_S = const(20)
_LONGEST_WAIT_S = const(300)

_REFUSALS = (
    "it speaks another version of MQTT|it rejects the client's name, which is mqtt.topic|"
    "it is not available|bad user name or password|not authorized: see mqtt.user and mqtt.password"
)

#: The first bytes of packets, without flags.
_PUBLISH = const(0x30)
_SUBSCRIBE = const(0x82)


async def connect(mqtt: "Connecting") -> None:
    """Connect, announce the board and subscribe; the broker's answers to that come later."""
    # A step without memory is repeated.
    await mqtt.close()
    try:
        await asyncio.wait_for(overlay.start(_connect(mqtt)), _OPEN_S)
    except asyncio.TimeoutError:
        raise OSError("the broker does not answer within %d s" % _OPEN_S)


async def _connect(mqtt):
    get = mqtt.config.get
    host = get("mqtt.host")
    context = mqtt.tls and mqtt.tls()
    gc.collect()
    mqtt.stream, _ = await open_connection(
        host, get("mqtt.port"), ssl=context, server_hostname=context and host
    )
    await mqtt.write(_hello(mqtt))
    answer = bytearray(4)
    try:
        await mqtt.read(memoryview(answer))
    except OSError:
        # Over TLS it has a reason, see net.tls.
        if context:
            raise
        raise OSError("the broker closed the connection: mqtt.tls may not fit mqtt.port")
    semaphore = mqtt.get("semaphore") if context else None
    if semaphore and semaphore.reserve and semaphore.reserve.is_new:
        semaphore.reserve.learn()
    if answer[:2] != _CONNACK:
        raise OSError("mqtt.host and mqtt.port are not those of a broker")
    if answer[3]:
        why = _REFUSALS.split("|")[answer[3] - 1 : answer[3]]
        raise OSError("the broker: %s" % (why[0] if why else "code %d" % answer[3]))
    # A broker that has restarted may know nothing of the board any more.
    if answer[2] != 1:
        mqtt.away = False
        # It counts from 1 again, and repeats nothing.
        mqtt.taken = ()
    base = mqtt.base
    # A retained message would come again at each connect: remove it before subscribing.
    await mqtt.write(publish(base + "/say", b"", 0, True))
    if files.exists(mqtt.port.path("lib/remote.key")):
        await mqtt.write(subscribe(REMOTE, base + "/remote/in", 1))
    await mqtt.write(subscribe(SAY, base + "/say", 1))
    if mqtt.birth:
        # Last: a broker that forbids this may end the connection.
        await mqtt.write(subscribe(BIRTH, mqtt.birth, 0))
    # The broker sends the kept messages at once, and an answer may follow.
    mqtt.is_connected = True


def _hello(mqtt):
    user = mqtt.config.get("mqtt.user")
    password = user and mqtt.config.get("mqtt.password")
    flags = _WILL | (_USER if user else 0) | (_PASSWORD if password else 0)
    # The client's name is as unique as the topic.
    texts = [mqtt.base.replace("/", "-"), mqtt.base + "/status", b"offline"]
    texts += [one for one in (user, password) if one]
    about = field(b"MQTT") + bytes((4, flags, 0, mqtt.keep_alive_s))
    return packet(_CONNECT, about, *[field(one) for one in texts])


async def after_failure(mqtt: "Connecting", error: Exception) -> int:
    """Log why there is no connection; return the seconds to wait."""
    wait_s = min(1 << min(mqtt.failures, 9), _LONGEST_WAIT_S)
    mqtt.failures += 1
    mqtt.away = False
    semaphore = mqtt.get("semaphore") if mqtt.tls else None
    if semaphore and isinstance(error, (OSError, ValueError)) and semaphore.lacked_memory(error):
        error = OSError(ENOMEM, semaphore.why())
    mqtt.status = "%s; next try in %d s" % (explain(error) or error, wait_s)
    log("mqtt", mqtt.status)
    return wait_s


def field(data: bytes | str) -> bytes:
    """Return bytes, or a text as UTF-8, behind their length."""
    if isinstance(data, str):
        data = data.encode()
    return len(data).to_bytes(2, "big") + data


def packet(kind: int, *parts: bytes) -> bytes:
    """Return a packet whose first byte is `kind`."""
    size = sum([len(one) for one in parts])
    head = bytearray((kind,))
    while size > 127:
        head.append(size & 127 | 128)
        size >>= 7
    head.append(size)
    return b"".join((bytes(head),) + parts)


def publish(topic: str, payload: bytes | str, number: int = 0, retain: bool = False) -> bytes:
    """Return a message, of QoS 1 if it has a number."""
    if isinstance(payload, str):
        payload = payload.encode()
    if not number:
        return packet(_PUBLISH | retain, field(topic), payload)
    return packet(_PUBLISH | 2 | retain, field(topic), number.to_bytes(2, "big"), payload)


def subscribe(number: int, topic: str, qos: int) -> bytes:
    """Return a subscription to a topic."""
    return packet(_SUBSCRIBE, number.to_bytes(2, "big"), field(topic), bytes((qos,)))
