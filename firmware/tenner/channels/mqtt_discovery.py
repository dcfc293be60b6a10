# tenner channels.mqtt_discovery: tells Home Assistant what a board measures.
# MIT license; Copyright (c) 2026 the tenner authors
"""Home Assistant's documentation, "MQTT discovery": one retained config message for each value."""

import json

from tenner import __version__

# Values whose name is not their device class there.
_CLASSES = "internal temperature light illuminance level - co2 carbon_dioxide rssi signal_strength uptime duration"


async def announce(mqtt, sensors, sensor, values):
    """Publish the config of each value of a sensor; return whether the broker has them all."""
    for value in sorted(values):
        key = "%s_%s_%s" % (mqtt.id, sensor, value)
        config = {
            "name": "%s %s" % (sensor, value),
            "unique_id": key,
            "state_topic": "%s/sensor/%s" % (mqtt.base, sensor),
            "value_template": "{{ value_json.%s }}" % value,
            "availability_topic": mqtt.base + "/status",
            "state_class": "measurement",
            "device": {
                "identifiers": ["tenner-" + mqtt.id],
                "name": mqtt.config.get("name"),
                "manufacturer": "tenner",
                "sw_version": __version__,
            },
        }
        unit = sensors.unit(value)
        if unit:
            config["unit_of_measurement"] = unit
        kind = _device_class(value)
        if kind and unit:
            config["device_class"] = kind
        topic = "%s/sensor/%s/config" % (mqtt.config.get("mqtt.discovery"), key)
        if not await mqtt.publish_at(topic, json.dumps(config), retain=True):
            return False
    return True


def _device_class(value):
    words = _CLASSES.split()
    if value in words[::2]:
        kind = words[words.index(value) + 1]
        return None if kind == "-" else kind
    known = "temperature humidity pressure voltage current distance"
    return value if value in known.split() else None
