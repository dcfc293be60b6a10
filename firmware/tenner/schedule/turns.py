# tenner schedule.turns: gives the tasks that are due to a model, or sends their own texts.
# MIT license; Copyright (c) 2026 the tenner authors
"""What decides before and what settles after is elsewhere, and so is the prompt: a turn needs the heap for itself."""

from tenner.schedule.service import later

# What the text of an alert is made with.
_READ = (
    "sensors schedule.items schedule.gates schedule.prompt schedule.book net.strictjson".split()
)

_prompt = later("prompt", "prompt")
_choice = later("prompt", "choice")
_settle = later("outcome", "settle")


async def run_groups(heartbeat, tasks):
    """Run tasks by a model, those of one model together. (action, reason) of the last."""
    answer = ("run", None)
    try:
        while tasks and answer[0] == "run":
            model = tasks[0].model
            group = [task for task in tasks if task.model == model]
            tasks = [task for task in tasks if task.model != model]
            # Those behind wait, and must be known to after a power cut.
            _begin(heartbeat, group, tasks)
            answer = await _run(heartbeat, group, model)
    finally:
        heartbeat.running_s = heartbeat.turn = None
        heartbeat.poke()
    return answer


def _begin(heartbeat, tasks, behind=()):
    from tenner.schedule.book import Book

    book = Book(heartbeat)
    book.hold(behind, "lane busy (heartbeat)")
    book.begin(tasks)


async def _run(heartbeat, tasks, model):
    app = heartbeat.app
    usual = app.config.get("heartbeat.model") or None
    tokens = 0
    only = result = None
    try:
        if app.config.get("heartbeat.mode") == "decide":
            reply = await app.part("scheduled").ask(_prompt(heartbeat, tasks, None, True), usual)
            tokens = reply.tokens_in + reply.tokens_out
            only = _choice(heartbeat, tasks, reply)
        else:
            model = model or usual
        if only != []:
            text = _prompt(heartbeat, tasks, only)
            result = await app.part("scheduled").run_turn(text, "heartbeat", model)
    except Exception as error:
        # Also what only a bug raises: a failed turn must never pass for a quiet one.
        result = error
    return await _settle(heartbeat, tasks, result, tokens)


async def send(heartbeat, tasks):
    """Send the texts of `notify` tasks. (action, reason) of the last."""
    for task in tasks:
        _begin(heartbeat, [task])
        try:
            text = await _filled(heartbeat, task)
            # What makes the text makes room for what sends it.
            await heartbeat.app.let_go(*_READ)
            answer = await _settle(heartbeat, [task], text)
        except MemoryError as error:
            await heartbeat.app.rest()
            answer = _put_off(heartbeat, task, error)
    return answer


def _put_off(heartbeat, task, error):
    """The text waits; if it is in the outbox already, its mark will tell."""
    from tenner.schedule.book import Book

    book = Book(heartbeat)
    if task.run:
        book.take_back([task], str(error), 1)
    return book.retry([task], "no memory for an alert")


async def _filled(heartbeat, task):
    from tenner.schedule.gates import Senses, name_of
    from tenner.schedule.prompt import read

    known = {}
    if task.opened is not None:
        known[name_of(task.gate)] = task.opened
    found = read(heartbeat, [task])[1]
    return await Senses(heartbeat).fill(found[0][1] if found else "", known)
