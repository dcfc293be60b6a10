"""Errors in a tool's parameter schema, as both APIs check it."""

from __future__ import annotations

from typing import Any

_SCHEMA_TYPES = ("object", "string", "integer", "number", "boolean", "array", "null")


def schema_problem(schema: Any) -> str:
    """Return the error in a tool's parameter schema; "" if it is valid."""
    if not isinstance(schema, dict):
        return f"{schema!r} is not of type 'object', 'boolean'."
    if schema.get("type") != "object":
        return f"schema must be a JSON Schema of 'type: \"object\"', got 'type: \"{schema.get('type')}\"'."
    return _inner_problem(schema, ())


def _inner_problem(schema: Any, context: tuple[str, ...]) -> str:
    if isinstance(schema, bool):
        return ""
    if not isinstance(schema, dict):
        return f"In context={context}, {schema!r} is not of type 'object', 'boolean'."
    kinds = schema.get("type", [])
    for kind in kinds if isinstance(kinds, list) else [kinds]:
        if kind not in _SCHEMA_TYPES:
            return f"In context={context}, '{kind}' is not valid under any of the given schemas."
    if kinds == "array" and "items" not in schema:
        return f"In context={context}, array schema missing items."
    properties = schema.get("properties", {})
    if not isinstance(properties, dict):
        return f"In context={context}, {properties!r} is not of type 'object'."
    required = schema.get("required", [])
    if not isinstance(required, list) or not all(isinstance(name, str) for name in required):
        return f"In context={context}, {required!r} is not of type 'array' of strings."
    missing = [name for name in required if name not in properties]
    if missing:
        return (
            f"In context={context}, 'required' names '{missing[0]}', which is not in 'properties'."
        )
    if "enum" in schema and (not isinstance(schema["enum"], list) or not schema["enum"]):
        return f"In context={context}, 'enum' must be an array that is not empty."
    for name, inner in properties.items():
        problem = _inner_problem(inner, (*context, "properties", name))
        if problem:
            return problem
    return _inner_problem(schema["items"], (*context, "items")) if "items" in schema else ""
