# tenner schedule.prompt: what a model is asked about the tasks that are due, and which of them it chose.
# MIT license; Copyright (c) 2026 the tenner authors
"""What never changes comes first and the time last: providers cache an unchanged beginning."""

from tenner.schedule import items
from tenner.schedule.gates import describe


def prompt(heartbeat, tasks, only=None, numbered=False):
    """The prompt for these tasks; `only`: None, or the lines of those a model has chosen."""
    app = heartbeat.app
    stores = heartbeat.stores()
    general = []
    chosen = []
    for kind, _, text, _ in items.read(stores.lines()):
        if kind == items.GENERAL:
            general.append(text + "\n")
    for line, text in _due(stores, tasks):
        if only is None or line in only:
            number = "%d." % (len(chosen) + 1) if numbered else "-"
            chosen.append("%s %s\n" % (number, text))
    general.append("\nTasks due now:\n" if general else "Tasks due now:\n")
    general.extend(chosen or ("- The text above.\n",))
    opened = [task for task in tasks if task.opened is not None]
    if opened:
        general.append("\nReadings:\n")
    for task in opened:
        sign = app.part("sensors").unit(task.gate.value)
        text = describe(task.gate, task.opened)
        general.append("- %s%s\n" % (text, " (%s)" % sign if sign else ""))
    clock = app.clock
    general.append("\nTime: %s\n" % app.part("zone").tell(clock.now(), clock.trusted))
    return "".join(general)


def _due(stores, tasks):
    """Yield (line, text) of the tasks: items that have clauses, and those without when the beat is due."""
    plain = any(task.key == 0 for task in tasks)
    lines = [task.line for task in tasks if task.key]
    for kind, line, text, clauses in items.read(stores.lines()):
        if kind == items.TASK and (line in lines if clauses else plain):
            yield line, text


def text_of(stores, line_number):
    """The text of one task."""
    found = ""
    for kind, line, text, _ in items.read(stores.lines()):
        if kind == items.TASK and line == line_number:
            found = text
    return found


def choice(heartbeat, tasks, reply):
    """[] to skip, the lines to run, or None for all of them."""
    from tenner.store import jsontext

    for call in reply.calls:
        try:
            chosen = jsontext.loads(call.arguments_text)
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
        due = enumerate(_due(heartbeat.stores(), tasks), 1)
        # Numbers that mean nothing are no reason to drop what should run.
        return [line for number, (line, _) in due if number in numbers] or None
    return []
