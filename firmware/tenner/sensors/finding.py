# tenner sensors.finding: finds chips on the buses, and adds a sensor to SENSORS.json.
# MIT license; Copyright (c) 2026 the tenner authors

import json

from tenner.log import is_odd
from tenner.port.compat import const
from tenner.port.package import locate
from tenner.sensors import bus_errors, i2c_chips, reading
from tenner.sensors.errors import SensorError
from tenner.store import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from tenner.port import Port
    from tenner.sensors.reading import Sensors

_MAX_NAME = const(32)
_NUMBERS = ("channel", "range", "scale", "offset", "vref")
_SETTINGS = ("driver", "bus", "address", "pin", "pull", "rom", "value") + _NUMBERS
_MAX_SETTING = const(40)
#: Words of the command itself.
_WORDS = ("find", "add")


def drivers() -> list[str]:
    """Return the names of the chips that have a driver, which `driver` takes."""
    rows = files.lines_of(files.blocks(*locate("sensors/chips.tsv")))
    return [row.decode().split()[0] for row in rows]


def find(port: "Port", workspace: str) -> "Iterator[dict[str, Any]]":
    """
    Yield {"bus", "address", "chips", "drivers", "sensor"} of each chip that answers on an I2C bus:
    the usual chips at its address, the drivers for one of them, and the sensor that is there
    already or None. A bus that fails is {"bus", "problem"}.
    """
    table = reading.load(workspace)
    known = drivers()
    for bus in port.i2c_names():
        try:
            found = port.scan(bus)
        except OSError as error:
            yield {"bus": bus, "problem": bus_errors.explain(error, bus, None)}
            continue
        if not found or len(found) > bus_errors.MOST_CHIPS:
            yield {"bus": bus, "problem": i2c_chips.describe(bus, found)}
            continue
        for address in found:
            chips = i2c_chips.chips(address)
            words = chips.lower().replace(",", " ").replace(";", " ").split()
            fitting = [one for one in known if one in words]
            yield {
                "bus": bus,
                "address": "0x%02x" % address,
                "chips": chips,
                "drivers": fitting,
                "sensor": _sensor_at(table, bus, address, fitting),
            }


def _sensor_at(table, bus, address, fitting):
    """Return the name of the sensor at this address; without one in its settings it has that of
    its driver."""
    for name in table:
        cfg = table[name]
        at = cfg.get("address")
        try:
            at = int(at, 0) if isinstance(at, str) else at
        except ValueError:
            continue
        is_there = at == address or (at is None and cfg["driver"].lower() in fitting)
        if is_there and cfg.get("bus", bus) == bus and not is_odd(name):
            return name
    return None


async def attempt(sensors: "Sensors", name: str, cfg: dict) -> dict:
    """Return the values of a new sensor, or of one with these settings, whose texts become numbers
    where a driver wants them; SensorError with the reason."""
    if not name or len(name) > _MAX_NAME or name in _WORDS or not all(map(_is_plain, name)):
        raise SensorError(
            "a sensor's name has letters, digits, - and _, %d at most, such as cellar" % _MAX_NAME
        )
    for key in cfg:
        value = cfg[key]
        if key not in _SETTINGS:
            raise SensorError("%s is no setting here; known: %s" % (key, ", ".join(_SETTINGS)))
        if not isinstance(value, (str, int, float)) or len(str(value)) > _MAX_SETTING:
            raise SensorError("%s must be a text or a number" % key)
        if key in _NUMBERS:
            cfg[key] = _number(value)
    if not isinstance(cfg.get("driver"), str):
        raise SensorError("a driver is missing, such as sht31")
    # The same once more is no mistake: an answer may have been lost.
    if reading.load(sensors.workspace).get(name, cfg) != cfg:
        raise SensorError("there is a sensor %s already: take another name" % name)
    async with sensors.lock:
        return await reading.measure_by(sensors.port, sensors.workspace, name, dict(cfg))


def _number(value):
    """Return the number of a text; a channel such as `0-1` stays one."""
    for kind in (int, float):
        try:
            return kind(value)
        except ValueError:
            pass
    return value


def _is_plain(letter):
    return letter.isalpha() or letter.isdigit() or letter in "-_" or ord(letter) > 0x9F


def add(workspace: str, name: str, cfg: dict) -> None:
    """Write a sensor into SENSORS.json, behind the others and without a change to them;
    SensorError when it does not fit."""
    if name in reading.load(workspace):
        return
    path = workspace + "/SENSORS.json"
    text = files.read_text(path, reading.MAX_BYTES).strip() if files.exists(path) else "{}"
    text = text[:-1].rstrip()
    comma = "" if text == "{" else ","
    text += "%s\n  %s: %s\n}\n" % (comma, json.dumps(name), json.dumps(cfg))
    if len(text.encode()) > reading.MAX_BYTES:
        raise SensorError("SENSORS.json would have more than %d bytes" % reading.MAX_BYTES)
    try:
        files.write_atomic(path, text, files.WORKSPACE_TEMP)
    except OSError as error:
        raise SensorError("SENSORS.json could not be written: %s" % error)
