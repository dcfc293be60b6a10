# tenner schedule.heartbeat_tick: one look of the heartbeat at its file, the clock and the sensors.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner import overlay
from tenner.schedule import heartbeat_tasks
from tenner.schedule.conditions import Senses
from tenner.schedule.occurrences import Occurrences
from tenner.schedule.reload import reload
from tenner.schedule.task import Request


async def look(heartbeat, forced, aside):
    """
    Look and decide. ((action, reason), alerts to send, tasks for a model). `aside`: they will run when there is
    memory for them, and must be known until then.
    """
    occurrences = Occurrences(heartbeat)
    reload(occurrences, heartbeat_tasks.scan)
    due = occurrences.due(forced)
    runs = ([], [])
    if due:
        ready, answer = await _pass_gates(occurrences, due, forced)
        for model in (False, True):
            group = [task for task in ready if task.notify != model]
            if group:
                answer = _admit(occurrences, group, forced, model)
                if answer[0] == "run":
                    runs[model].extend(group)
                    if aside:
                        occurrences.defer(group, "waits for memory")
    else:
        answer = occurrences.say(*occurrences.decide(heartbeat.tasks, forced))
    if runs[True]:
        heartbeat.running_s = occurrences.moment.mono_s
    occurrences.close()
    return answer, runs[False], runs[True]


async def _pass_gates(occurrences, due, forced):
    """(tasks that neither hours, nor lack of work, nor a sensor stops, last answer)."""
    heartbeat = occurrences.service
    senses = None
    ready = []
    waiting = []
    checked = 0
    answer = None
    for task in due:
        action, reason = occurrences.decide([task], forced)
        if action == "run" and task.condition and task.trigger_value is None:
            if senses is None:
                await overlay.enter("BEAT_LOOK")
                senses = Senses(heartbeat)
            checked += 1
            condition = task.condition
            before = (condition.fired, condition.reference, condition.silent)
            shut = await senses.check(task, occurrences.moment.mono_s, forced)
            # A condition that may be met anew must be so after a reboot too.
            if before != (condition.fired, condition.reference, condition.silent):
                heartbeat.dirty = True
            if shut:
                action, reason = "skip", shut
        if action == "run":
            ready.append(task)
            continue
        if action == "skip":
            task.trigger_value = None
            if not forced:
                occurrences.skip(task, reason)
        else:
            waiting.append(task)
        if checked < len(due):
            answer = occurrences.say(action, reason)
    if senses is not None:
        await overlay.enter("BEAT")
    if waiting:
        answer = occurrences.retry(waiting, answer[1])
    if checked == len(due) and not ready:
        answer = occurrences.say("skip", "no gate is true (%d checked)" % checked)
    return ready, answer


def _admit(occurrences, group, forced, model):
    """("run", why), unless budget, lane or network are against it: they wait then, or end."""
    if not forced and any(occurrences.wait_of(task) for task in group):
        reason = occurrences.waits_for(group[0])
        occurrences.defer(group, reason)
        return "retry", reason
    # The gates before these have been passed.
    action, reason = occurrences.decide(group, True, model, True)
    if action == "run":
        return action, reason
    if not forced and action == "retry":
        return occurrences.retry(group, reason)
    for task in () if forced else group:
        occurrences.skip(task, reason)
    return occurrences.say(action, reason)


# --- what runs


async def next_request(heartbeat, tasks, answer):
    """Take the next alert, or all tasks of the next model, out of `tasks`; return the Request for them."""
    first = tasks[0]
    if not first.notify and answer[0] != "run":
        return None
    group = [first]
    if not first.notify:
        group = [task for task in tasks if task.model == first.model]
    behind = [task for task in tasks if task not in group]
    occurrences = Occurrences(heartbeat)
    if not first.notify:
        # Those behind wait, and must be known to after a power cut.
        occurrences.defer(behind, "lane busy (heartbeat)")
    occurrences.begin(group)
    if first.notify:
        request = Request(group, await _filled(heartbeat, first))
        request.needs_model = False
    else:
        request = _asked(heartbeat, group)
    # Not before: where memory is short this is called again.
    tasks[:] = behind
    return request


def _asked(heartbeat, group):
    """Return the Request of tasks that need a model."""
    config = heartbeat.app.config
    request = Request(group, None)
    request.choose = config.get("heartbeat.mode") == "decide"
    request.model = config.get("heartbeat.model") or None
    if not request.choose:
        request.model = group[0].model or request.model
    request.text = heartbeat_tasks.prompt(heartbeat, group, None, request.choose)
    return request


def choose(heartbeat, request, reply):
    """Go on with what a model has chosen: those tasks on their own model, or nothing."""
    request.choose = False
    request.tokens = reply.tokens_in + reply.tokens_out
    only = heartbeat_tasks.choice(heartbeat, request.tasks, reply)
    request.model = request.tasks[0].model
    request.needs_model = only != []
    request.text = None
    if only != []:
        request.text = heartbeat_tasks.prompt(heartbeat, request.tasks, only)


async def _filled(heartbeat, task):
    """Return the text of an alert, with readings for its `{sensor.value}`."""
    found = heartbeat_tasks.read(heartbeat, [task])[1]
    known = {}
    if task.trigger_value is not None:
        known[task.condition.name()] = task.trigger_value
    await overlay.enter("BEAT_LOOK")
    return await Senses(heartbeat).fill(found[0][1] if found else "", known)
