# tenner channels.mqtt.image: publishes a chart as an image of Home Assistant.
# MIT license; Copyright (c) 2026 the tenner authors
"""
Home Assistant's documentation, "MQTT Image": the topic has the bytes of the picture, retained. A
packet is complete in memory, beside the picture.
"""

import gc

from tenner.channels.mqtt import discovery
from tenner.port.compat import const

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from tenner.channels.mqtt.types import Images


#: The most bytes of a picture.
_MOST = const(32768)


async def publish(
    mqtt: "Images", path: str, value: str, began: "Callable[[], None]"
) -> tuple[str, str | None]:
    """Publish the chart of a value, and announce its image; return the outcome as Mqtt.send
    does."""
    if not mqtt.is_connected:
        return "retry", None
    topic = "%s/%s" % (mqtt.base, discovery.topic(value, "chart"))
    try:
        gc.collect()
        with open(path, "rb") as file:
            data = file.read(_MOST + 1)
        if len(data) > _MOST:
            return "refused", "a picture for the broker may have %d bytes" % _MOST
        began()
        if mqtt.config.get("mqtt.discovery"):
            await _announce(mqtt, topic, value)
        return await mqtt.deliver(topic, data, retain=True)
    except MemoryError:
        # Another try would find no more memory.
        return "refused", "the memory does not suffice for a picture of %d bytes" % len(data)


async def _announce(mqtt, topic, value):
    key = discovery.slug("%s_chart_%s" % (mqtt.id, value.replace(".", "_")))
    config = {
        "name": "%s chart" % value,
        "unique_id": key,
        "image_topic": topic,
        "content_type": "image/png",
        "availability_topic": mqtt.base + "/status",
        "device": discovery.device(mqtt),
    }
    await discovery.publish(mqtt, "image", key, config)
