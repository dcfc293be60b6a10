# tenner schedule.prompt: what a model is asked about the tasks that are due, and which of them it chose.
# MIT license; Copyright (c) 2026 the tenner authors
"""What never changes comes first and the time last: providers cache an unchanged beginning."""

from tenner.schedule import items
from tenner.schedule.gates import describe


def prompt(heartbeat, tasks, only=None, numbered=False):
    """The prompt for these tasks; `only`: None, or the lines of those a model has chosen."""
    app = heartbeat.app
    pieces, due = read(heartbeat, tasks)
    pieces.append("\nTasks due now:" if pieces else "Tasks due now:")
    if only is not None:
        due = [found for found in due if found[0] in only]
    for number, (_, text) in enumerate(due or ((0, "The text above."),), 1):
        pieces.append("%s %s" % ("%d." % number if numbered else "-", text))
    opened = [task for task in tasks if task.opened is not None]
    if opened:
        pieces.append("\nReadings:")
    for task in opened:
        sign = app.part("sensors").unit(task.gate.value)
        text = describe(task.gate, task.opened)
        pieces.append("- %s%s" % (text, " (%s)" % sign if sign else ""))
    clock = app.clock
    pieces.append("\nTime: %s\n" % app.part("zone").tell(clock.now(), clock.trusted))
    return "\n".join(pieces)


def read(heartbeat, tasks):
    """
    (general text, (line, text) of each task): the items that have clauses, and those without when the
    beat is due.
    """
    general = []
    due = []
    lines = [task.line for task in tasks if task.key]
    for kind, line, text, clauses in items.read(heartbeat.stores().lines()):
        if kind == items.GENERAL:
            general.append(text)
        elif kind == items.TASK and (line in lines if clauses else len(lines) < len(tasks)):
            due.append((line, text))
    return general, due


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
        due = enumerate(read(heartbeat, tasks)[1], 1)
        # Numbers that mean nothing are no reason to drop what should run.
        return [line for number, (line, _) in due if number in numbers] or None
    return []
