# tenner schedule.cron_tick: one look at the jobs: finds the due ones, makes the request of each.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.log import log
from tenner.port.compat import const
from tenner.schedule import cron_jobs, due
from tenner.schedule.occurrences import Occurrences
from tenner.schedule.reload import read_again
from tenner.schedule.strip_ack import SILENCE
from tenner.schedule.task import Request

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from tenner.schedule.task import Request, Task
    from tenner.schedule.types import Service

_BACK_OFF_S = (30, 60, 300, 900, 3600)
#: Failures in a row after which a job is switched off.
_MAX_FAILURES = const(5)
_KEEP_S = const(86400)
# A one-shot job that is later than this is reported, and not run.
_TOO_LATE_S = const(7 * 86400)
# Not before: a clock may be wrong for some seconds.
_SETTLE_S = const(60)


def find_due(
    cron: "Service",
) -> "tuple[tuple[str, str | None] | None, Sequence[Task], list[Task]]":
    """Collect the jobs that are due. (None, jobs whose own message is sent without the model, jobs
    to run)"""
    occurrences = Occurrences(cron)
    for job in cron.tasks or ():
        if job.failures >= _MAX_FAILURES and not job.off_since:
            _switch_off(occurrences, job, "been interrupted %d times" % job.failures)
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


def next_request(cron: "Service", jobs: "list[Task]") -> "Request | None":
    """Take jobs out of the list until one can run, and return the Request for it; the others wait
    or end."""
    while jobs:
        job = jobs[0]
        request = _request(cron, job, jobs[1:]) if job in cron.tasks else None
        # Not before: where memory is short this is called again.
        jobs.pop(0)
        if request is not None:
            return request
    return None


def _request(cron, job, behind):
    """Begin the job; None when it waits for budget, lane or network. The jobs behind it wait until
    it ends."""
    occurrences = Occurrences(cron)
    entry = _entry_of(cron, job.key)
    if entry is None:
        job.gave_up = None
        return None
    payload = entry["payload"]
    text = payload["message"]
    if job.gave_up:
        return _own(job, payload, job.gave_up)
    if not job.notify:
        action, reason = occurrences.decide([job], True, True, True)
        if action == "skip":
            request = _own(job, payload, "no model was asked, " + reason, reason)
            if request is None:
                pass_over(occurrences, job, reason)
            return request
        if action != "run":
            occurrences.retry([job], reason)
            return None
        occurrences.defer(behind, "busy (cron)")
        moment = occurrences.moment
        time_text = due.zone_of(job, occurrences.zone).tell(moment.now, moment.trusted)
        name = entry.get("name") or job.key
        text = 'The job "%s" is due:\n%s\n\nTime: %s\n' % (name, text, time_text)
    occurrences.begin([job])
    if not job.notify:
        cron.running_s = occurrences.moment.mono_s
    request = Request([job], text)
    request.needs_model = not job.notify
    request.model = payload.get("model")
    request.payload = payload
    if not job.notify and SILENCE not in payload["message"].upper():
        request.owes = job
    return request


def _own(job, payload, why, skips=None):
    """Return the Request that sends only the own message of a job; `skips`: for this reason its
    run is skipped then. None if it was sent already, or may be silent."""
    due_s = job.run.due if job.run else job.due
    if SILENCE in payload["message"].upper() or job.told == due_s:
        job.gave_up = job.waits_s = None
        job.alert = False
        return None
    request = Request([job], own_text(payload, why))
    request.needs_model = False
    request.payload = payload
    request.tells = True
    # The outbox knows it after a power cut.
    request.mark = "job-%s-%d" % (job.key, due_s)
    request.skips = skips
    return request


def own_text(payload: dict, why: str) -> str:
    """Return the text of a job that no model has answered."""
    return "%s (the model did not answer: %s)" % (payload["message"], why.rstrip("."))


def _entry_of(cron, key):
    """Return the job's entry in the file, or None when that cannot be read any more."""
    try:
        return cron_jobs.find(cron.file, key)
    except (ValueError, OSError):
        # Looked at again at the next wake, and reported.
        cron.signature = None
        return None


def failed(occurrences: Occurrences, job: "Task", sentence: str, tokens: int) -> tuple[str, str]:
    """Note a failed run; the fifth in a row switches the job off. (action, reason)"""
    job.failures += 1
    log("cron", "job %s failed (%d in a row): %s" % (job.key, job.failures, sentence))
    if job.failures >= _MAX_FAILURES:
        _switch_off(occurrences, job, "failed %d times: %s" % (job.failures, sentence))
    if job.at and not job.off_since:
        # It has no next time: this one is tried again.
        job.not_before_s = occurrences.moment.mono_s + _BACK_OFF_S[job.failures - 1]
        occurrences.requeue([job], sentence, 1, tokens)
    else:
        occurrences.end([job], {"r": "failed", "why": sentence, "tokens": tokens})
    return "retry", sentence


def _switch_off(occurrences, job, why):
    job.off_since = max(occurrences.moment.now, 1)
    job.why = why
    occurrences.service.dirty = True
    occurrences.service.app.agent.notify(
        'The job "%s" is off now, it has %s. `/cron` shows the jobs; ask me to enable it again.'
        % (job.key, why.rstrip("."))
    )


def pass_over(occurrences: Occurrences, job: "Task", reason: str) -> None:
    """Skip this occurrence."""
    log("cron", "job %s skipped: %s" % (job.key, reason))
    if job.at:
        job.why = "skipped: " + reason
        occurrences.service.app.agent.notify(
            'The job "%s", due at %s, was not run: %s.'
            % (job.key, occurrences.zone.short(job.due), reason)
        )
    occurrences.skip(job, reason)
    occurrences.service.dirty = True
