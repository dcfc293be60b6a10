# tenner tools.runner: runs a tool call, from the model's text to the text it gets back.
# MIT license; Copyright (c) 2026 the tenner authors
"""
The owner decides about the actions of tools, not the model: see `tools.prepare`. No argument lets
a model approve anything itself.
"""

import asyncio

from tenner import overlay
from tenner.log import log, redact
from tenner.port.compat import const, ticks_diff, ticks_ms
from tenner.sensors.bus_errors import reason
from tenner.store.appendlog import dumps
from tenner.tools.errors import ToolError
from tenner.tools.loading import load
from tenner.tools.prepare import prepare
from tenner.tools.untrusted import is_marked, quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.tools.types import ToolContext

_DEADLINE_S = const(60)
_RESULT_CAP = const(1024)


async def call(ctx: "ToolContext", name: str, arguments_text: str) -> str:
    """Check, ask, run, cap. Return text, "error: ..." for any failure; only CancelledError
    passes."""
    start = ticks_ms()
    try:
        source, args, question, has_preview = await overlay.step(
            "TOOL_CHECK", prepare, ctx, name, arguments_text
        )
        if has_preview:
            question += await overlay.step("TOOL", _preview, ctx, name, source, args)
        if question is not None:
            if not await ctx.ask(question):
                raise ToolError("not approved: %s. Do not retry" % question.split("\n")[0])
        text = await overlay.step("TOOL", _run, ctx, name, source, args)
    except Exception as error:
        text = "error: %s" % error
        # A port's OSError has a sentence, the system's a number.
        known = isinstance(error, (ToolError, OSError)) and error.args
        if not known or not isinstance(error.args[0], str):
            text = "error: %s failed: %s" % (name, reason(error))
    if is_marked(text):
        ctx.turn.untrusted_input = True
    # A custom tool may have read the settings: remove their secrets.
    text = redact(text)
    _log(name, arguments_text, text, start)
    return text


def _log(name, arguments_text, text, start):
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


async def _preview(ctx, name, source, args):
    module = load(ctx, source, name)
    asked = overlay.start(module.preview(args, ctx))  # type: ignore[union-attr]
    text = await asyncio.wait_for(asked, _DEADLINE_S)
    return text and quoted(text)


async def _call(module, args, ctx):
    try:
        return await module.run(args, ctx)
    except SystemExit:
        # It would end the agent.
        raise ToolError("the tool wanted to end the program")


async def _run(ctx, name, source, args):
    module = load(ctx, source, name)
    if getattr(module, "OUTSIDE", False):
        ctx.turn.untrusted_input = True
    deadline_s = getattr(module, "DEADLINE_S", _DEADLINE_S)
    try:
        text = await asyncio.wait_for(overlay.start(_call(module, args, ctx)), deadline_s)
    except asyncio.TimeoutError as error:
        if error.args:  # an OSError of the tool, since CPython's TimeoutError is one
            raise
        raise ToolError("%s did not finish in time (%d s)" % (name, deadline_s))
    if not isinstance(text, str):
        text = "done" if text is None else dumps(text)
    # Before the cut: half a secret would not be recognized.
    text = redact(text)
    cap = getattr(module, "RESULT_CAP", _RESULT_CAP)
    if len(text) <= cap:
        return text
    note = "\n[cut after %d of %d characters: ask for less, or for the rest by itself]"
    keep = cap - len(note) - 8
    return text[:keep] + note % (keep, len(text))
