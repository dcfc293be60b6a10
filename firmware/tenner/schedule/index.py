# tenner schedule.index: from HEARTBEAT.md to the tasks the scheduler keeps in memory.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.port.compat import const
from tenner.schedule import items, tasks
from tenner.schedule.state import Task

# Timed tasks kept in memory, about 250 bytes each on a board.
MAX_TASKS = 64
_MAX_PROBLEMS = const(5)


class Index:
    """What one reading of the file found."""

    def __init__(self):
        self.tasks = []
        self.work = False
        # Sentences for the owner, a few at most, and a number that tells this set from others.
        self.problems = []
        self.problems_crc = 0


def scan(lines, interval_s, seed, old):
    """`Index` of a file; the tasks of `old` go on living where their items are unchanged."""
    index = Index()
    by_key = {}
    for task in old:
        by_key[task.key] = task
    taken = set()
    plain = general = 0
    count = 0
    for kind, line, text, clauses in items.read(lines):
        if kind == items.GENERAL:
            general += 1
        elif kind == items.PROBLEM:
            _problem(index, line, text)
        elif not clauses:
            plain += 1
        elif len(index.tasks) >= MAX_TASKS:
            count += 1
            if count == 1:
                _problem(index, line, "over %d timed tasks; from here on none runs" % MAX_TASKS)
        else:
            key = tasks.key_of(text, clauses, taken)
            taken.add(key)
            task = by_key.get(key)
            if task is None:
                task = tasks.build(clauses, line, key, seed)
                if not task.every_s and task.cron is None:
                    # It falls due with the beat and is counted like a task of its own.
                    task.beat = True
                    task.every_s = interval_s
                    task.phase_s = seed % interval_s
            task.line = line
            index.tasks.append(task)
    # General text is background for the tasks; without any it is the task.
    index.work = bool(plain or (general and not index.tasks))
    if index.work or not index.tasks:
        beat = by_key.get(tasks.BEAT_KEY)
        if beat is None:
            beat = Task()
            beat.beat = True
            beat.every_s = interval_s
            beat.phase_s = seed % interval_s
        index.tasks.insert(0, beat)
    return index


def _problem(index, line, sentence):
    from binascii import crc32

    index.problems_crc = crc32(sentence.encode(), index.problems_crc) & 0xFFFFFFFF
    if len(index.problems) < _MAX_PROBLEMS:
        index.problems.append("HEARTBEAT.md line %d: %s" % (line, sentence))
    elif len(index.problems) == _MAX_PROBLEMS:
        index.problems.append("... and more")
