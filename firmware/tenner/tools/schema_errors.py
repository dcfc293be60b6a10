# tenner tools.schema_errors: sentences about wrong arguments, each with one correct call.
# MIT license; Copyright (c) 2026 the tenner authors

import json

from tenner.tools.schema import bounds, is_kind, needed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_KINDS = {
    "integer": "a whole number",
    "number": "a number",
    "string": "text",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
}


def sentence(
    schema: dict, args: dict, path: str | None, spec: dict | list[str], value: "Any"
) -> str:
    """Return the mistake, the allowed values and an example; the parameters after `args` are a
    SchemaError's."""
    if path is None:
        text = "%s is missing" % " and ".join(spec).replace("|", " or ")
    elif isinstance(spec, list):
        text = '"%s" is not an argument; allowed: %s' % (path, ", ".join(spec) or "none")
    else:
        allowed, shown = _allowed(path, spec, value)
        text = "%s must %s, not %s" % (path, allowed, shown)
    return "%s. Example: %s" % (text, example(schema, args))


def _allowed(path, spec, value):
    """Return the allowed values and the actual one, as words."""
    kind = spec.get("type")
    shown = json.dumps(value)
    if len(shown) > 40:
        shown = shown[:40] + "..."
    if not is_kind(kind, value):
        return "be " + _KINDS[kind], shown
    if "enum" in spec:
        return "be one of " + ", ".join([str(choice) for choice in spec["enum"]]), shown
    # Addresses and registers are usually written in hex.
    form = "0x%02x" if path in ("address", "register") else "%s"
    low, high = [form % bound if bound is not None else "" for bound in bounds(spec)]
    if low and high:
        span = low + " to " + high
    else:
        span = "at least " + low if low else "at most " + high
    if kind == "array":
        return "have %s entries" % span, len(value)
    if kind == "string":
        return "be %s characters" % span, len(value)
    return "be " + span, shown


def example(schema: dict, args: dict) -> str:
    """Return one correct call as JSON, with the action of `args` if that exists."""
    parameters = schema.get("parameters") or {}
    properties = parameters.get("properties") or {}
    call = {}
    for name in parameters.get("required") or ():
        call[name] = _sample(name, properties.get(name) or {})
    if "action" in call:
        if args.get("action") in properties["action"].get("enum", ()):
            call["action"] = args["action"]
        for name in needed(schema, call):
            name = name.partition("|")[0]
            call[name] = _sample(name, properties.get(name) or {})
    return json.dumps(call)


def _sample(name, spec):
    if spec.get("enum"):
        return spec["enum"][0]
    if name == "address":
        return "0x48"
    if name == "path":
        return "notes/today.md"
    if name == "cron":
        return "0 9 * * 1-5"
    kind = spec.get("type")
    if kind in ("integer", "number"):
        return spec.get("minimum", 1)
    if kind == "array":
        return [_sample("", spec.get("items") or {})]
    return True if kind == "boolean" else "..."
