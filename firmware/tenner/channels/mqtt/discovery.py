# tenner channels.mqtt.discovery: announces a board's sensors to Home Assistant.
# MIT license; Copyright (c) 2026 the tenner authors
"""
Home Assistant's documentation, "MQTT discovery": one retained config message for each value. It
silently ignores topics with characters other than ASCII letters, digits, `_` and `-`; a sensor's
name may be any text.
"""

import json
from binascii import crc32

from tenner import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.channels.mqtt.types import Topics
    from tenner.sensors.reading import Sensors

_PLAIN = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
# Values with another device class than their name.
_CLASSES = (
    "internal temperature light illuminance level - co2 carbon_dioxide rssi signal_strength "
    "uptime duration"
)


async def announce(mqtt: "Topics", sensors: "Sensors", sensor: str, values: dict) -> bool:
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
            unit = sensors.unit(value)
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
