"""A request against the TypedDicts of a provider's package, unknown keys included."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from jsonschema import Draft202012Validator, SchemaError
from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from tenner_sim.services.refusal import Refusal

Place = tuple[int | str, ...]


def check(adapter: TypeAdapter[Any], value: Any) -> None:
    """Raise Refusal with pydantic's sentence about a fault."""
    try:
        known = _exhausted(adapter.validate_python(value, strict=True), ())
    except ValidationError as exc:
        raise _refusal(exc, ()) from exc
    for where, message, code in _differences(value, known, ()):
        raise Refusal(f"{where}: {message}", param=where, code=code)


def _refusal(exc: ValidationError, above: Place) -> Refusal:
    """Of the types that a union tried, the meant one has the request's `type` or `role`."""
    branches: dict[str, list[ErrorDetails]] = {}
    for error in exc.errors(include_url=False):
        branch = next((str(part) for part in error["loc"] if _is_type(part)), "")
        branches.setdefault(branch, []).append(error)
    meant = min(
        branches.values(), key=lambda errors: any(one["type"] == "literal_error" for one in errors)
    )
    error = max(meant, key=lambda one: (one["type"] == "literal_error", len(one["loc"])))
    names = [str(part) for part in error["loc"] if not _is_type(part)]
    where = ".".join([*map(str, above), *names])
    return Refusal(f"{where}: {error['msg']}", param=where, code="invalid_type")


def _is_type(part: int | str) -> bool:
    """Is this part of a place the name of a type that pydantic tried?"""
    return isinstance(part, str) and re.fullmatch("[a-z_]+", part) is None


def _exhausted(value: Any, place: Place) -> Any:
    """The validated value; pydantic checks members of an Iterable only on iteration."""
    if isinstance(value, dict):
        return {key: _exhausted(item, (*place, key)) for key, item in value.items()}
    if not isinstance(value, Iterable) or isinstance(value, (str, bytes)):
        return value
    items: list[Any] = []
    members = iter(value)
    while True:
        try:
            items.append(_exhausted(next(members), (*place, len(items))))
        except StopIteration:
            return items
        except ValidationError as exc:
            raise _refusal(exc, place) from exc


def _differences(given: Any, known: Any, place: Place) -> Iterator[tuple[str, str, str]]:
    """Place, fault and code of differences that pydantic accepts: unknown keys, a text for a list,
    0 for False."""
    where = ".".join(map(str, place))
    if isinstance(known, (list, bool)) and type(given) is not type(known):
        yield where, f"Input should be a valid {type(known).__name__}", "invalid_type"
    elif isinstance(given, dict) and isinstance(known, dict):
        for key, item in given.items():
            if key in known:
                yield from _differences(item, known[key], (*place, key))
            else:
                unknown = ".".join(map(str, (*place, key)))
                yield unknown, "Extra inputs are not permitted", "unknown_parameter"
    elif isinstance(given, list):
        for index, (item, found) in enumerate(zip(given, known, strict=True)):
            yield from _differences(item, found, (*place, index))


def check_schema(schema: Any, where: str) -> None:
    """Raise Refusal for a tool's parameters that are no JSON schema of an object."""
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as exc:
        raise Refusal(f"{where}: {exc.message}", param=where) from exc
    if schema.get("type") != "object":
        raise Refusal(f"{where}: type: Input should be 'object'", param=where)
    for inner in _schemas(schema):
        for name in inner.get("required", ()):
            if name not in inner.get("properties", ()):
                raise Refusal(f"{where}: 'required' names {name!r}, not in 'properties'")
        if inner.get("type") == "array" and "items" not in inner:
            raise Refusal(f"{where}: array schema missing items")
        if inner.get("enum") == []:
            raise Refusal(f"{where}: 'enum' is empty")


def _schemas(schema: Any) -> Iterator[dict[str, Any]]:
    if isinstance(schema, dict):
        yield schema
        for inner in (*schema.get("properties", {}).values(), schema.get("items")):
            yield from _schemas(inner)
