# tenner schedule.heartbeat_tasks: the tasks of HEARTBEAT.md, as kept and as a model is asked.
# MIT license; Copyright (c) 2026 the tenner authors
"""A prompt begins with its constant parts and ends with the time: providers cache an unchanged
beginning."""

from binascii import crc32

from tenner.port.compat import const
from tenner.schedule import (
    due,
    heartbeat_parser,
    known_values,
    reload,
    schedule_files,
)
from tenner.schedule.decide import describe, terms
from tenner.schedule.task import Condition, Task
from tenner.sensors import units
from tenner.store import files, json_strict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from tenner.agent.types import Owners
    from tenner.llm.reply import Reply
    from tenner.schedule.task import Request
    from tenner.schedule.types import Lines, Look

# Timed tasks kept in memory, about 250 bytes each on a board.
_MAX_TASKS = const(64)
#: Of a line with the Sun.
NO_PLACE = const(
    "the board does not know where it is; set place.latitude and place.longitude in config.json, "
    "such as 52.5 and 13.4 (the line is off until then)"
)
_TOO_LONG = const("HEARTBEAT.md is over 32 KB: its end is not read; make it shorter")
# Seconds between looks at a condition without `every`: a look costs nothing.
_CONDITION_S = const(60)


def scan(occurrences: "Look", old: "Sequence[Task]") -> tuple[list[Task] | None, list[str]]:
    """
    Return (tasks, sentences for the owner) of HEARTBEAT.md; the tasks of `old` go on where their
    items are unchanged.
    """
    heartbeat = occurrences.service
    interval_s = heartbeat.every_s
    if not interval_s:
        return None, []
    board_phase = due.board_phase(heartbeat.app.port.device_id())
    by_key = {}
    for task in old:
        by_key[task.key] = task
    tasks = []
    problems = []
    if files.size(heartbeat.file) > heartbeat_parser.MAX_FILE:
        reload.complain(problems, _TOO_LONG)
    taken = set()
    plain = general = off = False
    parsed = heartbeat.parsed
    if parsed is None:
        parsed = _items(heartbeat)
    for kind, line, text, clauses in parsed:
        if kind == heartbeat_parser.GENERAL:
            general = True
            continue
        if kind == heartbeat_parser.DONE:
            continue
        if kind == heartbeat_parser.OFF:
            off = occurrences.is_off = True
            continue
        if kind == heartbeat_parser.TASK and not clauses:
            plain = True
            continue
        if kind == heartbeat_parser.TASK and len(tasks) < _MAX_TASKS:
            key = _key_of(text, clauses, taken)
            taken.add(key)
            task = by_key.get(key) or build(clauses, key, board_phase, interval_s)
            task.line = line
            for term in terms(task.condition) if task.condition else ():
                term.imperial = heartbeat.app.config.get("units") == "imperial"
            text = unknown(heartbeat, clauses)
            if task.cron and task.cron[:3] == "sun" and " " not in task.cron:
                get = heartbeat.app.config.get
                task.cron += " %s %s" % (get("place.latitude"), get("place.longitude"))
                if not is_placed(heartbeat.app):
                    off = occurrences.is_off = True
                    reload.complain(problems, "HEARTBEAT.md line %d: %s" % (line, NO_PLACE))
                    continue
            tasks.append(task)
            if not text:
                continue
        elif kind == heartbeat_parser.TASK:
            text = "over %d timed tasks; this one does not run" % _MAX_TASKS
        if line:
            text = "HEARTBEAT.md line %d: %s" % (line, text)
        reload.complain(problems, text)
    # General text is background for the tasks; without any it is the task.
    heartbeat.has_work = plain or (general and not tasks and not off)
    if heartbeat.has_work or not tasks:
        tasks.insert(0, by_key.get(0) or build({}, 0, board_phase, interval_s))
    reload.prune(occurrences, tasks)
    return tasks, problems


def _items(heartbeat):
    known = heartbeat.known or known_values.load(heartbeat.app.workspace)
    return heartbeat_parser.read(schedule_files.of(heartbeat).lines(), known, heartbeat.rules)


def next_one(app: "Owners", name: str) -> tuple:
    """Return the (channel, chat) of whom `escalate` names: a channel, or one of `people`, whom
    `telegram.allow` has. () for an unknown one."""
    get = app.config.get
    if name == "mqtt":
        return ("mqtt", app.mqtt.owner) if app.mqtt else ()
    if name == "console":
        return ("console", "owner") if app.console else ()
    owner = str(get("telegram.owner"))
    chat = owner if name == "telegram" else str(get("people." + name) or "")
    allowed = [owner] + [str(one) for one in get("telegram.allow") or ()]
    return ("telegram", chat) if chat and chat in allowed and get("telegram.token") else ()


def is_placed(app: "Owners") -> bool:
    """Return whether the settings say where the board is."""
    return None not in (app.config.get("place.latitude"), app.config.get("place.longitude"))


def unknown(heartbeat: "Lines", clauses: dict) -> str:
    """Return a sentence where `escalate` names nobody, else ""."""
    if "escalate" not in clauses or next_one(heartbeat.app, clauses["escalate"][1]):
        return ""
    return (
        'nobody is called %s: "people.%s" in config.json names a chat that telegram.allow has; '
        "until then you are told twice" % (clauses["escalate"][1], clauses["escalate"][1])
    )


def build(clauses: dict, key: int, board_phase: int, interval_s: int) -> Task:
    """Return the Task of one parsed item; `board_phase` is the board's number for the phase of the
    grid."""
    task = Task()
    task.key = key
    # A clause that is missing costs nothing: its default stands in the class.
    for name in clauses:
        value = clauses[name]
        if name == "when":
            task.condition = condition_of(value)
        elif name == "every_s":
            task.every_s = value
        elif name == "daily":
            task.cron = "%s %s * * *" % (value[3:], value[:2])
        elif name == "cron":
            task.cron = value
        elif name == "once":
            task.once = value
        elif name == "hours":
            task.hours = value
        elif name == "model":
            task.model = value
        elif name == "notify":
            task.notify = value
        elif name == "urgent":
            task.urgent = value
        elif name == "resolve":
            task.resolve = value
        elif name == "repeat_s":
            task.repeat_s = value
        elif name == "escalate":
            task.escalate = value
        else:
            task.chart_s = value
    if not (task.every_s or task.cron or task.once):
        # Without a condition it falls due with the beat, and still counts as a separate task.
        task.every_s = _CONDITION_S if task.condition else interval_s
    if task.escalate and task.every_s:
        # It is looked at in time.
        task.every_s = min(task.every_s, task.escalate[0])
    if task.every_s:
        task.phase_s = board_phase % task.every_s
    return task


def condition_of(value: dict) -> Condition:
    """Return the Condition of a parsed `when`."""
    parts = value.get("all") or value.get("any") or [value]
    made = []
    for part in parts:
        one = Condition()
        one.sensor, one.value, one.op = part["sensor"], part["value"], part["op"]
        one.number = part["number"]
        if "number2" in part:
            one.number2 = part["number2"]
        if "for_s" in part:
            one.for_s = part["for_s"]
        if "within_s" in part:
            one.within_s = part["within_s"]
        if "reset" in part:
            one.reset = part["reset"]
        made.append(one)
    first = made.pop(0)
    if made:
        first.also = made
        first.either = "any" in value
        first.for_s = value.get("for_s", 0)
    return first


def _key_of(text, clauses, taken):
    """Return a short number that names the item until it is edited."""
    for name in sorted(clauses):
        value = clauses[name]
        text += "%s %s" % (name, _sorted(value))
    key = crc32(text.encode()) & 0xFFFFFF
    # Two equal lines are two tasks.
    while key == 0 or key in taken:
        key = (key + 1) & 0xFFFFFF
    return key


def _sorted(value):
    """Return a value in which dicts are sorted: they do not keep their order."""
    if isinstance(value, dict):
        return [(name, _sorted(value[name])) for name in sorted(value)]
    return [_sorted(one) for one in value] if isinstance(value, list) else value


# --- asked


def prompt(heartbeat: "Lines", request: "Request") -> str:
    """
    Return the prompt for the tasks of `request`, from its `items`, and note their lines if a model
    is to choose; if it has chosen, for those only.
    """
    app = heartbeat.app
    general, found = request.items
    pieces = general + ["\nTasks due now:" if general else "Tasks due now:"]
    if request.choose:
        request.lines = [line for line, _ in found]
    elif request.lines is not None:
        found = [one for one in found if one[0] in request.lines]
    for number, (_, text) in enumerate(found or ((0, "The text above."),), 1):
        pieces.append("%s %s" % ("%d." % number if request.choose else "-", text))
    met = [task for task in request.tasks if task.trigger_value is not None]
    if met:
        pieces.append("\nReadings:")
    for task in met:
        sign = units.unit(task.condition.value)
        if task.condition.imperial:
            sign = units.imperial(0, sign)[1]
        text = describe(task.condition, task.trigger_value)
        pieces.append("- %s%s" % (text, " (%s)" % sign if sign else ""))
    clock = app.clock
    pieces.append("\nTime: %s\n" % app.get("zone").tell(clock.now(), clock.trusted))
    return "\n".join(pieces)


def know(heartbeat: "Lines") -> None:
    """Read SENSORS.json: before the parser, since memory has no room for the code of both."""
    heartbeat.known = known_values.load(heartbeat.app.workspace)


async def read_items(heartbeat: "Lines", request: "Request") -> None:
    """Read the items of a request."""
    request.items = read(heartbeat, request.tasks + list(request.others))
    heartbeat.known = None


def read(heartbeat: "Lines", tasks: list[Task]) -> tuple[list[str], list[tuple[int, str]]]:
    """
    Return (general text, (line, text) of each task): the items that have clauses, and those
    without when the beat is due.
    """
    general = []
    found = []
    lines = [task.line for task in tasks if task.key]
    for kind, line, text, clauses in _items(heartbeat):
        if kind == heartbeat_parser.GENERAL:
            general.append(text)
        elif kind == heartbeat_parser.TASK and (
            line in lines if clauses else len(lines) < len(tasks)
        ):
            found.append((line, text))
    return general, found


def choice(lines: "Sequence[int]", reply: "Reply") -> list[int] | None:
    """Return [] to skip, those of `lines` to run, or None for all of them."""
    for call in reply.calls:
        try:
            chosen = json_strict.loads(call.arguments_text or "")
        except ValueError:
            continue
        if (
            call.name != "heartbeat"
            or not isinstance(chosen, dict)
            or chosen.get("action") != "run"
        ):
            continue
        numbers = chosen.get("tasks")
        if not isinstance(numbers, list):
            return None
        # Unknown numbers are no reason to drop tasks that should run.
        return [line for number, line in enumerate(lines, 1) if number in numbers] or None
    return []
