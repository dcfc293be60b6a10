# tenner tools.runner: one call of a tool, from the model's text to the text it gets back.
# MIT license; Copyright (c) 2026 the tenner authors
"""
The owner decides what a tool may do, not the model. `tools.<name>` in the settings is allow, ask, deny or a
list of what is allowed. Unset: reading is allowed, and what changes something outside (the tool's
`approval` says so) is asked for. There is no argument by which a model could approve anything itself.
"""

import asyncio
import json

from tenner.log import log, redact
from tenner.port.compat import const, ticks_diff, ticks_ms
from tenner.store.modules import fleeting, forget
from tenner.tools import ToolError

# What a call loads, and what of it is not needed any more when the tool runs.
_FOR_A_CALL = (
    "tenner.tools.",
    "tenner.sensors.",
    "tenner.store.jsontext",
    "tenner.port.pins",
    "tenner.port.gpio",
    "tenner.net.web_",
    "tenner.mcp",
)
_STAYS = ("tenner.sensors.reading",)
_BEFORE_IT = (
    "tenner.tools.verify",
    "tenner.tools.check",
    "tenner.tools.registry",
    "tenner.agent.lines",
    "tenner.net.strictjson",
    "tenner.net.jsonin",
)

_DEADLINE_S = const(60)
_RESULT_CAP = const(1024)

#: What the entries of a list are compared with: the first of these arguments that a call has, and what
#: the tool's `places` adds, alone and behind the action: "read", "i2c0:0x48", "write i2c0:0x48".
SUBJECTS = ("action", "path", "chat", "url", "command")


async def call(registry, name, arguments_text, ctx):
    """Check, ask, run, cap. Whatever happens, text comes back; only CancelledError passes."""
    start = ticks_ms()
    try:
        module, args = _verified(registry, name, arguments_text, ctx)
        registry = None
        _make_room(ctx.port, _BEFORE_IT)
        await _permit(name, module, args, ctx)
        text = await _run(name, module, args, ctx)
    except Exception as error:
        text = "error: %s" % error
        # A port's OSError is a sentence too, the system's is a number.
        known = isinstance(error, (ToolError, OSError)) and error.args
        if not known or not isinstance(error.args[0], str):
            text = "error: %s failed: %s: %s" % (name, type(error).__name__, error)
    # A tool of the owner's may have read the settings: their secrets are for nobody else.
    text = redact(text)
    shown = redact(arguments_text).replace('"action":', "").replace('":', " ").replace('"', "")
    log(
        "tool",
        "%s %s -> %s, %d ms"
        % (
            name[:64],
            " ".join(shown.strip("{} \n").split())[:120],
            text[: 120 if text.startswith("error: ") else 60],
            ticks_diff(ticks_ms(), start),
        ),
    )
    # Room for the next request to the model.
    _make_room(ctx.port, _FOR_A_CALL)
    return text


def _make_room(port, prefixes):
    """On a small board let go of the modules whose names begin so."""
    if port.small:
        for prefix in prefixes:
            forget(prefix, _STAYS)


def _verified(registry, name, arguments_text, ctx):
    from tenner.tools.verify import verify

    return verify(registry, name, arguments_text, ctx)


async def _permit(name, module, args, ctx):
    """Return when the call may be made; raise ToolError when it may not."""
    rule = ctx.config.get("tools." + name)
    said = hasattr(module, "OUTSIDE") and str(args)
    if said and redact(said) != said:
        raise ToolError("this holds a secret of config.json, which stays on the board")
    if isinstance(rule, list):
        from tenner.tools.paths import matches

        subjects = [str(args[key]) for key in SUBJECTS if key in args][:1] or [""]
        if hasattr(module, "places"):
            for place in module.places(args):
                subjects += (place, "%s %s" % (args["action"], place))
        if not any(matches(entry, subject) for entry in rule for subject in subjects):
            raise ToolError(
                "the owner does not allow %s %s; allowed: %s"
                % (name, subjects[-1], ", ".join(rule) or "nothing")
            )
    elif rule != "allow" or hasattr(module, "ASK_ANYWAY"):
        sentence = module.approval(args, ctx) if hasattr(module, "approval") else None
        if sentence is None and rule == "ask":
            sentence = "%s %s" % (name, json.dumps(args))
        if sentence is not None and not await ctx.ask(sentence):
            raise ToolError("the owner said no, or nothing, to: %s. Leave it" % sentence)


async def _run(name, module, args, ctx):
    if hasattr(module, "OUTSIDE"):
        ctx.turn.outside = True
        if ctx.port.small:
            # The model's connection would have to give way; what keeps it may as well.
            app = ctx.agent.app
            await app.part("chain").close()
            app.drop("chain")
            app.shed("tenner.llm.")
            await app.collect()
    deadline_s = getattr(module, "DEADLINE_S", _DEADLINE_S)
    try:
        text = await asyncio.wait_for(fleeting([lambda: module.run(args, ctx)]), deadline_s)
    except asyncio.TimeoutError as error:
        if error.args:  # an OSError of the tool's own, which CPython counts among these
            raise
        raise ToolError("%s did not finish in time (%d s)" % (name, deadline_s))
    if not isinstance(text, str):
        from tenner.store.appendlog import dumps

        text = "done" if text is None else dumps(text)
    # Before it is cut: half a secret would not be recognized.
    text = redact(text)
    cap = getattr(module, "RESULT_CAP", _RESULT_CAP)
    if len(text) <= cap:
        return text
    note = "\n[cut after %d of %d characters: ask for less, or for the rest by itself]"
    keep = cap - len(note) - 8
    return text[:keep] + note % (keep, len(text))
