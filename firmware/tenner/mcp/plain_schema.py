# tenner mcp.plain_schema: writes a tool's schema in the words that every model's API accepts.
# MIT license; Copyright (c) 2026 the tenner authors
"""
Gemini refuses a request for one word of JSON schema that it does not know, and most others refuse
a choice at the top. So those of other authors lose `$schema` and `additionalProperties`, a list of
types becomes its first one, and `const` an `enum`. The server still checks the arguments.
"""

import json

from tenner.port.compat import const
from tenner.store.appendlog import dumps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_DEPTH = const(8)
# Members of nearly all schemas, which fall away without parsing.
_USELESS = (
    b'"additionalProperties":false',
    b'"additionalProperties": false',
    b'"$schema":"http://json-schema.org/draft-07/schema#"',
    b'"$schema": "http://json-schema.org/draft-07/schema#"',
    b'"$schema":"https://json-schema.org/draft/2020-12/schema"',
    b'"$schema": "https://json-schema.org/draft/2020-12/schema"',
)
_KEPT = (
    "type",
    "description",
    "title",
    "default",
    "required",
    "minimum",
    "maximum",
    "minItems",
    "maxItems",
    "minLength",
    "maxLength",
    "pattern",
)
# A schema with none of these is as it should be; `Of` ends anyOf, oneOf and allOf.
_SIGNS = (
    b'"$',
    b'"const"',
    b'Of"',
    b'"additionalP',
    b'"patternP',
    b'"propertyN',
    b'"exclusiveM',
    b'"format"',
    b'"not"',
    b'"if"',
    b'"examples"',
    b'"prefixItems"',
    b'"definitions"',
    b'"depend',
    b'"unevaluated',
    b'"multipleOf"',
    b'"uniqueItems"',
    b'"nullable"',
    b'"readOnly"',
    b'"deprecated"',
    b'"content',
)


def plain(schema: bytes) -> bytes:
    """Return the JSON of a schema in plain words, unchanged if it has no others."""
    for member in _USELESS:
        if member in schema:
            for part in (b"," + member, b", " + member, member + b",", member):
                schema = schema.replace(part, b"")
    dense = b"".join(schema.split())
    # A list of types, and values that are no texts, are signs, too.
    if (
        b'"type":[' in dense
        or dense.count(b'"enum":[') > dense.count(b'"enum":["') + dense.count(b'"enum":[]')
        or any(sign in schema for sign in _SIGNS)
    ):
        return dumps(_top(json.loads(schema))).encode()
    return schema


def plain_tool(data: bytes) -> bytes:
    """Return the JSON of a tool with its `parameters` in plain words, unchanged if they are."""
    tool = json.loads(data)
    schema = dumps(tool["parameters"]).encode()
    better = plain(schema)
    if better == schema:
        return data
    tool["parameters"] = json.loads(better)
    return dumps(tool).encode()


def _top(whole):
    """Return the schema of an object whose members are those of all its choices."""
    found: dict = {"type": "object", "properties": {}}
    for part in _parts(whole, whole, 0):
        names = part.get("properties") or {}
        for name in names:
            if name not in found["properties"]:
                found["properties"][name] = _simple(names[name], whole, 0)
        if part is whole or "description" not in found:
            found["description"] = part.get("description")
    found["required"] = [
        name for name in whole.get("required") or () if name in found["properties"]
    ]
    return _clean(found)


def _parts(spec, whole, depth) -> "Iterator[dict]":
    """Yield a schema and all those it is put together of."""
    spec = _target(spec, whole)
    if not isinstance(spec, dict) or depth > _DEPTH:
        return
    yield spec
    for word in ("allOf", "anyOf", "oneOf"):
        for one in spec.get(word) or ():
            yield from _parts(one, whole, depth + 1)


def _target(spec, whole):
    """Return the schema that a reference inside the document leads to."""
    for _ in range(_DEPTH):
        path = spec.get("$ref") if isinstance(spec, dict) else None
        if not isinstance(path, str):
            return spec
        target = whole
        for step in path.split("/")[1:]:
            target = target.get(step, {}) if isinstance(target, dict) else {}
        spec = target
    return {}


def _simple(spec, whole, depth) -> "Any":
    """Return a schema of an argument in plain words."""
    own = spec.get("description") if isinstance(spec, dict) else None
    spec = _target(spec, whole)
    if not isinstance(spec, dict) or depth > _DEPTH:
        return {"type": "string"}
    for word in ("anyOf", "oneOf", "allOf"):
        choices = [one for one in spec.get(word) or () if not _is_null(one)]
        if choices:
            # The first stands for all.
            inner = _simple(choices[0], whole, depth + 1)
            inner["description"] = own or spec.get("description") or inner.get("description") or ""
            if len(choices) > 1 and word != "allOf":
                _enums(inner, choices)
            return _clean(inner)
    found = {name: spec[name] for name in _KEPT if name in spec}
    if own:
        found["description"] = own
    kind = spec.get("type")
    if isinstance(kind, list):
        kind = [one for one in kind if one != "null"][:1]
        kind = kind[0] if kind else "string"
    values = [spec["const"]] if "const" in spec else spec.get("enum")
    if values is not None:
        values = [one for one in values if one is not None]
        kind = kind or _type_of(values)
        if kind == "string":
            found["enum"] = [str(one) for one in values]
        elif values and kind in ("integer", "number"):
            found["minimum"], found["maximum"] = min(values), max(values)
            if len(values) > 1:
                found["description"] = _also(found, values)
        elif values:
            found["description"] = _also(found, values)
    if kind is None:
        kind = "object" if "properties" in spec else "array" if "items" in spec else "string"
    found["type"] = kind
    if kind == "string" and spec.get("format") == "date-time":
        found["format"] = "date-time"  # the only one that all know
    if kind == "object":
        names = spec.get("properties") or {}
        found["properties"] = {name: _simple(names[name], whole, depth + 1) for name in names}
        found["required"] = [name for name in spec.get("required") or () if name in names]
    elif kind == "array":
        found["items"] = _simple(spec.get("items") or {"type": "string"}, whole, depth + 1)
    return _clean(found)


def _enums(inner, choices):
    """Take all values of a choice between constant texts."""
    values = []
    for one in choices:
        values += [one["const"]] if "const" in one else one.get("enum") or ()
    if inner.get("enum") and all(isinstance(one, str) for one in values):
        inner["enum"] = values


def _is_null(spec):
    return isinstance(spec, dict) and spec.get("type") == "null"


def _type_of(values):
    if values and all(isinstance(one, bool) for one in values):
        return "boolean"
    if values and all(isinstance(one, (int, float)) for one in values):
        return "number" if any(isinstance(one, float) for one in values) else "integer"
    return "string"


def _also(found, values):
    words = "One of %s." % ", ".join([json.dumps(one) for one in values])
    return (found.get("description", "") + " " + words).strip()


def _clean(found):
    """Drop members that say nothing; some APIs refuse them empty."""
    for name in ("description", "required", "enum"):
        if name in found and not found[name]:
            found.pop(name)
    return found
