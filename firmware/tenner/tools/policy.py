# tenner tools.policy: the owner decides what a tool may do, not the model.
# MIT license; Copyright (c) 2026 the tenner authors
"""
`tools.<name>` in the settings is allow, ask, deny or a list of what is allowed. Unset: reading is allowed,
and what changes something outside (the tool's `approval` says so) is asked for. There is no argument by
which a model could approve anything itself.
"""

import json

from tenner.tools import ToolError
from tenner.tools.paths import matches

#: What the entries of a list are compared with: the first of these arguments that a call has.
SUBJECTS = ("action", "path", "chat", "url")


def setting(config, name):
    """Return what the owner set for a tool, None when nothing."""
    try:
        return config.get("tools." + name)
    except KeyError:
        return None


async def permit(name, module, args, ctx):
    """Return when the call may be made; raise ToolError when it may not."""
    rule = setting(ctx.config, name)
    if rule == "allow" and not getattr(module, "ASK_ANYWAY", False):
        return
    if rule == "deny":
        raise ToolError("the owner does not allow %s: do without it" % name)
    if isinstance(rule, list):
        subject = _subject(args)
        for entry in rule:
            if matches(entry, subject):
                return
        allowed = ", ".join(rule) or "nothing"
        raise ToolError("the owner does not allow %s %s; allowed: %s" % (name, subject, allowed))
    sentence = module.approval(args, ctx) if hasattr(module, "approval") else None
    if sentence is None and rule == "ask":
        sentence = "%s %s" % (name, json.dumps(args))
    if sentence is not None and not await ctx.ask(sentence):
        raise ToolError("the owner said no, or nothing, to: %s. Leave it" % sentence)


def _subject(args):
    for key in SUBJECTS:
        if key in args:
            return str(args[key])
    return ""
