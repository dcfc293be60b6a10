"""Write or check docs/json-schemas.json and the tables in docs/json.md, made from the types of the
documents of `--json`."""

from __future__ import annotations

import json
import sys
import types
from pathlib import Path
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints, is_typeddict

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from scripts import generated
from tenner_host import ROOT
from tenner_host.json_shapes import SHAPES, TIME

PAGE = ROOT / "docs" / "json.md"
SCHEMAS = ROOT / "docs" / "json-schemas.json"
_BEGIN = "<!-- made by scripts/json_page.py from host_tools/tenner_host/json_shapes.py -->\n"
_HEAD = '{"$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": {\n'
_SIMPLE = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}
_ERROR = {
    "type": "object",
    "properties": {"message": {"type": "string"}, "exit": {"type": "integer", "minimum": 1}},
    "required": ["message", "exit"],
    "additionalProperties": False,
}


def schema(shape: Any) -> dict[str, Any]:
    """The JSON Schema of a type."""
    origin, inner = get_origin(shape), get_args(shape)
    if origin is Annotated:
        found = schema(inner[0])
        for text in inner[1:]:
            found["format" if text == TIME else "description"] = text
        return found
    if is_typeddict(shape):
        fields = get_type_hints(shape, include_extras=True)
        return {
            "type": "object",
            "properties": {name: schema(kind) for name, kind in fields.items()},
            "required": list(fields),
            "additionalProperties": False,
        }
    if origin in (Union, types.UnionType):
        return {"anyOf": [schema(one) for one in inner]}
    if origin is list:
        return {"type": "array", "items": schema(inner[0])}
    if origin is dict:
        return {"type": "object", "additionalProperties": schema(inner[1])}
    return {} if shape is Any else {"type": _SIMPLE[shape]}


def document(shape: type) -> dict[str, Any]:
    """The schema of a command's document: it may have an error, or be one."""
    found = schema(shape)
    found["properties"] |= {"error": _ERROR}
    failed = {
        "type": "object",
        "properties": {"error": _ERROR},
        "required": ["error"],
        "additionalProperties": False,
    }
    return {"anyOf": [found, failed]}


def schemas() -> dict[str, Any]:
    """The schema of each command that has `--json`."""
    return {name: document(shape) for name, shape in SHAPES.items()}


def _kind(found: dict[str, Any]) -> str:
    if "anyOf" in found:
        return " or ".join(_kind(one) for one in found["anyOf"])
    if found.get("type") == "array":
        return f"list of {_kind(found['items'])}s"
    return "time" if "format" in found else str(found.get("type", "any value"))


def _rows(found: dict[str, Any], path: str = "") -> list[str]:
    """A row for each field, those of inner objects behind their own."""
    rows: list[str] = []
    for name, field in found.get("properties", {}).items():
        about = field.get("description", "")
        rows.append(f"| `{path}{name}` | {_kind(field)} | {about} |")
        for one in field.get("anyOf", [field]):
            inner = one.get("items") if one.get("type") == "array" else one
            rows += _rows(inner, f"{path}{name}{'[]' if inner is not one else ''}.")
            more = inner.get("additionalProperties")
            if isinstance(more, dict):
                rows += _rows(more, f"{path}{name}.NAME.")
    return rows


def _tables() -> str:
    lines: list[str] = []
    for name, shape in SHAPES.items():
        lines += [f"## tenner {name}", "", "| field | type | meaning |", "|---|---|---|"]
        lines += [*_rows(schema(shape)), ""]
    return "\n".join(lines)


def files() -> dict[Path, str]:
    """Both files, renewed."""
    lines = [f"{json.dumps(name)}: {json.dumps(found)}" for name, found in schemas().items()]
    return {
        SCHEMAS: _HEAD + ",\n".join(lines) + "\n}}\n",
        PAGE: generated.with_block(PAGE, _BEGIN, _tables()),
    }


if __name__ == "__main__":
    sys.exit(generated.main_of_many(files, __doc__))
