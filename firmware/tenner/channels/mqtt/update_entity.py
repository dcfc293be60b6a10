# tenner channels.mqtt.update_entity: shows Home Assistant the running version and a newer one.
# MIT license; Copyright (c) 2026 the tenner authors
"""
Home Assistant's documentation, "MQTT Update". Its button Install sends `/update` to `say`.
Everybody at the broker could send that, so the owner answers on Telegram; without Telegram there
is no button. The newer version is that of the last daily look.
"""

import json

from tenner import __version__
from tenner.channels.mqtt import discovery
from tenner.store import files
from tenner.update import facts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.channels.mqtt.types import Announced

_TOPIC = "update"


async def announce(mqtt: "Announced") -> bool:
    """Announce the entity and publish its state, unless this board cannot update itself; return
    whether the broker has acknowledged all."""
    app = mqtt.app
    if not facts.is_possible(app):
        return True
    key = discovery.slug("%s_update" % mqtt.id)
    config = {
        "name": "update",
        "unique_id": key,
        "device_class": "firmware",
        "state_topic": "%s/%s" % (mqtt.base, _TOPIC),
        "availability_topic": mqtt.base + "/status",
        "device": discovery.device(mqtt),
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
    summary = app.state + facts.SUMMARY
    if state["latest_version"] != __version__ and files.exists(summary):
        state["release_summary"] = files.read_text(summary)
    if not await mqtt.publish(_TOPIC, json.dumps(state), retain=True):
        return False
    return await discovery.publish(mqtt, "update", key, config)
