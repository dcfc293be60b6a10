# tenner schedule.prompt: what the model is asked on a beat, in pieces read from HEARTBEAT.md.
# MIT license; Copyright (c) 2026 the tenner authors
"""
What never changes comes first and the time last: providers cache an unchanged beginning.
"""

from tenner.schedule import items
from tenner.schedule.gates import describe


def pieces(stores, plain, lines, opened, unit, time_text, only=None, numbered=False):
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


def chosen(stores, plain, lines, numbers):
    """Lines of the tasks a model chose by their number in the prompt."""
    picked = []
    number = 0
    for kind, line, _text, clauses in items.read(stores.lines()):
        if kind == items.TASK and (line in lines if clauses else plain):
            number += 1
            if number in numbers:
                picked.append(line)
    return picked
