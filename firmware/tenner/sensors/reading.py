# tenner sensors.reading: one reading: the sensor's settings, its driver, and errors in words.
# MIT license; Copyright (c) 2026 the tenner authors

import sys

from tenner.port.compat import const
from tenner.sensors import SensorError
from tenner.store import files, jsontext

_MAX_BYTES = const(4096)


def load(workspace):
    """Return {name: settings} of SENSORS.json, {} when there is none; SensorError when it is wrong."""
    path = workspace + "/SENSORS.json"
    if not files.exists(path):
        return {}
    try:
        table = jsontext.loads(files.read_text(path, _MAX_BYTES))
    except (OSError, ValueError) as error:
        raise SensorError("SENSORS.json: %s" % error)
    if not isinstance(table, dict):
        raise SensorError('SENSORS.json must be an object: {"room": {"driver": "tmp102"}}')
    for name in table:
        cfg = table[name]
        if not isinstance(cfg, dict) or not isinstance(cfg.get("driver"), str):
            raise SensorError(
                'SENSORS.json: sensor %s needs a driver, as {"driver": "tmp102"}' % name
            )
    return table


async def measure(port, workspace, name):
    """Return the values of a sensor as its driver reads them now."""
    table = load(workspace)
    if name not in table:
        known = ", ".join(sorted(table)) or "none"
        raise SensorError("there is no sensor %s; SENSORS.json has: %s" % (name, known))
    cfg = table[name]
    kind = cfg["driver"]
    try:
        values = await _driver(workspace, kind).read(port, cfg)
    except SensorError as error:
        raise SensorError("sensor %s: %s" % (name, error))
    except OSError as error:
        from tenner.sensors.i2cbus import explain

        raise SensorError("sensor %s: %s" % (name, explain(error, cfg.get("bus"), None)))
    except Exception as error:
        raise SensorError(
            "sensor %s: driver %s failed: %s: %s" % (name, kind, type(error).__name__, error)
        )
    if not isinstance(values, dict) or not values:
        raise SensorError("sensor %s: driver %s gave no values" % (name, kind))
    return values


def _driver(workspace, name):
    """Return the module of a driver; the owner's own are looked for second."""
    plain = name.replace("_", "a")
    if name not in _NOT_DRIVERS and not [c for c in plain if not (c.isalpha() or c.isdigit())]:
        module = "tenner.sensors." + name
        try:
            __import__(module)
            return sys.modules[module]
        except ImportError:
            folder = workspace + "/drivers"
            if files.exists(folder + "/" + name + ".py"):
                return _own_driver(folder, name)
    raise SensorError("there is no driver %s" % name)


# The modules of this folder that drivers and readings are made of.
_NOT_DRIVERS = ("reading", "i2cbus")


def _own_driver(folder, name):
    from tenner.store import modules

    try:
        return modules.load(folder, name)
    except (ImportError, SyntaxError) as error:
        raise SensorError("driver %s cannot be loaded: %s" % (name, error))
