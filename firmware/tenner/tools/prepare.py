# tenner tools.prepare: takes a tool call from the model's text to its result.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio
import json

from tenner import overlay
from tenner.log import log, redact
from tenner.net.json import strict
from tenner.port.compat import const, ticks_diff, ticks_ms
from tenner.sensors.bus_errors import reason
from tenner.store import files
from tenner.store.appendlog import dumps
from tenner.tools import schema, secrets, wording
from tenner.tools.errors import ToolError
from tenner.tools.loading import BUILT_IN, load
from tenner.tools.patterns import matches
from tenner.tools.untrusted import is_marked, quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

    from tenner.tools.mcp_call import Tool
    from tenner.tools.types import ToolContext

_MAX_ARGUMENTS = const(16384)

_DEADLINE_S = const(60)
_RESULT_CAP = const(1024)


async def prepare(
    ctx: "ToolContext", name: str, arguments_text: str
) -> tuple[int, dict, str | None, bool]:
    """
    Return (source of the tool, arguments, question to the owner or None, has the question a
    preview?) of a valid call; raise ToolError, or a port's OSError, for any other.
    """
    # The registry, the JSON parser and the schema check each make room for the next step.
    place, source = _find(ctx, name)
    found = await overlay.step("TOOL_CHECK", parsed, name, arguments_text)
    module, args = await overlay.step("TOOL_CHECK", verified, ctx, name, found, place, source)
    if hasattr(module, "check"):
        module.check(args, ctx)
    asked = question(ctx, name, module, args)
    return source, args, asked, asked is not None and hasattr(module, "preview")


def _find(ctx, name):
    return ctx.registry.find(name, ctx.turn.kind)


def parsed(name: str, arguments_text: str) -> "tuple[dict | None, object]":
    """Return (arguments, None), or (None, the mistake in their JSON)."""
    if len(arguments_text) > _MAX_ARGUMENTS:
        raise ToolError(
            "%s: %d characters of arguments are too many (%d): do it in parts"
            % (name, len(arguments_text), _MAX_ARGUMENTS)
        )
    try:
        args = strict.loads(arguments_text.strip() or "{}")
        if not isinstance(args, dict):
            raise ValueError("expected an object")
    except ValueError as error:
        return None, error
    return args, None


def verified(
    ctx: "ToolContext",
    name: str,
    found: "tuple[dict | None, object]",
    place: tuple[str, int, int],
    source: int,
) -> "tuple[ModuleType | Tool, dict]":
    """Return (the tool's module, the arguments), converted to the types of its schema; `found` is
    the result of `parsed`."""
    args, wrong = found
    module = load(ctx, source, name)
    shown = {}
    if not hasattr(module, "CHECKED_THERE"):
        shown = json.loads(b"".join(files.blocks(*place)))
        if source == BUILT_IN:
            schema.complete(shown, getattr(module, "LIMITS", ()))
    if wrong:
        wrong = "the arguments are not JSON: %s. Example: %s" % (
            wrong,
            schema.example(shown, {}),
        )
    elif shown:
        try:
            schema.check(shown, args)
        except schema.SchemaError as mistake:
            wrong = schema.sentence(shown, args, *mistake.args)
    if wrong:
        raise ToolError("%s: %s" % (name, wrong))
    return module, args


def question(ctx: "ToolContext", name: str, module: "ModuleType | Tool", args: dict) -> str | None:
    """
    Return the question to the owner, or None for a call without approval; raise ToolError for a
    denied one. The setting `tools.<name>` is allow, ask, deny or a list of allowed subjects.
    Unset: reading is allowed, and changes outside (by the tool's `approval`) need an answer.
    """
    rule = ctx.config.get("tools." + name)
    if (hasattr(module, "OUTSIDE") or hasattr(module, "LEAVES")) and secrets.leaks(args):
        raise ToolError("this holds a secret of config.json, which stays on the board")
    if isinstance(rule, list):
        subjects = module.subjects(args) if hasattr(module, "subjects") else _subjects(args)
        covers = getattr(module, "covers", None)
        if not any(
            covers(entry, args)
            if covers
            else any(matches(entry, str(subject)) for subject in subjects)
            for entry in rule
        ):
            raise ToolError(
                "the owner does not allow %s %s; allowed: %s"
                % (name, subjects[-1], ", ".join(rule) or "nothing")
            )
        return None
    if rule == "allow" and not hasattr(module, "ASK_ANYWAY"):
        return None
    action = module.approval(args, ctx) if hasattr(module, "approval") else None
    if action is None and rule == "ask":
        action = "%s %s" % (name, json.dumps(args))
    return action and wording.question(ctx.turn, name, action)


def _subjects(args):
    """Return the text for the rules of a tool without `subjects`: the first of these arguments."""
    for name in ("action", "path", "chat", "url", "command"):
        if name in args:
            return (args[name],)
    return ("",)


# The owner decides about the actions of tools, not the model: see `prepare`. No argument lets a
# model approve anything itself.
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
                raise ToolError("not approved: %s. Do not retry" % wording.exact(question))
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
    log(
        "tool",
        "%s %s -> %s, %d ms"
        % (
            name[:64],
            wording.arguments(redact(arguments_text))[:120],
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
