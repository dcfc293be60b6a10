# tenner tools.prepare: checks a call's arguments and the owner's rules before the tool runs.
# MIT license; Copyright (c) 2026 the tenner authors

import json

from tenner import overlay
from tenner.log import visible
from tenner.net.json import strict
from tenner.port.compat import const
from tenner.store import files
from tenner.tools import schema, schema_errors, secrets
from tenner.tools.errors import ToolError
from tenner.tools.loading import BUILT_IN, load
from tenner.tools.patterns import matches
from tenner.tools.untrusted import quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

    from tenner.tools.mcp_call import Tool
    from tenner.tools.types import ToolContext

_MAX_ARGUMENTS = const(16384)


async def prepare(
    ctx: "ToolContext", name: str, arguments_text: str
) -> tuple[int, dict, str | None, bool]:
    """
    Return (source of the tool, arguments, question to the owner or None, has the question a
    preview?) of a valid call; raise ToolError, or a port's OSError, for any other.
    """
    # The registry, the JSON parser and the schema check each make room for the next step.
    place, source = await overlay.step("TOOL_CHECK", _find, ctx, name)
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
            schema_errors.example(shown, {}),
        )
    elif shown:
        try:
            schema.check(shown, args)
        except schema.SchemaError as mistake:
            wrong = schema_errors.sentence(shown, args, *mistake.args)
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
    text = module.approval(args, ctx) if hasattr(module, "approval") else None
    if text is None and rule == "ask":
        text = "%s %s" % (name, json.dumps(args))
    return text and _shown(text)


def _shown(text):
    """
    Return the text of a question: one line, and the content line by line where `text` is a pair.
    No text can pass for another line, and none is invisible.
    """
    if isinstance(text, str):
        return visible(text)
    return visible(text[0]) + quoted(text[1])


def _subjects(args):
    """Return the text for the rules of a tool without `subjects`: the first of these arguments."""
    for name in ("action", "path", "chat", "url", "command"):
        if name in args:
            return (args[name],)
    return ("",)
