# tenner schedule.turns: gives the tasks that are due to a model.
# MIT license; Copyright (c) 2026 the tenner authors
"""
What decides before and what settles after is elsewhere: a turn needs the heap for itself. In the
prompt, what never changes comes first and the time last: providers cache an unchanged beginning.
"""

from tenner.schedule import items
from tenner.schedule.gates import describe


async def run_groups(heartbeat, tasks):
    """Run tasks by a model, those of one model together. (action, reason) of the last."""
    models = []
    for task in tasks:
        if task.model not in models:
            models.append(task.model)
    answer = None
    for index, model in enumerate(models):
        answer = await _run_group(heartbeat, [t for t in tasks if t.model == model], model)
        if answer[0] != "run":
            # The groups behind this one have not begun.
            rest = [t for t in tasks if models.index(t.model) > index and not t.asked]
            if rest:
                _ledger(heartbeat).hold(rest, answer[1])
            break
    return answer


async def _run_group(heartbeat, tasks, model):
    begun = _ledger(heartbeat).begin(tasks)
    usual = heartbeat.config.get("heartbeat.model") or None
    tokens = 0
    only = result = None
    try:
        if heartbeat.config.get("heartbeat.mode") == "decide" and heartbeat.ask is not None:
            reply = await heartbeat.ask(_prompt(heartbeat, tasks, None, True), usual)
            tokens = reply.tokens_in + reply.tokens_out
            only = _choice(heartbeat, tasks, reply)
        else:
            model = model or usual
        if only != []:
            # Nothing but this may be alive while the turn runs.
            text = _prompt(heartbeat, tasks, only)
            result = await heartbeat.run_turn(text, kind="heartbeat", model=model)
    except Exception as error:
        # Also what only a bug raises: a failed turn must never pass for a quiet one.
        result = error
    from tenner.schedule import outcome

    return await outcome.settle(heartbeat, begun, result, tokens)


def _ledger(heartbeat):
    from tenner.schedule.ledger import Ledger

    return Ledger(heartbeat)


def _prompt(heartbeat, tasks, only, numbered=False):
    """A function that gives the prompt's pieces afresh, the same each time."""
    time_text = heartbeat.part("zone").tell(heartbeat.clock.now(), heartbeat.clock.trusted)
    plain, lines = _which(tasks)
    opened = [(task.gate, task.opened) for task in tasks if task.opened is not None]

    def pieces():
        unit = heartbeat.part("sensors").unit
        return _pieces(heartbeat.stores(), plain, lines, opened, unit, time_text, only, numbered)

    return pieces


def _choice(heartbeat, tasks, reply):
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
        plain, lines = _which(tasks)
        # Numbers that mean nothing are no reason to drop what should run.
        return _chosen(heartbeat.stores(), plain, lines, numbers) or None
    return []


def _which(tasks):
    """Whether the items without clauses run, and the lines of those that have some."""
    return any(task.key == 0 for task in tasks), [task.line for task in tasks if task.key]


# --- the prompt


def _pieces(stores, plain, lines, opened, unit, time_text, only=None, numbered=False):
    """
    Yield the prompt. `plain`: with the items that have no clauses; `lines`: of the items that
    have, and are due; `only`: None or the lines a model chose of both; `opened`: (gate, value)
    pairs of those a sensor has opened.
    """
    number = 0
    general = False
    for kind, _line, text, _clauses in items.read(stores.lines()):
        if kind == items.GENERAL:
            general = True
            yield text + "\n"
    yield "\nTasks due now:\n" if general else "Tasks due now:\n"
    for kind, line, text, clauses in items.read(stores.lines()):
        if kind != items.TASK or (only is not None and line not in only):
            continue
        if line in lines if clauses else plain:
            number += 1
            yield "%s %s\n" % ("%d." % number if numbered else "-", text)
    if not number:
        yield "- The text above.\n"
    for index, (gate, value) in enumerate(opened):
        yield "\nReadings:\n" if not index else ""
        sign = unit(gate.value)
        yield "- %s%s\n" % (describe(gate, value), " (%s)" % sign if sign else "")
    yield "\nTime: %s\n" % time_text


def text_of(stores, line_number):
    """The text of one task."""
    for kind, line, text, _clauses in items.read(stores.lines()):
        if kind == items.TASK and line == line_number:
            return text
    return ""


def _chosen(stores, plain, lines, numbers):
    """Lines of the tasks a model chose by their number in the prompt."""
    picked = []
    number = 0
    for kind, line, _text, clauses in items.read(stores.lines()):
        if kind == items.TASK and (line in lines if clauses else plain):
            number += 1
            if number in numbers:
                picked.append(line)
    return picked
