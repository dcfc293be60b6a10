"""Home Assistant with its MQTT integration alone: prints its states and complaints, a line of JSON
each; each line that it reads is an update to install, by its entity.

For a Python that has the package homeassistant:
`home_assistant.py FOLDER PORT USER PASSWORD CA_PEM`. It ends at SIGTERM.
"""

import asyncio
import json
import logging
import signal
import sys
import threading
from pathlib import Path

from homeassistant import bootstrap, config_entries, core, loader
from homeassistant.components import mqtt
from homeassistant.const import EVENT_STATE_CHANGED, Platform
from homeassistant.helpers import device_registry, entity_registry


def tell(**what):
    # In one piece: the client's thread complains too.
    sys.stdout.write(json.dumps(what, ensure_ascii=False, default=str) + "\n")
    sys.stdout.flush()


class Complaints(logging.Handler):
    """Everything that an owner would find in the log as a warning or worse."""

    def emit(self, record):
        tell(complaint=record.getMessage(), by=record.name)


def shown(home, event):
    """Tell the new state of an entity, with its attributes and the device that it belongs to."""
    state = event.data["new_state"]
    if state is None:
        return
    entry = entity_registry.async_get(home).async_get(state.entity_id)
    device = device_registry.async_get(home).async_get(entry.device_id) if entry else None
    tell(
        entity=state.entity_id,
        state=state.state,
        attributes=dict(state.attributes),
        device={"name": device.name, "maker": device.manufacturer, "version": device.sw_version}
        if device
        else None,
    )


def press(home, loop):
    """Press the button Install of each entity that is named on a line of the input."""
    for line in sys.stdin:
        call = home.services.async_call("update", "install", {"entity_id": line.strip()})
        asyncio.run_coroutine_threadsafe(call, loop)


async def main(folder, port, user, password, ca):
    logging.getLogger().addHandler(Complaints(logging.WARNING))
    Path(folder, "configuration.yaml").touch()
    home = core.HomeAssistant(folder)
    home.config.skip_pip = True
    # The integration depends on them only for the forms of its set-up.
    home.config.components |= {"http", "file_upload"}
    mqtt.PLATFORMS[:] = [Platform.SENSOR, Platform.BINARY_SENSOR, Platform.UPDATE]
    loader.async_setup(home)
    home.config_entries = config_entries.ConfigEntries(home, {})
    await bootstrap.async_load_base_functionality(home)
    home.bus.async_listen(EVENT_STATE_CHANGED, core.callback(lambda event: shown(home, event)))
    await home.async_start()
    entry = config_entries.ConfigEntry(
        version=1,
        minor_version=1,
        domain="mqtt",
        title="broker",
        source="user",
        data={
            "broker": "localhost",
            "port": int(port),
            "username": user,
            "password": password,
            "certificate": Path(ca).read_text(),
            "discovery": True,
            "discovery_prefix": "homeassistant",
        },
    )
    await home.config_entries.async_add(entry)
    tell(set_up=entry.state.value)
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    threading.Thread(target=press, args=(home, loop), daemon=True).start()
    loop.add_signal_handler(signal.SIGTERM, stop.set)
    await stop.wait()
    await home.async_stop(force=True)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
