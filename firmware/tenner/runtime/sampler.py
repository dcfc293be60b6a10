# tenner runtime.sampler: stores readings of every sensor, so that their history needs no model.
# MIT license; Copyright (c) 2026 the tenner authors

from binascii import crc32

from tenner.log import log
from tenner.sensors import ring
from tenner.sensors.errors import SensorError
from tenner.store import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.agent.parts import Parts


async def sample(app: "Parts", every_s: int) -> int:
    """Store a reading if this interval has none yet; return the seconds until the next one is
    due."""
    now = app.clock.now()
    if files.exists(app.workspace + "/SENSORS.json"):
        kept = ring.of(app.state, app.config)
        # No second reading after a quick restart.
        if kept.last() // every_s != now // every_s:
            values = await _read(app.get("sensors"), app.get("heartbeat"))
            if values:
                try:
                    kept.keep(now, values)
                except OSError as error:
                    log("sensors", "readings not stored: %s" % error)
    return every_s - now % every_s


async def _read(sensors, heartbeat):
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
        _tell(heartbeat, "")
    except SensorError as error:  # in the entire file
        log("sensors", error)
        _tell(heartbeat, str(error))
    return found


def _tell(heartbeat, mistake):
    """Tell the owner of a mistake in SENSORS.json, once, where no heartbeat does it."""
    if heartbeat.booted and not files.exists(heartbeat.file):
        # The same numbers as in `reload`.
        text = mistake.partition(": ")[2] or mistake
        problems = [crc32(text.encode()) & 0xFFFFFF] if mistake else []
        if problems != (heartbeat.problems or []):
            heartbeat.problems = problems
            heartbeat.dirty = True
            heartbeat.poke()
            if mistake:
                heartbeat.app.agent.notify(mistake)
