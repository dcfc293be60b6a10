# tenner schedule.notices: which notices are sent now, later as one digest, or not again.
# MIT license; Copyright (c) 2026 the tenner authors
"""
`service.faults` has a list for each sensor that has failed lately: [first failure, last failure,
how many, whether it was told, the last notice], times in UTC seconds. A sensor that fails now and
then is one outage until it has answered for a minute. A new outage soon after a notice is told
only when it lasts.

state/held.jsonl has a line [UTC second, mark, text] for each message that quiet hours hold; a mark
that stands twice is one message.
"""

import re
from binascii import hexlify
from hashlib import sha256

from tenner.log import log
from tenner.port.compat import const
from tenner.schedule import alarm_texts, alarms, decide, schedule_files
from tenner.schedule.alarm_texts import span
from tenner.schedule.task import Task
from tenner.store import json_strict
from tenner.store.hours import Hours
from tenner.store.outbox_item import apart

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.schedule.types import Alarms, Look, Watching

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

_ALARM = const("al:")
_END = const("ae:")
# The places in a row of a digest: the number of the episode, or another mark, two times, a text.
_NUMBER = const(0)
_FROM = const(1)
_UNTIL = const(2)
_TEXT = const(3)

DIGEST = "digest"
# A message to Telegram has 4,096 characters at most; the rest is counted.
_MOST = const(3000)


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


# Each text has a mark. Only texts confirmed as sent count, over reboots too; the outbox knows a
# waiting alert by the same mark.
#
# state/said.jsonl has a line ["mark of a text",when it arrived] for each; 0 is an unknown time.
# Behind that stands the channel's id of the first message of an alarm's episode, if it has one.
def is_repeat(heartbeat: "Watching", mark: str) -> bool:
    """Return whether the owner was told the text of that mark within `heartbeat.dedup_h`."""
    at = _sent_at(heartbeat, mark)
    if at == 0 and heartbeat.app.clock.trusted:
        confirm(heartbeat, mark)
    return at is not None


def confirm(heartbeat: "Watching", mark: str, id: int | None = None) -> None:
    """Note that the text of that mark has arrived, as the message `id` of its channel."""
    clock = heartbeat.app.clock
    at = clock.now() if clock.trusted else 0
    try:
        for one in apart(mark):
            line = '["%s",%d' % (one, at)
            if id and one[:3] == _ALARM:
                line += ",%d" % (first(heartbeat, one) or id)
            schedule_files.of(heartbeat).keep_mark(line + "]")
    except OSError as error:
        log("heartbeat", "delivery of an alert not stored: %s" % error)


def first(heartbeat: "Watching", mark: str) -> int | None:
    """Return the id of the first message of the episode that a mark belongs to, None if
    unknown."""
    start = ('["%s%s' % (_ALARM, mark[3:].split(".")[0])).encode()
    end = len(start)
    for line in schedule_files.of(heartbeat).marks():
        if line.startswith(start) and line[end : end + 1] in (b'"', b"."):
            id = line[:-1].split(b",")[-1]
            if line.count(b",") == 2 and line.endswith(b"]") and id.isdigit():
                return int(id)
    return None


def _sent_at(heartbeat, mark):
    """Return when the text of that mark arrived last, None if not within the window."""
    at = None
    start = ('["%s",' % mark).encode()
    for line in schedule_files.of(heartbeat).marks():
        when = line[len(start) : -1].split(b",")[0]
        if line.startswith(start) and line.endswith(b"]") and when.isdigit():
            at = int(when)
    clock = heartbeat.app.clock
    now = clock.now()
    window_s = _window_s(heartbeat)
    if ":" in mark:
        # The mark of an episode is never used again, so it has no window.
        return at
    age_s = now - (at or now)
    # A time in the future was written by another clock. Without a trusted clock its age is
    # unknown, and saying nothing twice is the promise.
    if -window_s < age_s < window_s or (age_s < 0 and not clock.trusted):
        return at


def _window_s(heartbeat):
    return heartbeat.app.config.get("heartbeat.dedup_h") * 3600


def mark_of(heartbeat: "Watching", text: str) -> str | None:
    """Return the mark of a text; None when everything may be said again at once."""
    if not _window_s(heartbeat):
        return None
    text = " ".join(text.lower().split())
    if heartbeat.app.config.get("heartbeat.dedup_numbers"):
        # `12.5 of 30` becomes `# of #`.
        text = re.compile("[0-9]+([.,][0-9]+)*").sub("#", text)
    return hexlify(sha256(text.encode()).digest()[:8]).decode()


def why_held(occurrences: "Look", task: Task) -> str | None:
    """Return why a message of this alarm is not sent now: `held until 08:00`; None when it is."""
    moment = occurrences.moment
    if alarms.is_muted(task.condition, moment):
        return "muted until " + occurrences.zone.short(task.condition.muted)[11:]
    if task.urgent:
        return None
    if task.hours and moment.trusted and Hours(task.hours).active(_minute(occurrences)):
        return None
    return quiet(occurrences)


def quiet(occurrences: "Look") -> str | None:
    """Return `held until 08:00` in the quiet hours of all, None outside."""
    window = occurrences.service.window
    if not window:
        return None
    if not occurrences.moment.trusted:
        return "held (clock not set)"
    hours = Hours(window)
    if hours.active(_minute(occurrences)):
        return None
    return "held until %02d:%02d" % divmod(hours.start, 60)


def _minute(occurrences):
    local = occurrences.zone.local(occurrences.moment.now)
    return local[3] * 60 + local[4]


def wait_s(occurrences: "Look") -> int:
    """Return the seconds until the quiet hours are over, 0 when they are."""
    if quiet(occurrences) is None:
        return 0
    if not occurrences.moment.trusted:
        return 60
    local = occurrences.zone.local(occurrences.moment.now)
    minute = local[3] * 60 + local[4]
    return ((Hours(occurrences.service.window).start - minute) % 1440 or 1) * 60 - local[5]


def digest_task(occurrences: "Look") -> Task | None:
    """Return the task that sends the held messages, None in quiet hours or without any."""
    if not occurrences.log.files.is_holding() or quiet(occurrences) is not None:
        return None
    task = Task()
    task.key = DIGEST
    task.alert = True
    task.due = occurrences.moment.now
    task.asked = True
    return task


def digest(occurrences: "Look") -> tuple[str, str]:
    """Return (text, mark) of the message: one row for each episode, those that go on first."""
    zone = occurrences.zone
    service = occurrences.service
    board = alarm_texts.board(service)
    rows = []
    marks = []
    left_out = []
    length = 0
    for utc, mark, said in _held(occurrences.log.files):
        if mark in marks:
            continue
        marks.append(mark)
        # The name of the board stands at the top.
        said = said[len(board) :] if said.startswith(board) else said
        at = zone.short(utc)[11:]
        number = mark[3:].split(".")[0] if mark[:3] in (_ALARM, _END) else mark
        found = [row for row in rows if row[_NUMBER] == number]
        if not found and number not in left_out:
            length += len(said)
            if length > _MOST:
                left_out.append(number)
            else:
                rows.append([number, at, "", said])
        elif found and mark[:3] == _END:
            found[0][_UNTIL] = at
            # How long it lasted, and its extremes.
            found[0][_TEXT] += "; " + said.rpartition("; ")[2]
    for task in service.tasks or ():
        for row in rows:
            if task.condition and row[_NUMBER] == str(_id(task)) and alarms.is_open(task):
                row[_UNTIL] = "now"
                value = task.condition.alarm[alarms.LAST]
                if value is not None:
                    sign = alarm_texts.sign(task.condition)
                    row[_TEXT] += "; now %s%s" % (decide.shown(task.condition, value), sign)
    lines = [_row(row) for row in rows if row[_UNTIL] == "now"]
    lines += [_row(row) for row in rows if row[_UNTIL] != "now"]
    if left_out:
        lines.append("... and %d more; /alarms shows how things are" % len(left_out))
    hours = Hours(service.window).quiet() if service.window else ""
    head = "While it was quiet (%s):\n" % hours if hours else "While it was quiet:\n"
    return board + head + "\n".join(lines), "di:%s-%d" % (marks[0] if marks else "", len(marks))


def _row(row):
    """Return `01:00-01:10 Hot!; 10 min, highest 35.2 °C`."""
    until = "-" + row[_UNTIL] if row[_UNTIL] else ""
    return "%s%s %s" % (row[_FROM], until, row[_TEXT])


def marks(service: "Watching") -> set[str]:
    """Return the marks of the held messages."""
    return {mark for _, mark, _ in _held(schedule_files.of(service))}


def _held(files):
    for line in files.holding():
        try:
            utc, mark, said = json_strict.loads(line)
        except (ValueError, TypeError):
            continue  # torn by a power cut, or no line of ours
        if isinstance(utc, int) and isinstance(mark, str) and isinstance(said, str):
            yield utc, mark, said


def _id(task):
    alarm = task.condition.alarm
    return alarm[alarms.ID] if alarm else 0


def hold(service: "Watching", now: int, mark: str, said: str) -> None:
    """Keep a message for the end of the quiet hours."""
    schedule_files.of(service).hold([now, mark, said])
