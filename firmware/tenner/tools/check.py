# tenner tools.check: arguments of a model against the schema it was shown.
# MIT license; Copyright (c) 2026 the tenner authors
"""
The part of JSON schema that tools use: type, enum, minimum, maximum, minItems, maxItems, maxLength,
items, properties, required. Numbers may come as text, "0x48" included; what is put right is put right
in the arguments themselves. Which arguments an action needs stands in the description (see `tools`).
"""

import json


def problem(schema, args):
    """Return what is wrong with `args`, what is allowed and one right call; None when all is well."""
    parameters = schema.get("parameters") or {}
    wrong = _object("", parameters, args)
    if wrong is None:
        wrong = _missing(_needed(schema, args), args)
    if wrong is None:
        return None
    return "%s. Example: %s" % (wrong, example(schema, args))


def _needed(schema, args):
    """Names the chosen action needs, from `action(name,name?)` in the description."""
    action = args.get("action")
    if not isinstance(action, str):
        return ()
    text = schema.get("description") or ""
    start = -1
    while True:
        start = text.find(action + "(", start + 1)
        if start < 0:
            return ()
        before = text[start - 1 : start]
        if not (before.isalpha() or before.isdigit() or before == "_"):
            break
    inside = text[start + len(action) + 1 :].split(")")[0]
    return [name for name in inside.replace(" ", "").split(",") if name and name[-1] != "?"]


def _missing(names, args):
    absent = [name for name in names if name not in args]
    return "%s is missing" % " and ".join(absent) if absent else None


def _object(path, spec, value):
    properties = spec.get("properties") or {}
    required = spec.get("required") or ()
    for name in list(value):
        if name not in properties:
            allowed = ", ".join(sorted(properties)) or "none"
            return '"%s" is not an argument; allowed: %s' % (path + name, allowed)
        if value[name] is None and name not in required:
            # Some models write null for what they leave out.
            del value[name]
            continue
        wrong = _value(path + name, properties[name], value, name)
        if wrong:
            return wrong
    return _missing(required, value)


def _value(path, spec, holder, key):
    """Check `holder[key]`, putting right what is only written another way."""
    kind = spec.get("type")
    value = holder[key] = _converted(kind, holder[key])
    if not _is(kind, value):
        return "%s must be %s, not %s" % (path, _KINDS.get(kind, kind), _short(value))
    choices = spec.get("enum")
    if choices is not None and value not in choices:
        shown = ", ".join([str(choice) for choice in choices])
        return "%s must be one of %s, not %s" % (path, shown, _short(value))
    if kind in ("integer", "number"):
        return _range(path, spec, value)
    if kind == "string" and len(value) > spec.get("maxLength", len(value)):
        return "%s must be at most %d characters, not %d" % (path, spec["maxLength"], len(value))
    if kind == "array":
        return _array(path, spec, value)
    if kind == "object":
        return _object(path + ".", spec, value)
    return None


def _array(path, spec, value):
    low, high = spec.get("minItems", 0), spec.get("maxItems", len(value))
    if not low <= len(value) <= high:
        most = " to %d" % high if "maxItems" in spec else " or more"
        return "%s must have %d%s entries, not %d" % (path, low, most, len(value))
    if "items" in spec:
        for index in range(len(value)):
            wrong = _value("%s[%d]" % (path, index), spec["items"], value, index)
            if wrong:
                return wrong
    return None


def _range(path, spec, value):
    low, high = spec.get("minimum"), spec.get("maximum")
    if (low is None or value >= low) and (high is None or value <= high):
        return None
    # Addresses and registers are thought of in hex.
    form = "0x%02x" if path in ("address", "register") else "%s"
    if low is None or high is None:
        bound = "at least " + form % low if high is None else "at most " + form % high
    else:
        bound = (form + " to " + form) % (low, high)
    return "%s must be %s, not %s" % (path, bound, value)


_KINDS = {
    "integer": "a whole number",
    "number": "a number",
    "string": "text",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
}


def _is(kind, value):
    if kind == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    if kind == "number":
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    if kind == "string":
        return isinstance(value, str)
    if kind == "boolean":
        return isinstance(value, bool)
    if kind == "array":
        return isinstance(value, list)
    return isinstance(value, dict) if kind == "object" else True


def _converted(kind, value):
    """The value a model meant, when it used another JSON type for it."""
    if isinstance(value, str) and kind in ("integer", "number"):
        for reader in (lambda text: int(text, 0), int, float):
            try:
                value = reader(value)
                break
            except ValueError:
                continue
    if kind == "integer" and isinstance(value, float) and value == value // 1:
        return int(value)
    if kind == "string" and isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if kind == "boolean" and value in ("true", "false"):
        return value == "true"
    return value


def _short(value):
    text = json.dumps(value)
    return text if len(text) <= 40 else text[:40] + "..."


def example(schema, args):
    """Return one right call as JSON, of the action that was tried if there is such an action."""
    parameters = schema.get("parameters") or {}
    properties = parameters.get("properties") or {}
    action = properties.get("action")
    call = {}
    for name in parameters.get("required") or ():
        call[name] = _sample(name, properties.get(name) or {})
    if action:
        if args.get("action") in action.get("enum", ()):
            call["action"] = args["action"]
        for name in _needed(schema, call):
            call[name] = _sample(name, properties.get(name) or {})
    return json.dumps(call)


def _sample(name, spec):
    if spec.get("enum"):
        return spec["enum"][0]
    kind = spec.get("type")
    if name == "address":
        return "0x48"
    if name == "path":
        return "notes/today.md"
    if kind in ("integer", "number"):
        return spec.get("minimum", 1)
    if kind == "array":
        return [_sample("", spec.get("items") or {})]
    return True if kind == "boolean" else "..."
