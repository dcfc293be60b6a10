# tenner sensors.cpu: the board itself: heap, uptime, and the values of its port.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.log import uptime_s

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.port import Port


async def read(port: "Port", cfg: dict) -> dict[str, float]:
    free, used = port.memory()
    # Not every chip measures its temperature, and not every board has Wi-Fi.
    values = port.vitals()
    values["heap_used"] = used
    values["uptime"] = int(uptime_s())
    if free:
        values["heap_free"] = free
    system = port.system_memory()
    if system:
        values["system_free"], values["system_block"] = system[:2]
    return values
