# tenner schedule.decide: the one decision, run now or why not, as a pure function.
# MIT license; Copyright (c) 2026 the tenner authors
"""
Nine gates in a fixed order; the first that says no gives the reason.

tasks   None when there is no HEARTBEAT.md, else the `Task`s in question. The beat itself is
        the one with key 0.
state   "work": whether the beat has anything to do; "gates": (open, checked, ungated) once the
        sensors were read; "running_s": seconds the present turn has taken, or None; "forced":
        asked for by a person; "model": whether a model is needed.
config  "enabled", "hours" (Hours or None), "zone", "tokens_per_day".
busy    None, or who has the lane ("telegram:1234").    online  True, or what is missing ("wifi").
budget_left  tokens left for today, None without a limit.
"""

from tenner.schedule.slots import due_at
from tenner.store.hours import Hours

# What follows from the gate that says no.
_ACTIONS = ("off", "wait", "skip", "skip", "skip", "skip", "retry", "retry", "retry")


def decide(now, mono_ms, clock_trusted, tasks, state, config, busy, online, budget_left):
    """(action, reason): "run", or "off", "wait", "skip" (this occurrence is over) or "retry"."""
    gates = chain(now, mono_ms, clock_trusted, tasks, state, config, busy, online, budget_left)
    for action, (_, reason) in zip(_ACTIONS, gates):
        if reason:
            # At an hour that nobody knows, nothing is over.
            return "wait" if reason.endswith("hours (clock not set)") else action, reason
    return "run", "due"


def chain(now, mono_ms, clock_trusted, tasks, state, config, busy, online, budget_left):
    """Yield every gate with its reason, None where it lets pass: what `/heartbeat` shows."""
    forced = state.get("forced")
    model = state.get("model", True)
    reason = "disabled (no HEARTBEAT.md)" if tasks is None else None
    yield "file", reason if config["enabled"] else "disabled (config)"
    # Without a file there is nothing the other gates could be asked about.
    if tasks is None:
        return
    zone = config["zone"]
    reason = None if forced else _not_due(now, mono_ms // 1000, clock_trusted, tasks, zone)
    yield "due", reason
    reason = None if forced else _quiet(now, clock_trusted, tasks, config["hours"], zone)
    yield "active hours", reason
    nothing = state.get("work") is False and not any(task.key for task in tasks)
    yield "work", "nothing to do" if nothing else None
    opened, checked, ungated = state.get("gates") or (1, 0, 0)
    shut = checked and not (opened or ungated or forced)
    yield "sensors", "no gate is true (%d checked)" % checked if shut else None
    reason = None
    if model and budget_left is not None and budget_left <= 0:
        reason = "daily token budget spent (%d)" % config["tokens_per_day"]
    yield "budget", reason
    yield "lane", "lane busy (%s)" % busy if busy and model else None
    since = state.get("running_s")
    yield "running", None if since is None else "already running (since %d s)" % since
    yield "online", None if online is True else "offline (%s)" % (online or "network")


def _not_due(now, mono_s, trusted, tasks, zone):
    times = [due_at(task, now, mono_s, trusted, zone) for task in tasks]
    times = [due for due in times if due is not None]
    if not times:
        return "not due (clock not set)"
    left = min(times) - now
    return "not due (%d s left)" % left if left > 0 else None


def _quiet(now, trusted, tasks, hours, zone):
    windows = [Hours(task.hours) for task in tasks if task.hours]
    if not trusted:
        # Nobody knows the time of day, and the owner wants no noise at night.
        return "quiet hours (clock not set)" if hours else None
    local = zone.local(now)
    minute = local[3] * 60 + local[4]
    shut = [window for window in windows if not window.active(minute)]
    # A task's own hours stop it alone, so all of them must say no.
    if len(shut) < len(tasks):
        shut = []
    if hours and not hours.active(minute):
        shut = [hours]
    return "quiet hours (%s)" % shut[0].quiet() if shut else None
