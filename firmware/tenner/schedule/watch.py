# tenner schedule.watch: takes in what changes round a service: boots, its file, the clock.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.log import log
from tenner.port.compat import const
from tenner.schedule import slots
from tenner.schedule.book import more_of, name_of
from tenner.schedule.service import Task

# Lines that may have been written since the state was, beside two for each task.
_TAIL = const(24)
_SHORT_BOOTS = const(3)
_FIRST_BEAT_S = const(60)
_JUMP_S = const(30)
_MAX_PROBLEMS = const(5)


def look(book):
    """Take in what has changed since the last wake: a boot, the file, the clock."""
    box = book.box
    if not box.booted:
        _boot(book)
    refresh(book)
    if box.tasks is None:
        box.work = False
        prune(book, ())
    _watch_clock(book)
    if box.saved.get("b") and box.every_s and book.mono_s >= box.every_s:
        box.saved["b"] = 0
        box.stale = True


def _boot(book):
    """Read the state; what was under way when the power failed was interrupted."""
    box = book.box
    known, bad = book.stores.load(box.area)
    if bad:
        box.app.agent.notify(
            "What ran last could not be read (put aside as %s): everything counts from now." % bad
        )
    box.known = known = known if isinstance(known, dict) else {}
    box.saved = known.pop("", {})
    # b: boots too short for a beat, f: failures in a row, n: the owner was told of them,
    # p: check sum of the reported problems.
    boots = box.saved.get("b", 0)
    box.early = boots >= _SHORT_BOOTS
    box.saved["b"] = min(boots + 1, _SHORT_BOOTS)
    box.stale = boots < _SHORT_BOOTS
    for line in book.stores.tail(_TAIL + 2 * len(known)):
        if book.word in line:
            _compare(known.setdefault(line[book.word], [0, None, None]), line)
    for name in known:
        run = known[name][1]
        if not run:
            continue
        due, start, again, *ends = run
        if not ends:
            log(box.area, "a run of %s was cut short by a restart" % name)
            line = {"t": start, "due": due, book.word: name, "r": "interrupted", "why": "restart"}
            book.add(line)
            box.stale = True
            if again is not None:
                # A job that brings the board down must not do so for ever.
                known[name][3] += 1
        if not again or ends not in ([], ["interrupted"]):
            known[name][1] = None
    box.offset_s = book.now - book.mono_s
    box.booted = True


def _compare(entry, line):
    """What is noted of a task, with a line of it in the log."""
    last, run, waiting = entry[:3]
    due = line["due"]
    if run and (due, line["t"]) == (run[0], run[1]):
        run.append(line["r"])
    if line["r"] != "interrupted":
        if waiting and due == waiting[0]:
            entry[2] = None
        if "up" not in line:
            entry[0] = max(last, due)


def refresh(book):
    """Read the file again when it has changed."""
    box = book.box
    signature = book.stores.signature()
    if signature == box.signature:
        return
    old = box.tasks or ()
    box.tasks = None
    if signature is not None:
        if box.area == "cron":
            from tenner.schedule.jobs import scan
        else:
            from tenner.schedule.index import scan
        box.tasks, problems = scan(book, old)
        for task in box.tasks or ():
            if task not in old:
                _adopt(book, task, old)
        _report(book, problems)
        log(box.area, "%s: %d timed" % (box.file, len(box.tasks or ())))
    box.signature = signature
    for task in old:
        if task.pending and task not in (box.tasks or ()):
            book.overtake(task, task.pending)
    box.stale = box.stale or bool(old)
    box.said = None


def prune(book, tasks):
    """Forget the state of what is in the file no more."""
    names = [name_of(task) for task in tasks]
    for name in list(book.box.known):
        if name not in names:
            gone = Task()
            gone.key = name
            gone.pending = book.box.known.pop(name)[2]
            if gone.pending:
                book.overtake(gone, gone.pending)
            book.box.stale = True


def _adopt(book, task, old):
    """What is new goes on where it was before the last reboot, or starts here."""
    box = book.box
    entry = box.known.get(name_of(task))
    if entry:
        slots.set_last(task, entry[0])
        if task.free:
            task.phase_s = task.last % task.every_s
        if entry[1]:
            # It was interrupted, and is due again.
            slots.set_last(task, min(task.last, entry[1][0] - (task.every_s or 1)))
        for name, value in zip(more_of(task), entry[3:]):
            setattr(task.gate or task, name, value)
    if old or box.was_trusted:
        task.base_s = book.mono_s
    if box.was_trusted:
        _trust(book, task)
        if not task.last:
            slots.seat(task, book.now, book.mono_s)
            box.stale = True
    if box.early and task.every_s == box.every_s and book.mono_s < _FIRST_BEAT_S:
        # Boots as short as the last ones never last an interval.
        task.base_s = _FIRST_BEAT_S - task.every_s


def _trust(book, task):
    """The clock by which something waits is in force again."""
    entry = book.box.known.pop(name_of(task), None)
    if entry and entry[2]:
        task.pending = entry[2]


def complain(problems, text):
    """Add a sentence for the owner, unless there are enough."""
    if len(problems) < _MAX_PROBLEMS:
        problems.append(text)
    else:
        problems[_MAX_PROBLEMS:] = ("... and more",)


def _report(book, problems):
    """Tell the owner once what is wrong with the file."""
    from binascii import crc32

    box = book.box
    text = "\n".join(problems)
    check = crc32(text.encode())
    if check != box.saved.get("p", 0):
        box.saved["p"] = check
        box.stale = True
        if text:
            box.app.agent.notify(text)


def _watch_clock(book):
    """Seat the tasks anew when the clock becomes trusted or jumps: nothing runs in a burst."""
    box = book.box
    offset_s = book.now - book.mono_s
    jump_s = offset_s - box.offset_s
    box.offset_s = offset_s
    if book.trusted and not box.was_trusted:
        jump_s = 0
    elif not book.trusted or abs(jump_s) <= _JUMP_S:
        if box.was_trusted and not book.trusted:
            box.was_trusted = False
            for task in box.tasks or ():
                task.base_s = book.mono_s
        return
    box.was_trusted = True
    # What fell due before this moment was missed; it is caught up once at most.
    box.start_s = book.now
    seated = 0
    for task in box.tasks or ():
        if task.at:
            _trust(book, task)
            continue
        if task.pending and not jump_s:
            # It fell due by a clock that nobody trusted.
            book.overtake(task, task.pending, False)
        _trust(book, task)
        # After a leap forward a grid starts anew, but what stands at a time of day and was
        # leaped over is caught up once. A last run that is yet to come was another clock's.
        if (
            task.ran
            or task.last <= 0
            or task.last > book.now + (task.every_s or 86400)
            or (jump_s > 0 and task.every_s)
        ):
            if task.pending:
                book.overtake(task, task.pending)
            slots.seat(task, book.now, book.mono_s)
            seated += 1
    if seated or jump_s:
        box.stale = True
        what = "moved by %d s" % jump_s if jump_s else "is set"
        log(box.area, "the clock %s: %d start anew" % (what, seated))
