# tenner channels.mqtt.packets: makes packets of MQTT 3.1.1.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.port.compat import const

#: The first bytes of packets, without flags.
_PUBLISH = const(0x30)
_SUBSCRIBE = const(0x82)


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
