# tenner sensors.dht22: DHT22 (AM2302) and DHT11 humidity and temperature sensors on a pin.
# MIT license; Copyright (c) 2026 the tenner authors
"""
Settings: pin, chip (dht22, am2302 or dht11).

Aosong product manual AM2302, version 1.0: 7.1 a reading gives the values measured at the one
before, so the driver makes two, 2 s apart, which is also the shortest time between them. Only
zeros have a good checksum, and come from a chip that has not measured since power-on.
"""

from tenner.sensors.checks import choice, inside, wait_ms
from tenner.sensors.errors import SensorError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.port import Port


async def read(port: "Port", cfg: dict) -> dict[str, float]:
    try:
        import dht
    except ImportError:
        raise SensorError("this MicroPython has no module dht")
    old = choice(cfg, "chip", "dht22", ("dht22", "am2302", "dht11")) == "dht11"
    name = cfg.get("pin")
    pins = port.pins()
    pins.check(name, "out")
    sensor = (dht.DHT11 if old else dht.DHT22)(pins.pin(name, "up"))
    try:
        sensor.measure()
        await wait_ms(2000)
        sensor.measure()
    except OSError:
        raise SensorError("no answer on pin %s: wiring, power, or pull-up?" % name)
    except Exception as error:
        # The module has no class for this one.
        raise SensorError("pin %s: %s" % (name, error))
    if not sensor.temperature() and not sensor.humidity():
        raise SensorError("pin %s: the sensor sent only zeros: did it lose its supply?" % name)
    return {
        "temperature": inside(sensor.temperature(), -40, 80),
        "humidity": inside(sensor.humidity(), 0, 100),
    }
