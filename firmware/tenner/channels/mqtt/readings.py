# tenner channels.mqtt.readings: publishes the values of the sensors and the state of the board.
# MIT license; Copyright (c) 2026 the tenner authors

import json
from binascii import crc32

from tenner import __version__
from tenner.agent import health
from tenner.channels.mqtt import discovery, update_entity
from tenner.log import log
from tenner.port.compat import const
from tenner.sensors.errors import SensorError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.channels.mqtt.types import Announced

#: In `announced`, beside the shapes of sensors.
_UPDATE = const(-1)
_PROBLEM = const(-2)
_SHOWN = const(4)  # services that fail
_LONGEST = const(160)  # letters of each one's sentence


async def publish(mqtt: "Announced") -> None:
    """Publish the state of the board and the values of every sensor."""
    state = {
        "name": mqtt.config.get("name"),
        "version": __version__,
        "up_s": mqtt.mono_s(),
        "heap_free": mqtt.port.memory()[0],
        "failing": [one[:_LONGEST] for one in health.sentences()[:_SHOWN]],
    }
    await mqtt.publish("state", json.dumps(state), retain=True)
    get = mqtt.config.get
    if state["failing"] and get("mqtt.discovery") and _PROBLEM not in mqtt.announced:
        if await discovery.announce_problem(mqtt):
            mqtt.announced.append(_PROBLEM)
    if get("update.url") and get("mqtt.discovery") and _UPDATE not in mqtt.announced:
        if await update_entity.announce(mqtt):
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
            if not await discovery.announce(mqtt, sensors, name, values):
                continue
            mqtt.announced.append(shape)
        await mqtt.publish(discovery.topic(name), json.dumps(values), retain=True)
