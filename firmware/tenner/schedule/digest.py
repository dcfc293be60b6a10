# tenner schedule.digest: sends the messages that quiet hours have held as one, when they are over.
# MIT license; Copyright (c) 2026 the tenner authors
"""state/held.jsonl has a line [UTC second, mark, text] for each message; a mark that stands twice
is one message."""

from tenner.port.compat import const
from tenner.schedule import alarm_texts, alarms, conditions, schedule_files
from tenner.schedule.task import Task
from tenner.store import json_strict
from tenner.store.hours import Hours

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.schedule.types import Look, Watching

KEY = "digest"
# A message to Telegram has 4,096 characters at most; the rest is counted.
_MOST = const(3000)


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


def task_of(occurrences: "Look") -> Task | None:
    """Return the task that sends the held messages, None in quiet hours or without any."""
    if not occurrences.log.files.is_holding() or quiet(occurrences) is not None:
        return None
    task = Task()
    task.key = KEY
    task.alert = True
    task.due = occurrences.moment.now
    task.asked = True
    return task


def text(occurrences: "Look") -> tuple[str, str]:
    """Return (text, mark) of the message."""
    zone = occurrences.zone
    lines = []
    marks = []
    begun = {}
    length = more = 0
    service = occurrences.service
    board = alarm_texts.board(service)
    for utc, mark, said in _held(occurrences.log.files):
        if mark in marks:
            continue
        marks.append(mark)
        # The name of the board stands at the top.
        said = said[len(board) :] if said.startswith(board) else said
        if mark[:3] == "al:":
            begun[mark] = alarm_texts.shown(said)
        line = "%s %s" % (zone.short(utc)[11:], said)
        length += len(line)
        if length > _MOST:
            more += 1
        else:
            lines.append(line)
    if more:
        lines.append("... and %d more; /alarms shows how things are" % more)
    still = []
    for task in service.tasks or ():
        said = begun.get("al:%d" % _id(task)) if task.condition else None
        if said and alarms.is_open(task):
            value = task.condition.alarm[alarms.LAST]
            now = "" if value is None else ", now " + conditions.shown(task.condition, value)
            sign = alarm_texts.sign(service, task.condition) if now else ""
            still.append('"%s"%s%s' % (said, now, sign))
    if still:
        lines.append("Still active: " + "; ".join(still))
    hours = Hours(occurrences.service.window).quiet() if occurrences.service.window else ""
    head = "While it was quiet (%s):\n" % hours if hours else "While it was quiet:\n"
    return board + head + "\n".join(lines), "di:%s-%d" % (marks[0] if marks else "", len(marks))


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
    return alarm[alarms.ID] if alarm and alarm is not True else 0


def hold(service: "Watching", now: int, mark: str, said: str) -> None:
    """Keep a message for the end of the quiet hours."""
    schedule_files.of(service).hold([now, mark, said])
