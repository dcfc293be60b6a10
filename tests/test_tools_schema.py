# tenner test: a model's arguments are checked, put right where only the form is off, and
# explained. MIT license; Copyright (c) 2026 the tenner authors

import unittest

from tenner.store import json_strict
from tenner.tools import schema

SCHEMA = {
    "name": "bus",
    "description": (
        "Bus: list() read(device,length) write_read(device,data,length,delay?) write(device,data)"
    ),
    "parameters": {
        "type": "object",
        "properties": {
            "action": {"type": "string", "enum": ["list", "read", "write_read", "write"]},
            "device": {"type": "string", "maxLength": 6},
            "address": {"type": "integer", "minimum": 3, "maximum": 119},
            "length": {"type": "integer", "minimum": 1, "maximum": 256},
            "ratio": {"type": "number", "minimum": 0, "maximum": 1},
            "offset": {"type": "integer", "minimum": 0},
            "most": {"type": "integer", "maximum": 9},
            "mode": {"type": "integer", "enum": [0, 1, 2, 3]},
            "flag": {"type": "boolean"},
            "options": {
                "type": "object",
                "properties": {"speed": {"type": "integer", "minimum": 1}},
                "required": ["speed"],
            },
            "data": {
                "type": "array",
                "minItems": 1,
                "maxItems": 4,
                "items": {"type": "integer", "minimum": 0, "maximum": 255},
            },
        },
        "required": ["action"],
    },
}


class TestCheck(unittest.TestCase):
    def problem(self, args, shown=SCHEMA):
        try:
            return schema.check(shown, args)
        except schema.SchemaError as mistake:
            return schema.sentence(shown, args, *mistake.args)

    def test_right_calls(self):
        for args in (
            {"action": "list"},
            {"action": "read", "device": "a", "length": 1},
            {"action": "write", "device": "a", "data": [0, 255]},
            {"action": "write_read", "device": "a", "data": [1], "length": 256},
            {"action": "list", "ratio": 0.5, "flag": False, "options": {"speed": 1}, "mode": 3},
            # More than the action needs is no harm.
            {"action": "list", "length": 5},
        ):
            self.assertIsNone(self.problem(args))

    def test_only_the_form_is_off(self):
        args = {
            "action": "list",
            "address": "0x48",
            "length": "12",
            "offset": 3.0,
            "ratio": "0.5",
            "flag": "true",
            "device": 12,
            "data": ["0xff", "1"],
            "mode": "2",
            "most": None,
        }
        self.assertIsNone(self.problem(args))
        expected = {
            "action": "list",
            "address": 0x48,
            "length": 12,
            "offset": 3,
            "ratio": 0.5,
            "flag": True,
            "device": "12",
            "data": [255, 1],
            "mode": 2,
        }
        self.assertEqual(args, expected)
        self.assertTrue(isinstance(args["offset"], int))

    def test_wrong_calls_say_what_is_allowed_and_show_a_right_one(self):
        for args, words in (
            ({}, ("action is missing",)),
            ({"action": "explode"}, ("action must be one of", "list", "write_read", "explode")),
            ({"action": 5}, ("action must be one of",)),
            ({"action": ["list"]}, ("action must be text",)),
            ({"action": "list", "confirm": True}, ('"confirm"', "allowed:", "address", "ratio")),
            ({"action": "read"}, ("device and length", "missing")),
            ({"action": "read", "length": 2}, ("device is missing",)),
            ({"action": "write", "device": "a"}, ("data is missing",)),
            ({"action": "write_read", "device": "a", "data": [1]}, ("length is missing",)),
            ({"action": "list", "address": 200}, ("address", "0x03 to 0x77", "200")),
            ({"action": "list", "address": "0x78"}, ("address", "0x77")),
            ({"action": "list", "length": 0}, ("length must be 1 to 256, not 0",)),
            ({"action": "list", "length": 1.5}, ("length must be a whole number, not 1.5",)),
            ({"action": "list", "length": "two"}, ("whole number", "two")),
            ({"action": "list", "length": True}, ("whole number",)),
            ({"action": "list", "ratio": 2}, ("ratio must be 0 to 1",)),
            ({"action": "list", "offset": -1}, ("offset must be at least 0",)),
            ({"action": "list", "most": 10}, ("most must be at most 9",)),
            ({"action": "list", "mode": 4}, ("mode must be one of 0, 1, 2, 3",)),
            ({"action": "list", "flag": "maybe"}, ("flag must be true or false",)),
            ({"action": "list", "device": "a" * 7}, ("at most 6 characters, not 7",)),
            ({"action": "list", "data": []}, ("data must have 1 to 4 entries, not 0",)),
            ({"action": "list", "data": [1] * 5}, ("data must have 1 to 4",)),
            ({"action": "list", "data": [1, 300]}, ("data[1] must be 0 to 255",)),
            ({"action": "list", "data": [None]}, ("data[0] must be a whole number",)),
            ({"action": "list", "data": 5}, ("data must be a list",)),
            ({"action": "list", "options": {}}, ("speed is missing",)),
            ({"action": "list", "options": {"speed": 0}}, ("options.speed must be at least 1",)),
            ({"action": "list", "options": {"x": 0}}, ('"options.x"', "speed")),
            ({"action": None}, ("action must be text",)),
            ({"action": "list", "x" * 30: 1}, ("not an argument",)),
        ):
            text = self.problem(args)
            for word in words:
                self.assertIn(word, text)
            self.assertTrue(len(text) < 400)
            example = json_strict.loads(text.split("Example: ", 1)[1])
            self.assertIsNone(self.problem(example))

    def test_the_example_is_of_the_action_that_was_tried(self):
        example = json_strict.loads(self.problem({"action": "write"}).split("Example: ", 1)[1])
        self.assertEqual(example, {"action": "write", "device": "...", "data": [0]})

    def test_a_type_that_is_not_known_is_not_checked(self):
        for kind in (["string", "null"], "date", None):
            shown = {"parameters": {"properties": {"x": {"type": kind}}}}
            for value in ("a", 1, True, [1]):
                self.assertIsNone(self.problem({"x": value}, shown))

    def test_a_schema_without_anything_takes_no_arguments(self):
        self.assertIsNone(self.problem({}, {"name": "x"}))
        self.assertIn("allowed: none", self.problem({"a": 1}, {"name": "x"}))


if __name__ == "__main__":
    unittest.main()
