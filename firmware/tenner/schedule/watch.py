# tenner schedule.watch: takes in what changes round a service: boots, its file, the clock.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.log import log
from tenner.port.compat import const
from tenner.schedule import slots
from tenner.schedule.alarm import JUMP_S

_FIRST_BEAT_S = const(60)
_MAX_PROBLEMS = const(5)


def look(book):
    """Take in what has changed since the last wake of the service."""
    box = book.box
    if not box.booted:
        book.boot()
        now, mono_s, _ = book.time()
        box.offset_s = now - mono_s
        box.booted = True
    refresh(book)
    _watch_clock(book)


def refresh(book):
    """Read the file again when it has changed."""
    box = book.box
    signature = book.stores.signature()
    if signature == box.signature:
        return
    first = box.signature is None and box.tasks is None
    old = box.tasks or ()
    box.tasks = None
    if signature is not None:
        box.tasks, problems = book.scan(old)
        _adopt(book, old)
        _report(book, problems)
        log(box.area, "%s: %d timed" % (box.file, len(box.tasks or ())))
    box.signature = signature
    now, _, trusted = book.time()
    for task in old:
        if task.pending and task not in (box.tasks or ()):
            book.close(task, task.pending, now, trusted)
    if box.tasks and not first:
        book.save_tasks()
    box.said = None


def _adopt(book, old):
    """What is new goes on where it was before the last reboot, or starts here."""
    box = book.box
    now, mono_s, _ = book.time()
    for task in box.tasks or ():
        if task in old:
            continue
        known = book.adopt(task)
        if old or box.was_trusted:
            task.base_s = mono_s
        if box.was_trusted and not known:
            slots.seat(task, now, mono_s)
        if task.beat and box.early and mono_s < _FIRST_BEAT_S:
            # Boots as short as the last ones never last an interval.
            task.base_s = _FIRST_BEAT_S - task.every_s
    if box.was_trusted:
        book.adopted()


def _report(book, problems):
    """Tell the owner once what is wrong with the file."""
    from binascii import crc32

    check = crc32("\n".join(problems).encode()) & 0xFFFFFFFF if problems else 0
    if check == book.box.saved.get("p", 0):
        return
    book.box.saved["p"] = check
    if problems:
        if len(problems) > _MAX_PROBLEMS:
            problems[_MAX_PROBLEMS:] = ["... and more"]
        book.box.notify("\n".join(problems))
    book.save()


def _watch_clock(book):
    """Seat the tasks anew when the clock becomes trusted or jumps: nothing runs in a burst."""
    box = book.box
    now, mono_s, trusted = book.time()
    jump_s = now - mono_s - box.offset_s
    box.offset_s = now - mono_s
    became = trusted and not box.was_trusted
    if became or (trusted and abs(jump_s) > JUMP_S):
        box.was_trusted = True
        # What fell due before this moment was missed; it is caught up once at most.
        box.start_s = now
        _reseat(book, now, mono_s, 0 if became else jump_s)
    elif not trusted and box.was_trusted:
        box.was_trusted = False
        for task in box.tasks or ():
            task.base_s = mono_s


def _reseat(book, now, mono_s, jump_s):
    seated = 0
    for task in book.box.tasks or ():
        if task.pending and not task.at:
            # Its due time belongs to the clock that was in force before.
            book.close(task, task.pending, now, bool(jump_s))
        # After a leap forward a grid starts anew, but what stands at a time of day and was
        # leaped over is caught up once. A last run that is yet to come was another clock's.
        if (
            task.ran
            or task.last <= 0
            or task.last > now + (task.every_s or 86400)
            or (jump_s > 0 and task.every_s)
        ):
            slots.seat(task, now, mono_s)
            seated += 1
    book.adopted()
    if book.box.tasks:
        book.save_tasks()
    if seated or jump_s:
        what = "moved by %d s" % jump_s if jump_s else "is set"
        log(book.box.area, "the clock %s: %d start anew" % (what, seated))
