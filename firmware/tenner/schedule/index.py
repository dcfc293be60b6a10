# tenner schedule.index: from HEARTBEAT.md to the tasks the scheduler keeps in memory.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.port.compat import const
from tenner.schedule import items
from tenner.schedule.service import Gate, Task
from tenner.schedule.slots import seed as board_seed
from tenner.schedule.watch import complain, prune

# Timed tasks kept in memory, about 250 bytes each on a board.
_MAX_TASKS = const(64)


def scan(book, old):
    """
    (tasks, sentences for the owner) of HEARTBEAT.md; the tasks of `old` go on living where their items
    are unchanged.
    """
    heartbeat = book.box
    interval_s = heartbeat.every_s
    if not interval_s:
        return None, []
    seed = board_seed(heartbeat.app.port.device_id())
    by_key = {}
    for task in old:
        by_key[task.key] = task
    tasks = []
    problems = []
    taken = set()
    plain = general = False
    for kind, line, text, clauses in items.read(book.stores.lines()):
        if kind == items.GENERAL:
            general = True
            continue
        if kind == items.TASK and not clauses:
            plain = True
            continue
        if kind == items.TASK and len(tasks) < _MAX_TASKS:
            key = _key_of(text, clauses, taken)
            taken.add(key)
            task = by_key.get(key) or build(clauses, key, seed, interval_s)
            task.line = line
            tasks.append(task)
            continue
        if kind == items.TASK:
            text = "over %d timed tasks; this one does not run" % _MAX_TASKS
        complain(problems, "HEARTBEAT.md line %d: %s" % (line, text))
    # General text is background for the tasks; without any it is the task.
    heartbeat.work = plain or (general and not tasks)
    if heartbeat.work or not tasks:
        tasks.insert(0, by_key.get(0) or build({}, 0, seed, interval_s))
    prune(book, tasks)
    return tasks, problems


def build(clauses, key, seed, interval_s):
    """Task of one parsed item; `seed` is the board's number for the phase of the grid."""
    task = Task()
    task.key = key
    for name in clauses:
        value = clauses[name]
        if name == "daily":
            task.cron = "%s %s * * *" % (value[3:], value[:2])
        elif name == "when":
            task.gate = Gate()
            for part in value:
                setattr(task.gate, part, value[part])
        else:
            setattr(task, name, value)
    if not task.every_s and not task.cron:
        # It falls due with the beat and is counted like a task of its own.
        task.every_s = interval_s
    if task.every_s:
        task.phase_s = seed % task.every_s
    return task


def _key_of(text, clauses, taken):
    """A short number that names the item as long as nobody edits it."""
    from binascii import crc32

    for name in sorted(clauses):
        value = clauses[name]
        text += "%s %s" % (name, sorted(value.items()) if isinstance(value, dict) else value)
    key = crc32(text.encode()) & 0xFFFFFF
    # Two equal lines are two tasks.
    while key == 0 or key in taken:
        key = (key + 1) & 0xFFFFFF
    return key
