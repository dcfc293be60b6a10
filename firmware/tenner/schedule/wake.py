# tenner schedule.wake: one look of the heartbeat at the file, the clock and the sensors; runs what is due.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio

from tenner.schedule.book import Book
from tenner.store.modules import fleeting

# What looks at the file and at the sensors.
_LOOKED = "sensors schedule.watch schedule.items schedule.gates net.strictjson".split()


async def step(heartbeat, forced=False, aside=False):
    """
    Look, decide and run. (action, reason): "run" and what came of it, or why not. `forced` passes the gates
    due, active hours and sensors; `aside`: gates are looked at while a model thinks, and on a small board what was
    found to be due runs when this has made room.
    """
    book = Book(heartbeat)
    _look(book)
    due = book.due(forced)
    if due:
        ready, answer = await _pass_gates(book, due, forced)
        if ready:
            # What has looked makes room for what decides.
            await heartbeat.app.let_go(*_LOOKED)
        for model in (False, True):
            group = [task for task in ready if task.notify != model]
            if group:
                answer = await _start(book, group, forced, model, aside)
    else:
        answer = book.say(*book.decide(heartbeat.tasks, forced))
    # The turns of a wake take their time.
    Book(heartbeat).close()
    return answer


def _look(book):
    from tenner.schedule.watch import look

    look(book)
    # What has read the file makes room for what reads the sensors.
    for name in ("watch", "index"):
        book.box.app.shed("tenner.schedule." + name)


async def _pass_gates(book, due, forced):
    """(tasks that neither hours, nor lack of work, nor a sensor stops, last answer)."""
    from tenner.schedule.gates import Senses

    senses = Senses(book.box)
    ready = []
    waiting = []
    checked = 0
    answer = None
    for task in due:
        action, reason = book.decide([task], forced)
        if action == "run" and task.gate and task.opened is None:
            checked += 1
            before = book.entry(task)
            shut = await senses.check(task, book.mono_s, forced)
            # A gate that may fire again must do so after a reboot too.
            book.box.stale = book.box.stale or book.entry(task) != before
            if shut:
                action, reason = "skip", shut
        if action == "run":
            ready.append(task)
            continue
        if action == "skip":
            task.opened = None
            if not forced:
                book.skip(task, reason)
        else:
            waiting.append(task)
        if checked < len(due):
            answer = book.say(action, reason)
    if waiting:
        answer = book.retry(waiting, answer[1])
    if checked == len(due) and not ready:
        answer = book.say("skip", "no gate is true (%d checked)" % checked)
    return ready, answer


async def _start(book, group, forced, model, aside):
    """Run tasks if budget, lane and network allow; else they wait or end. (action, reason)"""
    heartbeat = book.box
    if not forced and any(book.wait_of(task) for task in group):
        reason = heartbeat.waits[not model]
        book.hold(group, reason)
        return "retry", reason
    # The gates before these have been passed.
    action, reason = book.decide(group, True, model, True)
    if action != "run":
        if forced:
            return book.say(action, reason)
        if action == "retry":
            return book.retry(group, reason)
        for task in group:
            book.skip(task, reason)
        return book.say(action, reason)
    from tenner.schedule import turns

    small = heartbeat.app.port.small
    if model:
        heartbeat.running_s = book.mono_s
        work = turns.run_groups
    else:
        work = turns.send
    if aside and (model or small):
        if small:
            book.hold(group, "waits for memory")
        turn = fleeting([lambda: heartbeat.app.alone(work, heartbeat, group)])
        heartbeat.turn = asyncio.create_task(turn)
        return "run", "started"
    return await work(heartbeat, group)
