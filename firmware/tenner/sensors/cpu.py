# tenner sensors.cpu: the board itself: heap, uptime, and what its port can tell.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.log import uptime_s


async def read(port, cfg):
    free, used = port.memory()
    values = {"heap_used": used, "uptime": int(uptime_s())}
    if free:
        values["heap_free"] = free
    for name, method in (("temperature", "die_temperature"), ("rssi", "rssi")):
        # Not every chip measures itself, and not every board has Wi-Fi.
        if hasattr(port, method):
            values[name] = getattr(port, method)()
    return values
