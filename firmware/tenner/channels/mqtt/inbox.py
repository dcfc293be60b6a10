# tenner channels.mqtt.inbox: handles the packets of the broker, among them people's messages.
# MIT license; Copyright (c) 2026 the tenner authors

from binascii import crc32

from tenner.agent.message_queue import Message
from tenner.channels.mqtt import connect
from tenner.log import log, visible
from tenner.port.compat import const

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.channels.mqtt.types import Inbox

_PUBLISH = const(0x30)
_PUBREL = const(0x60)
_SUBACK = const(0x90)
_PUBCOMP = b"\x70\x02"
#: The beginning of the answer to a message of QoS 1, and of QoS 2.
_ANSWERS = b"\x40\x02", b"\x50\x02"
_REJECTED = const(0x80)
_PIECE = const(512)  # of a long message
# Requests of the owner's computer wait in memory for their turn.
_MAX_REQUEST = const(1536)
_MAX_REQUESTS = const(2)
_RETAINED = const(1)
_AGAIN = const(8)  # the flag DUP
_TAKEN = const(4)


def handle(mqtt: "Inbox", kind: int, body: bytearray, size: int) -> bytes:
    """Handle a packet of `size` bytes, of which `body` is the beginning; return the packets to
    send."""
    flags = kind & 15
    kind &= 0xF0
    if kind == _PUBLISH:
        return _message(mqtt, flags, body, size)
    if kind == _SUBACK and size == 3:
        return _subscribed(mqtt, body[1], body[2] & _REJECTED)
    elif kind == _PUBREL:
        return _PUBCOMP + body
    return b""


def _subscribed(mqtt, number, rejected):
    if number == connect.BIRTH:
        if rejected:
            log("mqtt", "no birth messages: the broker rejects %s" % mqtt.birth)
            mqtt.birth = None
    elif number == connect.REMOTE:
        if rejected:
            log(
                "mqtt", "no requests of your computer: the broker rejects %s/remote/in" % mqtt.base
            )
    elif rejected:
        raise OSError("the broker rejects the subscription to %s/say" % mqtt.base)
    else:
        if mqtt.away:
            mqtt.away = False
            mqtt.back()
        else:
            log("mqtt", "connected as %s" % mqtt.base)
            mqtt.announce_again()
        mqtt.status = "connected"
        mqtt.up()
        # Now it can be reached.
        return connect.publish(mqtt.base + "/status", b"online", connect.ONLINE, True)
    return b""


def _message(mqtt, flags, body, size):
    qos = flags >> 1 & 3
    end = 2 + int.from_bytes(body[:2], "big")
    start = end + 2 if qos else end
    if start > len(body) or qos > 2:
        raise OSError("the broker sent no valid MQTT")
    answer = _ANSWERS[qos - 1] + body[end:start] if qos else b""
    try:
        topic = bytes(body[2:end]).decode()
        if flags & _RETAINED and topic != mqtt.birth:
            # The broker repeats it at each connection: it would be an order each time.
            log("mqtt", "dropped a retained message of %s: publish it without retain" % topic)
            return answer
        if topic == mqtt.base + "/remote/in":
            if size - start <= _MAX_REQUEST and mqtt.requests < _MAX_REQUESTS:
                mqtt.requests += 1
                mqtt.app.take_request(bytes(memoryview(body)[start:]))
            return answer
        if size > len(body):
            return answer + _reply(
                mqtt, "I read %d bytes of a message at most, not %d." % (mqtt.max_text, size)
            )
        text = bytes(memoryview(body)[start:]).decode().strip()
    except ValueError:
        log("mqtt", "dropped a message that is not text")
        return answer
    # The topic, the number and the text. A broker whose connection was cut before it had the
    # answer sends it again.
    mark = qos and crc32(body) & 0x3FFFFFFF
    if flags & _AGAIN and mark in mqtt.taken:
        log("mqtt", "dropped a message that came twice")
        return answer
    refusal = take(mqtt, topic, text)
    if mark and not refusal:
        mqtt.taken = mqtt.taken[1 - _TAKEN :] + (mark,)
    return answer + refusal


def take(mqtt: "Inbox", topic: str, text: str) -> bytes:
    """Handle a message of a topic; return the packets to send."""
    if mqtt.birth and topic == mqtt.birth:
        if text == "online":
            mqtt.announce_again()
        return b""
    by_owner = topic == mqtt.base + "/say"
    words = text.lower().split()
    answers = len(words) == 2 and words[0] in ("yes", "no") and words[1] in mqtt.questions
    if answers and by_owner:
        mqtt.questions[words[1]].resolve(words[0] == "yes")
    elif text:
        if not by_owner:
            text = "(of the topic %s)\n%s" % (visible(topic), text)
        message = Message("mqtt", mqtt.owner, text, "mqtt")
        if len(text) > _PIECE and text[:1] != "/":
            message.text = text[:_PIECE]
            places = range(_PIECE, len(text), _PIECE)
            message.pieces = [text[at : at + _PIECE] for at in places]
        message.by_owner = by_owner
        if not mqtt.inbound.put_nowait(message):
            return _reply(mqtt, "Too much is waiting. Please try again in a moment.")
    return b""


def _reply(mqtt, text):
    # Not through the outbox: its code may not be loaded, and the writer is connected.
    return connect.publish("%s/%s" % (mqtt.base, mqtt.owner), text)
