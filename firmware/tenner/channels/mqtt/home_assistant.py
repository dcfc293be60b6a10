# tenner channels.mqtt.home_assistant: sensors, charts and updates, as Home Assistant finds them.
# MIT license; Copyright (c) 2026 the tenner authors
"""
Home Assistant's documentation, "MQTT discovery": one retained config message for each value. It
silently ignores topics with characters other than ASCII letters, digits, `_` and `-`; a sensor's
name may be any text.
"""

import gc
import json
from binascii import crc32

from tenner import __version__
from tenner.agent import health
from tenner.log import log
from tenner.port.compat import const
from tenner.sensors import units
from tenner.sensors.errors import SensorError
from tenner.store import files
from tenner.update import slot

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from tenner.channels.mqtt.types import Announced, Images, Topics

_PLAIN = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
# Values with another device class than their name.
_CLASSES = (
    "internal temperature light illuminance level - co2 carbon_dioxide rssi signal_strength "
    "uptime duration"
)

_UPDATE_TOPIC = "update"

#: In `announced`, beside the shapes of sensors.
_UPDATE = const(-1)
_PROBLEM = const(-2)
_SHOWN = const(4)  # services that fail
_SENTENCE = const(160)  # letters of each one's sentence


#: The most bytes of a picture.
_MOST = const(32768)


async def announce_value(mqtt: "Topics", sensor: str, values: dict) -> bool:
    """Publish the config of each value of a sensor; return whether the broker has acknowledged
    all."""
    for value in sorted(values):
        key = slug("%s_%s_%s" % (mqtt.id, sensor, value))
        shown = values[value]
        # A template reads each escape as a letter, and JSON writes an emoji as two.
        place = "value_json[%r]" % value
        config = {
            "name": "%s %s" % (sensor, value),
            "unique_id": key,
            "state_topic": "%s/%s" % (mqtt.base, topic(sensor)),
            "value_template": "{{ %s }}" % place,
            "availability_topic": mqtt.base + "/status",
            # The broker keeps the last value of a sensor that has fallen silent.
            "expire_after": 3 * mqtt.config.get("mqtt.every"),
            "device": device(mqtt),
        }
        component = "sensor"
        if isinstance(shown, bool):
            component = "binary_sensor"
            config["value_template"] = "{{ 'ON' if %s else 'OFF' }}" % place
        elif not isinstance(shown, str):
            config["state_class"] = "measurement"
            unit = units.unit(value)
            if unit:
                config["unit_of_measurement"] = unit
            kind = _device_class(value)
            if kind and unit:
                config["device_class"] = kind
        if not await publish(mqtt, component, key, config):
            return False
    return True


async def announce_problem(mqtt: "Topics") -> bool:
    """Publish the config of the entity that is on while a service fails; return whether the
    broker has acknowledged it."""
    key = slug("%s_problem" % mqtt.id)
    config = {
        "name": "problem",
        "unique_id": key,
        "device_class": "problem",
        "state_topic": mqtt.base + "/state",
        "value_template": "{{ 'ON' if value_json.failing else 'OFF' }}",
        "json_attributes_topic": mqtt.base + "/state",
        "availability_topic": mqtt.base + "/status",
        "device": device(mqtt),
    }
    return await publish(mqtt, "binary_sensor", key, config)


def device(mqtt: "Topics") -> dict:
    """Return the board, as each of its entities names it."""
    return {
        "identifiers": ["tenner-" + mqtt.id],
        "name": mqtt.config.get("name"),
        "manufacturer": "tenner",
        "sw_version": __version__,
    }


async def publish(mqtt: "Topics", component: str, key: str, config: dict) -> bool:
    """Publish the config of an entity; return whether the broker has acknowledged it."""
    at = "%s/%s/%s/config" % (mqtt.config.get("mqtt.discovery"), component, key)
    return await mqtt.publish_at(at, json.dumps(config), retain=True)


def slug(name: str) -> str:
    """Return a unique form of a name in the characters that Home Assistant accepts."""
    return _replaced(name, lambda one: one in _PLAIN)


def topic(name: str, kind: str = "sensor") -> str:
    """Return the topic of a sensor's values or of a chart, below the board's topic."""
    # A broker disconnects a client that publishes to a topic with any other character.
    return "%s/%s" % (kind, _replaced(name, _is_topic_letter))


def _is_topic_letter(one):
    """Is this no wildcard, control character or Unicode noncharacter? See MQTT 3.1.1, 1.5.3 and
    4.7.1."""
    code = ord(one)
    is_control = code < 0x20 or 0x7F <= code < 0xA0
    is_none = 0xFDD0 <= code < 0xFDF0 or code & 0xFFFE == 0xFFFE
    return one not in "+#" and not is_control and not is_none


def _replaced(name, is_allowed):
    plain = "".join([one if is_allowed(one) else "_" for one in name])
    if plain != name:
        plain += "_%04x" % (crc32(name.encode()) & 0xFFFF)
    return plain


def _device_class(value):
    words = _CLASSES.split()
    if value in words[::2]:
        kind = words[words.index(value) + 1]
        return None if kind == "-" else kind
    known = "temperature humidity pressure voltage current distance"
    return value if value in known.split() else None


# Home Assistant's documentation, "MQTT Update". Its button Install sends `/update` to `say`.
# Everybody at the broker could send that, so the owner answers on Telegram; without Telegram
# there is no button. The newer version is that of the last daily look.
async def announce_update(mqtt: "Announced") -> bool:
    """Announce the entity and publish its state, unless this board cannot update itself; return
    whether the broker has acknowledged all."""
    app = mqtt.app
    if not slot.is_possible(app):
        return True
    key = slug("%s_update" % mqtt.id)
    config = {
        "name": "update",
        "unique_id": key,
        "device_class": "firmware",
        "state_topic": "%s/%s" % (mqtt.base, _UPDATE_TOPIC),
        "availability_topic": mqtt.base + "/status",
        "device": device(mqtt),
    }
    if app.owner()[0] == "telegram":
        config["command_topic"] = mqtt.base + "/say"
        config["payload_install"] = "/update"
    state = {
        "installed_version": __version__,
        "latest_version": app.slots("update").load().get("v", __version__),
        "title": "tenner",
        "release_summary": "",
    }
    summary = app.state + slot.SUMMARY
    if state["latest_version"] != __version__ and files.exists(summary):
        state["release_summary"] = files.read_text(summary)
    if not await mqtt.publish(_UPDATE_TOPIC, json.dumps(state), retain=True):
        return False
    return await publish(mqtt, "update", key, config)


async def publish_values(mqtt: "Announced") -> None:
    """Publish the state of the board and the values of every sensor."""
    state = {
        "name": mqtt.config.get("name"),
        "version": __version__,
        "up_s": mqtt.mono_s(),
        "heap_free": mqtt.port.memory()[0],
        "failing": [one[:_SENTENCE] for one in health.sentences()[:_SHOWN]],
    }
    await mqtt.publish("state", json.dumps(state), retain=True)
    get = mqtt.config.get
    if state["failing"] and get("mqtt.discovery") and _PROBLEM not in mqtt.announced:
        if await announce_problem(mqtt):
            mqtt.announced.append(_PROBLEM)
    if get("update.url") and get("mqtt.discovery") and _UPDATE not in mqtt.announced:
        if await announce_update(mqtt):
            mqtt.announced.append(_UPDATE)
    sensors = mqtt.get("sensors")
    try:
        names = sensors.names()
    except SensorError as error:
        log("mqtt", error)
        return
    for name in names:
        try:
            values = await sensors.read(name)
        except SensorError as error:
            log("mqtt", error)
            continue
        # A sensor with a new driver has other values.
        shape = crc32(("%s %s" % (name, sorted(values))).encode())
        if shape not in mqtt.announced and mqtt.config.get("mqtt.discovery"):
            if not await announce_value(mqtt, name, values):
                continue
            mqtt.announced.append(shape)
        await mqtt.publish(topic(name), json.dumps(values), retain=True)


# Home Assistant's documentation, "MQTT Image": the topic has the bytes of the picture, retained.
# A packet is complete in memory, beside the picture.
async def publish_image(
    mqtt: "Images", path: str, value: str, began: "Callable[[], None]"
) -> tuple[str, str | None]:
    """Publish the chart of a value, and announce its image; return the outcome as Mqtt.send
    does."""
    if not mqtt.is_connected:
        return "retry", None
    place = "%s/%s" % (mqtt.base, topic(value, "chart"))
    try:
        gc.collect()
        with open(path, "rb") as file:
            data = file.read(_MOST + 1)
        if len(data) > _MOST:
            return "refused", "a picture for the broker may have %d bytes" % _MOST
        began()
        if mqtt.config.get("mqtt.discovery"):
            await _announce_image(mqtt, place, value)
        return await mqtt.deliver(place, data, retain=True)
    except MemoryError:
        # Another try would find no more memory.
        return "refused", "the memory does not suffice for a picture of %d bytes" % len(data)


async def _announce_image(mqtt, place, value):
    key = slug("%s_chart_%s" % (mqtt.id, value.replace(".", "_")))
    config = {
        "name": "%s chart" % value,
        "unique_id": key,
        "image_topic": place,
        "content_type": "image/png",
        "availability_topic": mqtt.base + "/status",
        "device": device(mqtt),
    }
    await publish(mqtt, "image", key, config)
