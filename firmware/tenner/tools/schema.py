# tenner tools.schema: checks a model's arguments, with a sentence for each mistake.
# MIT license; Copyright (c) 2026 the tenner authors
"""
The part of JSON schema that tools use: type, enum, minimum, maximum, minItems, maxItems,
maxLength, items, properties, required. Numbers may come as text, "0x48" included; `check` converts
them in the arguments themselves. The description lists the actions and their arguments (see
`tools`). The sentences about mistakes are below; few calls load them.
"""

import json

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


class SchemaError(Exception):
    """Has the args (path, spec, value), or for missing or unknown arguments (path, names,
    None)."""


def check(schema: dict, args: dict) -> None:
    """Raise SchemaError unless `args` are right; convert values in another notation."""
    check_object("", schema.get("parameters") or {}, args)
    _require(needed(schema, args), args)


def complete(schema: dict, limits: "dict | tuple[()]") -> None:
    """Add the parts to a built-in tool's schema that the model does not see, or reads in the
    description."""
    parameters = schema["parameters"]
    properties = parameters["properties"]
    if "action" in properties:
        parameters["required"] = ["action"]
        properties["action"]["enum"] = [
            word.split("(")[0] for word in schema["description"].split() if "(" in word
        ]
    for name in limits:
        spec = properties[name]
        spec["minimum"], spec["maximum"] = limits[name]
        if "items" in spec:
            # All lists of built-in tools are bytes.
            spec["items"].update({"minimum": 0, "maximum": 255})


def needed(schema: dict, args: dict) -> list[str]:
    """Return the arguments the chosen action needs, from ` action(name,one|other,name?)` in the
    description: `one|other` where there is neither."""
    call = " %s(" % args.get("action")
    _, found, rest = (" " + (schema.get("description") or "")).partition(call)
    names = rest.partition(")")[0].replace(" ", "").split(",") if found else ()
    return [
        name
        for name in names
        if name
        and name[-1] != "?"
        and not ("|" in name and any(one in args for one in name.split("|")))
    ]


def _require(names, args):
    absent = [name for name in names if name not in args]
    if absent:
        raise SchemaError(None, absent, None)


def check_object(path: str, spec: dict, value: dict) -> None:
    properties = spec.get("properties") or {}
    required = spec.get("required") or ()
    for name in list(value):
        if name not in properties:
            raise SchemaError(path + name, sorted(properties), None)
        if value[name] is None and name not in required:
            # Some models write null for an omitted argument.
            del value[name]
        else:
            _check(path + name, properties[name], value, name)
    _require(required, value)


def _check(path, spec, holder, key):
    """Check `holder[key]`, and convert a value in another notation."""
    kind = spec.get("type")
    value = holder[key] = _converted(kind, holder[key])
    low, high = bounds(spec)
    fits = is_kind(kind, value) and value in spec.get("enum", (value,))
    if fits and (low is not None or high is not None):
        size = value if kind in ("integer", "number") else len(value)
        fits = (low is None or size >= low) and (high is None or size <= high)
    if not fits:
        raise SchemaError(path, spec, value)
    if kind == "object":
        check_object(path + ".", spec, value)
    elif kind == "array" and "items" in spec:
        for index in range(len(value)):
            _check("%s[%d]" % (path, index), spec["items"], value, index)


def bounds(spec: dict) -> tuple[float | None, int | None]:
    """Return the minimum and maximum of a number, or of entries or characters; None is no
    bound."""
    high = spec.get("maximum", spec.get("maxItems", spec.get("maxLength")))
    return spec.get("minimum", spec.get("minItems")), high


def is_kind(kind: str | list[str] | None, value: "Any") -> bool:
    """Return whether `value` is of a type of JSON schema; True for types not listed here."""
    if isinstance(value, bool):
        return kind not in ("integer", "number", "string", "array", "object")
    for name, types in (
        ("integer", int),
        ("number", (int, float)),
        ("string", str),
        ("boolean", bool),
        ("array", list),
        ("object", dict),
    ):
        if kind == name:
            return isinstance(value, types)
    return True


def _converted(kind, value):
    """Return the value a model meant when it used another JSON type."""
    if isinstance(value, str):
        if kind in ("integer", "number"):
            for reader in (lambda text: int(text, 0), float):
                try:
                    value = reader(value)
                    break
                except ValueError:
                    continue
        elif kind == "boolean" and value in ("true", "false"):
            return value == "true"
    if kind == "integer" and isinstance(value, float) and value == value // 1:
        return int(value)
    if kind == "string" and isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value


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
