# tenner schedule.tick: one look: reads values, advances alarms, decides, and admits tasks.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner import overlay
from tenner.log import log
from tenner.port.compat import const
from tenner.schedule import alarm_texts, alarms, cron_jobs, decide, notices, saved_state
from tenner.schedule.occurrences import Occurrences
from tenner.schedule.outcome import MAX_FAILURES, pass_over, switch_off
from tenner.schedule.reload import read_again, reload

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from tenner.schedule.task import Task
    from tenner.schedule.types import Service

_KEEP_S = const(86400)
# A one-shot job that is later than this is reported, and not run.
_TOO_LATE_S = const(7 * 86400)
# Not before: a clock may be wrong for some seconds.
_SETTLE_S = const(60)


async def find_due(
    service: "Service", forced: bool | tuple[int, ...], detached: bool
) -> "tuple[tuple[str, str | None] | None, Sequence[Task], list[Task]] | None":
    """Look at file, clock and sensors. ((action, reason), alerts to send, tasks to run); None if
    `rules.find` has to look at a changed file first."""
    if not service.booted:
        # The code that reads the state makes room for that of the file, and this for the rest.
        _resume(service)
    if service.area == "heartbeat" and _new(service) not in (None, service.ruled):
        return None
    await overlay.once("BEAT", _reload, service)
    service.parsed = None
    if service.area == "cron":
        return _due_jobs(service)
    return await _due_tasks(service, forced, detached)


# Separate functions: a stack with that code would keep it.


def _resume(service):
    occurrences = Occurrences(service)
    saved_state.load(service, occurrences.log, occurrences.moment)


def _new(service):
    """Return the file's signature if it has changed."""
    signature = Occurrences(service).log.files.signature()
    return None if signature == service.signature else signature


def _reload(service):
    reload(Occurrences(service))


async def close(service: "Service") -> None:
    """Write the changes, and set the next wake: the runs have taken time."""
    Occurrences(service).close()


# --- the tasks of the heartbeat


async def _due_tasks(heartbeat, forced, detached):
    """
    Look and decide. ((action, reason), alerts to send, tasks for a model). `detached`: they will
    run once they have memory, and must be on flash until then.
    """
    occurrences = Occurrences(heartbeat)
    due = occurrences.due(forced)
    alerts, turns = [], []
    if due:
        # The code that advances the alarms makes room for that of their messages, and this for
        # that of the budget.
        readings = await overlay.once("BEAT", _read_sensors, occurrences, due)
        ready, answer = await overlay.once("BEAT", _ready, occurrences, due, forced, readings)
        for model, runs in ((False, alerts), (True, turns)):
            group = [task for task in ready if (task.notify or task.alert) != model]
            if group:
                answer = _admit(occurrences, group, forced, model)
                if answer[0] == "run":
                    runs.extend(group)
                    if detached:
                        occurrences.defer(group, "waits for memory")
    elif forced and heartbeat.tasks:
        answer = (
            "skip",
            "every task has a condition" if forced is True else "no such line",
        )
    else:
        answer = occurrences.note(*occurrences.decide(heartbeat.tasks, forced))
    if not forced:
        held = notices.digest_task(occurrences) if occurrences.log.files.is_holding() else None
        if held and _admit(occurrences, [held], False, False)[0] == "run":
            alerts.append(held)
            if not due:
                answer = ("run", "due")
    if turns:
        heartbeat.running_s = occurrences.moment.mono_s
    occurrences.close()
    return answer, alerts, turns


async def _read_sensors(occurrences, due):
    """Read the sensors that conditions need, and update the alarms. Return the readings."""
    watched = []
    names = []
    for task in due:
        if task.condition and _off_hours(occurrences, task) is None:
            watched.append(task)
    lines = {}
    for task in watched:
        for term in decide.terms(task.condition):
            if term.sensor not in names:
                names.append(term.sensor)
                lines[term.sensor] = task.line
    if not names:
        return {}
    service = occurrences.service
    readings = await overlay.step("BEAT_READ", alarm_texts.read_sensors, service, names)
    wrong = {}
    for task in watched:
        if alarms.is_alarm(task) and not task.asked:
            alarms.advance(occurrences, task, readings)
        for term in decide.terms(task.condition):
            found = decide.number(term, readings)
            if isinstance(found, str):
                wrong[term.sensor] = found
    for name in names:
        notices.note(occurrences, name, wrong.get(name), lines[name])
    return readings


def _off_hours(occurrences, task):
    """Return why an item is not watched now: its own hours, unless its alarm is under way."""
    if task.asked or alarms.is_open(task):
        return None
    question = occurrences.question([task], False)
    question.watch = alarms.is_alarm(task)
    for name, found in decide.chain(question):
        if name == "active hours":
            return found
    return None


def _ready(occurrences, due, forced, readings):
    """Return (tasks that neither hours, nor lack of work, nor a sensor stops, last answer)."""
    ready = []
    waiting = []
    checked = 0
    answer = None
    for task in due:
        asked = forced or task.once or (task.asked and task.pending)
        question = occurrences.question([task], asked)
        question.watch = task.condition is not None and alarms.is_alarm(task)
        if question.watch and task.condition.alarm:
            question.forced = True
        action, reason = decide.decide(question)
        if action == "run" and task.condition:
            checked += 1
            unmet = _not_met(occurrences, task, readings)
            if unmet:
                action, reason = "skip", unmet
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
            answer = occurrences.note(action, reason)
    if waiting:
        answer = occurrences.retry(waiting, answer[1])
    if checked == len(due) and not ready:
        answer = occurrences.note("skip", "no condition met (%d checked)" % checked)
    return ready, answer


def _not_met(occurrences, task, readings):
    """Return why a task with a condition has nothing to do now, None when it has."""
    condition = task.condition
    failed = None
    for term in decide.terms(condition):
        if isinstance(decide.number(term, readings), str):
            failed = failed or "check failed (%s)" % term.name()
    value = decide.number(condition, readings)
    task.alert = task.hold = False
    if task.asked:
        task.trigger_value = None if isinstance(value, str) else value
        return None
    if alarms.is_alarm(task):
        return _not_owed(occurrences, task, failed)
    if not task.pending or task.trigger_value is None:
        met = decide.is_met(condition, readings, occurrences.moment.mono_s)
        task.trigger_value = value if met else None
        if not met:
            return failed or "no condition met (1 checked)"
    if not task.notify:
        _wait_for_model(occurrences, task)
    return None


def _not_owed(occurrences, task, failed):
    """Return why no message of an alarm goes now, None when one does. `failed`: the check that
    failed."""
    condition = task.condition
    bit = alarms.next_owed(task)
    if bit != alarms.BEGIN:
        task.waits_s = task.gave_up = None
    if not bit:
        text = alarm_texts.state(task, occurrences.moment, occurrences.zone)
        if text == "clear":
            text = "no condition met (1 checked)"
        # Without the time left: /why shows equal decisions together.
        if text[:7] == "pending":
            text = text.split(", ")[0]
        return failed or text
    # A turn that runs may answer an episode that is over already.
    asks = alarms.needs_model(task) or (
        bit == alarms.BEGIN and bool(task.run) and not (task.notify or task.gave_up)
    )
    task.alert = not asks
    task.trigger_value = condition.alarm[alarms.VALUE]
    held = notices.why_held(occurrences, task)
    if not held:
        if asks:
            _wait_for_model(occurrences, task)
        return None
    if asks and task.waits_s is not None:
        condition.alarm[alarms.TOLD] = 0
        task.waits_s = None
    if condition.muted > occurrences.moment.now or not occurrences.moment.trusted:
        return held
    # A message that needs no model is kept with its time, and sent later.
    task.hold = task.alert
    return None if task.alert else held


def _wait_for_model(occurrences, task):
    """Count the time for which a task with a met condition waits for a model's text, over reboots
    too; at its end the board tells it."""
    moment = occurrences.moment
    alarm = task.condition.alarm if alarms.is_alarm(task) else None
    since = alarm[alarms.TOLD] if alarm and moment.trusted else 0
    if task.waits_s is None:
        task.waits_s = moment.mono_s - (max(moment.now - since, 0) if since else 0)
    if alarm and moment.trusted and not since:
        alarm[alarms.TOLD] = moment.now - (moment.mono_s - task.waits_s)
        occurrences.service.dirty = True
    if not task.gave_up and occurrences.is_overdue(task):
        occurrences.give_up(task)
    task.alert = task.gave_up is not None


def _admit(occurrences, group, forced, model):
    """Return ("run", why), unless budget, lane or network stop the tasks: they wait then, or
    end."""
    if not forced and any(occurrences.wait_of(task) for task in group):
        reason = occurrences.waits_for(group[0])
        occurrences.defer(group, reason)
        return "retry", reason
    # The checks before these have passed.
    action, reason = occurrences.decide(group, True, model, True)
    if action == "run":
        return action, reason
    if not forced and action == "retry":
        return occurrences.retry(group, reason)
    for task in () if forced else group:
        if task.waits_s is not None:
            # No model will be asked today.
            occurrences.give_up(task, "no model was asked, " + reason)
            occurrences.defer([task], reason)
        else:
            occurrences.skip(task, reason)
    return occurrences.note(action, reason)


# --- the jobs


def _due_jobs(cron):
    """Collect the jobs that are due. (None, jobs whose own message is sent without the model, jobs
    to run)"""
    occurrences = Occurrences(cron)
    for job in cron.tasks or ():
        if job.failures >= MAX_FAILURES and not job.off_since:
            switch_off(occurrences, job, "been interrupted %d times" % job.failures)
        _tidy(occurrences, job)
    read_again(occurrences)
    # All of them first: the run of one job must not move the times of the others.
    found = []
    moment = occurrences.moment
    ready = occurrences.due()
    for job in ready:
        if job.waits_s is None and not job.notify:
            job.waits_s = moment.mono_s
    alerts = [job for job in cron.tasks or () if occurrences.is_overdue(job) and not job.gave_up]
    for job in alerts:
        occurrences.give_up(job)
    for job in ready:
        settles_s = cron.start_s + _SETTLE_S - moment.now
        if job.at and moment.trusted and settles_s > 0 and cron.start_s - job.at > _SETTLE_S:
            job.not_before_s = moment.mono_s + settles_s
        elif job.at and moment.trusted and moment.now - job.at > _TOO_LATE_S:
            pass_over(occurrences, job, "that is over a week ago")
        elif job.skip_missed and moment.trusted and job.due < cron.start_s:
            pass_over(occurrences, job, "missed while off")
        elif job.gave_up:
            continue
        elif occurrences.wait_of(job):
            occurrences.defer([job], occurrences.waits_for(job))
        else:
            found.append(job)
    occurrences.close()
    return None, alerts, found


def _tidy(occurrences, job):
    """Remove a one-shot job from the list a day after it is done."""
    now = occurrences.moment.now
    if (
        not job.at
        or not occurrences.moment.trusted
        or not 0 <= job.at <= max(job.off_since, job.last) < now - _KEEP_S
    ):
        return
    try:
        cron_jobs.rewrite(occurrences.service.file, job.key, None)
    except ValueError as error:
        # It stays for another day; the owner already knows of the wrong entry.
        log("cron", "cannot remove job %s: %s" % (job.key, error))
        job.off_since = now
