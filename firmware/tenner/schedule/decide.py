# tenner schedule.decide: the one decision, run now or why not, as a pure function.
# MIT license; Copyright (c) 2026 the tenner authors
"""
Nine gates in a fixed order; the first that says no gives the reason.

tasks   None when there is no HEARTBEAT.md, else the `Task`s in question. The beat itself is
        the one with key 0.
state   "work": whether the beat has anything to do; "gates": None before the sensors are read,
        else (open, checked, ungated); "running_s": seconds the present turn has taken, or None;
        "wait_s": seconds to wait after a failure; "forced": asked for by a person;
        "model": whether a model is needed.
config  "enabled", "hours" (Hours or None), "zone", "tokens_per_day".
busy    None, or who has the lane ("telegram:1234").    online  True, or what is missing ("wifi").
budget_left  tokens left for today, None without a limit.
"""

from tenner.schedule.tasks import due_at

GATES = ("file", "due", "active hours", "work", "sensors", "budget", "lane", "running", "online")

# What follows from the gate that says no.
_ACTIONS = ("off", "wait", "skip", "skip", "skip", "skip", "retry", "retry", "retry")


def decide(now, mono_ms, clock_trusted, tasks, state, config, busy, online, budget_left):
    """(action, reason): "run", or "off", "wait", "skip" (this occurrence is over) or "retry"."""
    arguments = (now, mono_ms, clock_trusted, tasks, state, config, busy, online, budget_left)
    for index in range(len(GATES)):
        reason = _reason(index, *arguments)
        if reason:
            if index == 2 and not clock_trusted:
                return "wait", reason
            return _ACTIONS[index], reason
    return "run", "due"


def chain(now, mono_ms, clock_trusted, tasks, state, config, busy, online, budget_left):
    """Every gate with its reason, None where it lets pass: what `/heartbeat` shows."""
    arguments = (now, mono_ms, clock_trusted, tasks, state, config, busy, online, budget_left)
    for index in range(len(GATES)):
        # Without a file there is nothing the other gates could be asked about.
        if index and tasks is None:
            return
        yield GATES[index], _reason(index, *arguments)


def _reason(index, now, mono_ms, trusted, tasks, state, config, busy, online, budget_left):
    forced = state.get("forced")
    if index == 0:
        if not config["enabled"]:
            return "disabled (config)"
        return "disabled (no HEARTBEAT.md)" if tasks is None else None
    if index == 1:
        return None if forced else _not_due(now, mono_ms, trusted, tasks, state, config)
    if index == 2:
        return None if forced else _quiet(now, trusted, tasks, config)
    if index == 3:
        if state.get("work") is False and all(task.key == 0 for task in tasks):
            return "nothing to do"
    elif index == 4:
        found = state.get("gates")
        if found and not forced and found[1] and not found[0] and not found[2]:
            return "no gate is true (%d checked)" % found[1]
    elif index == 5:
        if budget_left is not None and budget_left <= 0 and state.get("model", True):
            return "daily token budget spent (%d)" % config["tokens_per_day"]
    elif index == 6:
        if busy and state.get("model", True):
            return "lane busy (%s)" % busy
    elif index == 7:
        if state.get("running_s") is not None:
            return "already running (since %d s)" % state["running_s"]
    elif online is not True:
        return "offline (%s)" % (online or "network")
    return None


def _not_due(now, mono_ms, trusted, tasks, state, config):
    left = None
    for task in tasks:
        due = due_at(task, now, mono_ms // 1000, trusted, config["zone"])
        if due is not None and (left is None or due - now < left):
            left = due - now
    if left is None:
        return "not due (clock not set)"
    left = max(left, state.get("wait_s", 0))
    return "not due (%d s left)" % left if left > 0 else None


def _quiet(now, trusted, tasks, config):
    hours = config["hours"]
    if hours is None and not any(task.hours for task in tasks):
        return None
    if not trusted:
        # Nobody knows the time of day, and the owner wants no noise at night.
        return "quiet hours (clock not set)" if hours else None
    local = config["zone"].local(now)
    minute = local[3] * 60 + local[4]
    if hours is not None and not hours.active(minute):
        return "quiet hours (%s)" % hours.quiet()
    from tenner.schedule.hours import Hours

    # A task's own hours stop it alone, so all of them must say no.
    quiet = None
    for task in tasks:
        if task.hours is None:
            return None
        own = Hours(task.hours)
        if own.active(minute):
            return None
        quiet = quiet or own
    return "quiet hours (%s)" % quiet.quiet() if quiet else None
