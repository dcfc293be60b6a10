# tenner tests: schemas of other authors in the words that every model's API accepts.
# MIT license; Copyright (c) 2026 the tenner authors

import json
import unittest

from tenner.mcp.plain_schema import plain, plain_tool

#: The words of an OpenAPI schema that Gemini takes.
_WORDS = (
    "type format title description nullable default items minItems maxItems enum properties "
    "required minimum maximum minLength maxLength pattern"
).split()


def refusal(schema, top=True):
    """Return the reason for which a strict API refuses a schema, or None."""
    if not isinstance(schema, dict):
        return "no object: %s" % schema
    for word in schema:
        if word not in _WORDS:
            return "Unknown name %s" % word
    kind = schema.get("type")
    if not isinstance(kind, str) or top and kind != "object":
        return "type %s" % kind
    values = schema.get("enum")
    if values is not None and (
        kind != "string" or not values or not all(isinstance(one, str) for one in values)
    ):
        return "enum %s" % values
    if schema.get("format") not in (None, "date-time"):
        return "format"
    for name in schema.get("required", ()):
        if name not in schema.get("properties", {}):
            return "required %s" % name
    if kind == "array" and "items" not in schema:
        return "items"
    inner = schema.get("properties", {})
    found = [refusal(inner[name], False) for name in inner]
    if "items" in schema:
        found.append(refusal(schema["items"], False))
    found = [one for one in found if one]
    return found[0] if found else None


def simple(schema):
    return json.loads(plain(json.dumps(schema).encode()))


class TestPlainSchema(unittest.TestCase):
    def arguments(self, properties, **more):
        schema = simple(dict(more, type="object", properties=properties))
        self.assertEqual(refusal(schema), None)
        return schema["properties"]

    def test_a_plain_schema_is_unchanged_byte_by_byte(self):
        schema = b'{"type":"object","properties":{"a":{"type":"string", "enum" : ["x"]},"b":{}}}'
        self.assertEqual(plain(schema), schema)

    def test_members_of_most_schemas_fall_away_without_a_parser(self):
        for schema, expected in (
            (
                b'{"$schema":"http://json-schema.org/draft-07/schema#","type":"object"}',
                b'{"type":"object"}',
            ),
            (b'{"type":"object","additionalProperties":false}', b'{"type":"object"}'),
            (b'{"type":"object", "additionalProperties": false}', b'{"type":"object"}'),
            (b'{"additionalProperties":false}', b"{}"),
            (
                b'{"type":"object","x":{"additionalProperties":false,"type":"object"}}',
                b'{"type":"object","x":{"type":"object"}}',
            ),
            (
                b'{"description":"\\"additionalProperties\\":false"}',
                b'{"description":"\\"additionalProperties\\":false","type":"object","properties":{}}',
            ),
        ):
            self.assertEqual(json.loads(plain(schema)), json.loads(expected))

    def test_the_schema_that_gemini_refused(self):
        found = self.arguments(
            {"a": {"type": ["string", "null"]}, "b": {"const": 3}},
            **{
                "$schema": "http://json-schema.org/draft-07/schema#",
                "additionalProperties": False,
            },
        )
        self.assertEqual(
            found, {"a": {"type": "string"}, "b": {"type": "integer", "minimum": 3, "maximum": 3}}
        )

    def test_constants_and_values(self):
        found = self.arguments(
            {
                "text": {"const": "x"},
                "truth": {"const": True},
                "none": {"const": None},
                "numbers": {"type": "integer", "enum": [1, 2, 8]},
                "mixed": {"enum": ["a", 1, None]},
                "choice": {"oneOf": [{"const": "low"}, {"const": "high"}]},
            }
        )
        self.assertEqual(found["text"], {"type": "string", "enum": ["x"]})
        self.assertEqual(found["truth"], {"type": "boolean", "description": "One of true."})
        self.assertEqual(
            found["numbers"],
            {"type": "integer", "minimum": 1, "maximum": 8, "description": "One of 1, 2, 8."},
        )
        self.assertEqual(found["mixed"], {"type": "string", "enum": ["a", "1"]})
        self.assertEqual(found["choice"], {"type": "string", "enum": ["low", "high"]})

    def test_choices_and_references(self):
        found = self.arguments(
            {
                "maybe": {"anyOf": [{"type": "null"}, {"type": "integer"}], "description": "D"},
                "place": {"$ref": "#/$defs/place", "description": "Where"},
                "round": {"$ref": "#/$defs/round"},
                "lost": {"$ref": "#/$defs/lost"},
                "list": {"type": "array", "items": {"$ref": "#/$defs/place"}},
                "bare": {"type": "array"},
                "any": True,
                "map": {"type": "object", "additionalProperties": {"type": "string"}},
                "when": {"type": "string", "format": "date-time"},
                "mail": {"type": "string", "format": "email"},
            },
            **{
                "$defs": {
                    "place": {
                        "type": "object",
                        "properties": {"x": {"type": "number", "exclusiveMinimum": 0}},
                        "required": ["x", "gone"],
                    },
                    "round": {
                        "type": "object",
                        "properties": {"next": {"$ref": "#/$defs/round"}},
                    },
                }
            },
        )
        self.assertEqual(found["maybe"], {"type": "integer", "description": "D"})
        self.assertEqual(
            found["place"],
            {
                "type": "object",
                "description": "Where",
                "properties": {"x": {"type": "number"}},
                "required": ["x"],
            },
        )
        self.assertEqual(found["list"]["items"]["required"], ["x"])
        self.assertEqual(found["when"]["format"], "date-time")

    def test_a_choice_at_the_top_offers_all_arguments(self):
        for word in ("anyOf", "oneOf", "allOf"):
            schema = simple(
                {
                    "type": "object",
                    "required": ["kind"],
                    "properties": {"kind": {"type": "string"}},
                    word: [
                        {"properties": {"a": {"type": "string"}}, "required": ["a"]},
                        {"properties": {"b": {"type": "integer"}}},
                    ],
                }
            )
            self.assertEqual(refusal(schema), None)
            self.assertEqual(sorted(schema["properties"]), ["a", "b", "kind"])
            self.assertEqual(schema["required"], ["kind"])

    def test_a_tool_of_the_owner(self):
        tool = b'{"name":"x","description":"d","parameters":{"type":"object","properties":{}}}'
        self.assertEqual(plain_tool(tool), tool)
        tool = b'{"name":"x","parameters":{"type":"object","properties":{"a":{"const":"b"}}}}'
        found = json.loads(plain_tool(tool))
        self.assertEqual(refusal(found["parameters"]), None)


if __name__ == "__main__":
    unittest.main()
