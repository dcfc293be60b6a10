# tenner sampler: stores readings of every sensor, so that their history needs no model.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.log import log
from tenner.sensors import ring
from tenner.sensors.errors import SensorError
from tenner.store import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.app import App


async def sample(app: "App", every_s: int) -> int:
    """Store a reading if this interval has none yet; return the seconds until the next one is
    due."""
    now = app.clock.now()
    if files.exists(app.workspace + "/SENSORS.json"):
        kept = ring.Ring(app.state + "/readings", app.config.get("sensors.history_kb") * 1024)
        # No second reading after a quick restart.
        if kept.last() // every_s != now // every_s:
            values = await _read(app.get("sensors"))
            if values:
                try:
                    kept.keep(now, values)
                except OSError as error:
                    log("sensors", "readings not stored: %s" % error)
    return every_s - now % every_s


async def _read(sensors):
    """Return [(name, number)] of the sensors' present values."""
    found = []
    try:
        for name in sensors.names():
            try:
                values = await sensors.read(name)
            except SensorError as error:
                log("sensors", error)
                continue
            for key in values:
                value = values[key]
                # No text, no NaN, and no number beyond a float of the file.
                if isinstance(value, (bool, int, float)) and abs(value) < 1e38:
                    found.append(("%s.%s" % (name, key), value))
    except SensorError as error:  # in the entire file
        log("sensors", error)
    return found
