# tenner sensors: named sensors, one driver per chip.
# MIT license; Copyright (c) 2026 the tenner authors
"""
/workspace/SENSORS.json names them: {"room": {"driver": "tmp102", "bus": "i2c0", "address": "0x48"}}.
A driver is a module here, or the owner's own in /workspace/drivers, with

    async def read(port, cfg)     returns {"temperature": 21.4}; raises SensorError or OSError
"""

import sys

from tenner.port.compat import const, ticks_diff, ticks_ms
from tenner.store import files

_FRESH_MS = const(2000)
_MAX_BYTES = const(4096)

_UNITS = (
    "temperature \u00b0C humidity % pressure hPa light lx voltage V current mA distance mm co2 ppm \
level % rssi dBm uptime s heap_free B heap_used B"
)


class SensorError(Exception):
    """A sentence about a sensor that gave no value, with its name."""


class Sensors:
    """The sensors of SENSORS.json, which is read when asked and not kept."""

    def __init__(self, port, workspace):
        self.port = port
        self.workspace = workspace
        self._readings = {}

    def names(self):
        """Return the sorted names; SensorError when SENSORS.json cannot be read."""
        return sorted(self._load())

    async def read(self, name):
        """Return {value name: number}, from a reading up to 2 s old; SensorError says why not."""
        known = self._readings.get(name)
        if known is not None and ticks_diff(ticks_ms(), known[0]) < _FRESH_MS:
            return known[1]
        values = await self._measure(name, self._load())
        self._readings[name] = (ticks_ms(), values)
        return values

    def age_ms(self, name):
        """Return how old the last reading is, None when there was none."""
        known = self._readings.get(name)
        return None if known is None else ticks_diff(ticks_ms(), known[0])

    def unit(self, value_name):
        """Return the unit of a value, "" when it is not known."""
        words = _UNITS.split()
        for index in range(0, len(words), 2):
            if words[index] == value_name:
                return words[index + 1]
        return ""

    async def _measure(self, name, table):
        if name not in table:
            known = ", ".join(sorted(table)) or "none"
            raise SensorError("there is no sensor %s; SENSORS.json has: %s" % (name, known))
        cfg = table[name]
        driver = self._driver(name, cfg["driver"])
        try:
            values = await driver.read(self.port, cfg)
        except SensorError as error:
            raise SensorError("sensor %s: %s" % (name, error))
        except OSError as error:
            from tenner.sensors.i2cbus import explain

            raise SensorError("sensor %s: %s" % (name, explain(error, cfg.get("bus"), None)))
        except Exception as error:
            kind = type(error).__name__
            raise SensorError(
                "sensor %s: driver %s failed: %s: %s" % (name, cfg["driver"], kind, error)
            )
        if not isinstance(values, dict) or not values:
            raise SensorError("sensor %s: driver %s gave no values" % (name, cfg["driver"]))
        return values

    def _driver(self, name, driver):
        """Return the module of a driver; the owner's own are looked for second."""
        module = "tenner.sensors." + driver
        plain = driver.replace("_", "a")
        if not [c for c in plain if not (c.isalpha() or c.isdigit())]:
            try:
                __import__(module)
                return sys.modules[module]
            except ImportError:
                folder = self.workspace + "/drivers"
                if files.exists(folder + "/" + driver + ".py"):
                    return self._own_driver(name, folder, driver)
        raise SensorError("sensor %s: there is no driver %s" % (name, driver))

    def _own_driver(self, name, folder, driver):
        from tenner.store import plugins

        try:
            return plugins.load(folder, driver)
        except (ImportError, SyntaxError) as error:
            raise SensorError("sensor %s: driver %s cannot be loaded: %s" % (name, driver, error))

    def _load(self):
        from tenner.store import jsontext

        path = self.workspace + "/SENSORS.json"
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
