# tenner schedule.faults: one notice for an outage of a sensor, and one when it is over.
# MIT license; Copyright (c) 2026 the tenner authors
"""
`service.faults` has a list for each sensor that has failed lately: [first failure, last failure,
how many, whether it was told, the last notice], times in UTC seconds. A sensor that fails now and
then is one outage until it has answered for a minute. A new outage soon after a notice is told
only when it lasts.
"""

from tenner.log import log
from tenner.port.compat import const
from tenner.schedule.alarm_texts import span

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.schedule.types import Alarms, Look

_STABLE_S = const(60)
# After a notice the next outage of the same sensor is told when it has lasted so long, or after
# this time.
_LASTS_S = const(600)
_NOTICE_S = const(3600)

#: Places in a list of `service.faults`.
SINCE = const(0)
_LAST = const(1)
COUNT = const(2)
_TOLD = const(3)
_NOTICE = const(4)


def note(occurrences: "Look", sensor: str, sentence: str | None, line: int) -> None:
    """Note the answer of a sensor for the task of that line: None, or the sentence that says why
    it failed."""
    service = occurrences.service
    now = occurrences.moment.now
    fault = service.faults.get(sensor)
    if sentence is None:
        # Also when the clock was set back.
        if fault and fault[COUNT] and not 0 <= now - fault[_LAST] < _STABLE_S:
            _over(service, sensor, fault, now)
        return
    if fault is None:
        fault = service.faults[sensor] = [now, now, 0, False, 0]
    if not fault[COUNT]:
        fault[SINCE] = now
        fault[_TOLD] = False
        service.dirty = True
        log("heartbeat", "sensor %s failed: %s" % (sensor, sentence))
    fault[_LAST] = now
    fault[COUNT] += 1
    recent = 0 <= now - fault[_NOTICE] < _NOTICE_S
    if fault[_TOLD] or (recent and now - fault[SINCE] < _LASTS_S):
        return
    fault[_TOLD] = True
    fault[_NOTICE] = now
    service.dirty = True
    service.app.agent.notify(
        "I cannot read the sensor %s (HEARTBEAT.md line %d): %s Its alarms wait until it answers."
        % (sensor, line, _sentence(sentence))
    )


def _over(service, sensor, fault, now):
    lasted = span(fault[_LAST] - fault[SINCE])
    text = "The sensor %s answers again" % sensor
    if fault[COUNT] > 1 and lasted:
        text += "; it failed %d times in %s" % (fault[COUNT], lasted)
    text += "."
    if fault[_TOLD]:
        service.app.agent.notify(text)
        fault[_NOTICE] = now
    else:
        log("heartbeat", text)
    fault[COUNT] = 0
    service.dirty = True


def silent(service: "Alarms") -> list[str]:
    """Return the names of the sensors that do not answer."""
    return sorted([name for name in service.faults if service.faults[name][COUNT]])


def _sentence(text):
    """Return the text with one stop at its end."""
    text = text.strip()
    return text if text[-1:] in (".", "!", "?") else text + "."
