# tenner sensors.gpio: the level of a pin: a contact, a button, a motion sensor.
# MIT license; Copyright (c) 2026 the tenner authors
"""
Settings: pin, pull (up, down, or none, which is the default), invert (true when low means on).
"""

from tenner.sensors.checks import choice

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.port import Port


async def read(port: "Port", cfg: dict) -> dict[str, int]:
    pull = choice(cfg, "pull", "none", ("none", "up", "down"))
    pin = port.pins().pin(cfg.get("pin"), "in" if pull == "none" else pull)
    return {"state": (1 if pin.value() else 0) ^ (1 if cfg.get("invert") else 0)}
