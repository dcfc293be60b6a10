# tenner sensors.cpu: the board itself: heap, uptime, and what its port can tell.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.port.compat import ticks_diff, ticks_ms

_start = ticks_ms()


async def read(port, cfg):
    free, used = port.memory()
    values = {"heap_used": used, "uptime": ticks_diff(ticks_ms(), _start) // 1000}
    if free:
        values["heap_free"] = free
    for name, method in (("temperature", "die_temperature"), ("rssi", "rssi")):
        # Not every chip measures itself, and not every board has Wi-Fi.
        value = getattr(port, method, _nothing)()
        if value is not None:
            values[name] = value
    return values


def _nothing():
    return None
