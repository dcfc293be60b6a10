# tenner sensors.reading: the sensors of SENSORS.json: driver, one reading, errors in words.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio

from tenner import overlay, overlay_loader
from tenner.log import is_odd, visible
from tenner.net.json import strict
from tenner.port.compat import const, ticks_diff, ticks_ms
from tenner.port.package import locate
from tenner.sensors import bus_errors
from tenner.sensors.errors import SensorError
from tenner.store import expose, files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.port import Port

#: A driver that waits longer for its chip is stopped: other sensors wait for it.
DEADLINE_S = 10

#: Of a sensor whose name looks like an order.
ODD = "SENSORS.json: a sensor's name has no quotes, braces or control characters: rename %s"

#: The largest SENSORS.json.
MAX_BYTES = const(4096)
#: No sensor measures so much; NaN and infinity are no readings either.
_MOST = 1e30

_FRESH_MS = const(2000)


def load(workspace: str) -> dict[str, dict]:
    """Return {name: settings} of SENSORS.json, {} when it is absent; SensorError when it is
    wrong."""
    path = workspace + "/SENSORS.json"
    if not files.exists(path):
        return {}
    try:
        table = strict.loads(files.read_text(path, MAX_BYTES))
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


async def measure(port: "Port", workspace: str, name: str) -> dict:
    """Return the values of a sensor as its driver reads them now."""
    table = load(workspace)
    if name not in table:
        known = ", ".join(sorted([one for one in table if not is_odd(one)])) or "none"
        raise SensorError("there is no sensor %s; SENSORS.json has: %s" % (name, known))
    if is_odd(name):
        raise SensorError(ODD % visible(name))
    return await measure_by(port, workspace, name, table[name])


async def measure_by(port: "Port", workspace: str, name: str, cfg: dict) -> dict:
    """Return the values of a sensor with these settings."""
    kind = cfg["driver"]
    try:
        return await _answer(kind, _driver(workspace, cfg), port, cfg)
    except SensorError as error:
        text = error
    except (OSError, asyncio.TimeoutError) as error:
        # CPython has one class for our deadline and for the ETIMEDOUT of a bus, which comes with a
        # number.
        if error.args:
            text = bus_errors.explain(error, cfg.get("bus"), cfg.get("address"))
        else:
            text = "driver %s did not finish in %d s" % (kind, DEADLINE_S)
    except MemoryError:
        # Neither the driver's fault nor the chip's: the caller tries again when there is memory.
        if port.kind == "esp32":
            raise
        text = "driver %s needs more memory than there is" % kind
    except Exception as error:
        text = "driver %s failed: %s: %s" % (kind, type(error).__name__, error)
    raise SensorError("sensor %s: %s" % (name, text))


async def _answer(kind, driver, port, cfg):
    """Return the checked values of a driver. It ends neither the program nor a task of ours."""
    outcome = []
    done = asyncio.Event()
    reading = overlay.start(_ask(driver, port, cfg, outcome, done))
    try:
        await asyncio.wait_for(done.wait(), DEADLINE_S)
    finally:
        reading.cancel()
    values = outcome[0]
    if isinstance(values, Exception):
        raise values
    if isinstance(values, BaseException):
        raise SensorError("driver %s ended by %s" % (kind, type(values).__name__))
    if not isinstance(values, dict) or not values:
        raise SensorError("driver %s gave no values" % kind)
    good = {}
    for key in values:
        value = values[key]
        if not isinstance(key, str):
            raise SensorError("driver %s gave a value whose name is no text: %s" % (kind, key))
        if not isinstance(value, (int, float)) or -_MOST < value < _MOST:
            good[key] = value
    if not good:
        raise SensorError("driver %s gave no number for %s" % (kind, key))
    return good


async def _ask(driver, port, cfg, outcome, done):
    """Put the values of a driver, or its exception, into `outcome`."""
    try:
        outcome.append(await driver.read(port, cfg))
    except (Exception, asyncio.CancelledError, GeneratorExit, SystemExit) as error:
        outcome.append(error)
    done.set()


def _driver(workspace, cfg):
    """
    Return the module of a driver: a shipped one, else the owner's own, else the shipped one for
    the chip of this name.
    """
    name = cfg["driver"]
    text = ""
    if all(c.isalpha() or c.isdigit() for c in name.replace("_", "a")):
        module = _shipped(name)
        if module:
            return module
        folder = workspace + "/drivers"
        if files.exists(folder + "/" + name + ".py"):
            return expose.load(folder, name)
        for line in files.lines_of(files.blocks(*locate("sensors/chips.tsv"))):
            chip, known = line.decode().split()[:2]
            if chip == name.lower():
                cfg["chip"] = chip
                return _shipped(known)
            text += " " + chip
    raise SensorError("there is no driver %s; available:%s" % (name, text))


def _shipped(name):
    try:
        module = overlay_loader.module("tenner.sensors." + name)
    except ImportError:
        return None
    return module if hasattr(module, "read") else None


class Sensors:
    """The sensors of SENSORS.json. The file is read on demand, so that RAM never holds it."""

    def __init__(self, port: "Port", workspace: str) -> None:
        self.port = port
        self.workspace = workspace
        #: One measurement at a time: another transfer to the chip would spoil it.
        self.lock = asyncio.Lock()
        self._readings = {}

    def names(self) -> list[str]:
        """Return the sorted names, without those that look like an order; SensorError when
        SENSORS.json cannot be read."""
        return sorted([name for name in load(self.workspace) if not is_odd(name)])

    async def read(self, name: str) -> dict:
        """Return {value name: number}, from a reading up to 2 s old; raise SensorError with the
        reason."""
        async with self.lock:
            known = self._readings.get(name)
            if known is not None and ticks_diff(ticks_ms(), known[0]) < _FRESH_MS:
                return known[1]
            values = await measure(self.port, self.workspace, name)
            self._readings[name] = (ticks_ms(), values)
            return values

    def age_ms(self, name: str) -> int | None:
        """Return the age of the last reading in milliseconds, or None without one."""
        known = self._readings.get(name)
        return None if known is None else ticks_diff(ticks_ms(), known[0])
