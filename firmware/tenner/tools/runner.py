# tenner tools.runner: one call of a tool, from the model's text to the text it gets back.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio

from tenner.log import log
from tenner.port.compat import const, ticks_diff, ticks_ms
from tenner.store import jsontext
from tenner.tools import ToolError

_MAX_ARGUMENTS = const(16384)
_DEADLINE_S = const(60)
_RESULT_CAP = const(1024)


async def call(registry, name, arguments_text, ctx):
    """Check, ask, run, cap. Whatever happens, text comes back; only CancelledError passes."""
    start = ticks_ms()
    try:
        text = await _call(registry, name, arguments_text, ctx)
    except ToolError as error:
        text = "error: %s" % error
    except Exception as error:
        text = "error: %s failed: %s: %s" % (name, type(error).__name__, error)
    outcome = text[:120] if text.startswith("error: ") else "%d characters" % len(text)
    log(
        "tool",
        "%s %s -> %s, %d ms"
        % (
            name[:64],
            arguments_text[:120],
            outcome,
            ticks_diff(ticks_ms(), start),
        ),
    )
    return text


def verify(registry, name, arguments_text, ctx):
    """Return (module, arguments) of a call that is right so far; ToolError says what is wrong."""
    path = registry.schema_path(name, ctx)
    if len(arguments_text) > _MAX_ARGUMENTS:
        raise ToolError(
            "%s: %d characters of arguments are too many (%d): do it in parts"
            % (name, len(arguments_text), _MAX_ARGUMENTS)
        )
    with open(path, "rb") as file:
        schema = jsontext.loads(file.read())
    from tenner.tools import check

    try:
        args = jsontext.loads(arguments_text.strip() or "{}")
    except ValueError as error:
        raise ToolError(
            "%s: the arguments are not JSON: %s. Example: %s"
            % (name, error, check.example(schema, {}))
        )
    if not isinstance(args, dict):
        raise ToolError(
            "%s: the arguments must be a JSON object. Example: %s"
            % (name, check.example(schema, {}))
        )
    wrong = check.problem(schema, args)
    if wrong:
        raise ToolError("%s: %s" % (name, wrong))
    del schema
    module = registry.module(name)
    if hasattr(module, "check"):
        module.check(args, ctx)
    return module, args


async def _call(registry, name, arguments_text, ctx):
    from tenner.tools.policy import permit

    module, args = verify(registry, name, arguments_text, ctx)
    await permit(name, module, args, ctx)
    deadline_s = getattr(module, "DEADLINE_S", _DEADLINE_S)
    try:
        text = await asyncio.wait_for(_guarded(module, name, args, ctx), deadline_s)
    except asyncio.TimeoutError:
        raise ToolError("%s did not finish within %d s and was stopped" % (name, deadline_s))
    return _capped(text, getattr(module, "RESULT_CAP", _RESULT_CAP))


async def _guarded(module, name, args, ctx):
    """Run the tool; its own timeouts must not look like the deadline's."""
    try:
        text = await module.run(args, ctx)
    except ToolError as error:
        return "error: %s" % error
    except Exception as error:
        return "error: %s failed: %s: %s" % (name, type(error).__name__, error)
    if isinstance(text, str):
        return text
    from tenner.store.appendlog import dumps

    return "done" if text is None else dumps(text)


def _capped(text, cap):
    if len(text) <= cap:
        return text
    note = "\n[cut after %d of %d characters: ask for less, or for the rest by itself]"
    keep = cap - len(note) - 8
    return text[:keep] + note % (keep, len(text))
