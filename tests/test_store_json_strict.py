# tenner test: JSON of owners and models is read strictly and its mistakes have a line.
# MIT license; Copyright (c) 2026 the tenner authors

import unittest

from tenner.store import json_strict


class TestLoads(unittest.TestCase):
    def test_valid_values_are_read(self):
        for text, value in (
            ("0", 0),
            ("-12", -12),
            ("1.5", 1.5),
            ("-2e3", -2000.0),
            ("true", True),
            ("false", False),
            ("null", None),
            ('""', ""),
            ('"a\\"b\\\\c\\/d\\n\\t"', 'a"b\\c/d\n\t'),
            ("[]", []),
            ("{}", {}),
            (' { "a" : [ 1 , {"b":[]} ] } ', {"a": [1, {"b": []}]}),
            ('"gr\u00fcn"', "gr\u00fcn"),
            ('{// note\n"a":1, // "b":2\n}', {"a": 1}),
            ("[1,2,]", [1, 2]),
            ('"//"', "//"),
            ("\ufeff[1]", [1]),
            ("[1]\n\0\0", [1]),
            # A section that comes twice loses nothing.
            ('{"a": {"b": 1, "c": 2}, "a": {"c": 3}}', {"a": {"b": 1, "c": 3}}),
            ('{"a": 1, "a": {"c": 3}}', {"a": {"c": 3}}),
        ):
            self.assertEqual(json_strict.loads(text), value)
            self.assertEqual(json_strict.loads(text.encode()), value)

    def test_surrogate_pairs_are_joined_and_lone_halves_replaced(self):
        for text, value in (
            ('"\\ud83d\\ude00"', "\U0001f600"),
            ('"a\\ud83d\\ude00b"', "a\U0001f600b"),
            ('"\\ud83d"', "\ufffd"),
            ('"\\ude00x"', "\ufffdx"),
            ('"\\ud83d\\u0041"', "\ufffdA"),
            ('"\\\\ud83d\\\\ude00"', "\\ud83d\\ude00"),
            ('"\\u00fc\\u20AC"', "\u00fc\u20ac"),
        ):
            self.assertEqual(json_strict.loads(text), value)
            json_strict.loads(text).encode()

    def test_mistakes_name_line_and_what_was_expected(self):
        for text, line, expected in (
            ("", 1, "a value"),
            ('{"a" 1}', 1, "':' after \"a\""),
            ('{"a":1', 1, "',' or '}'"),
            ('{\n"a":1\n"b":2}', 3, "',' or '}'"),
            ("[1 2]", 1, "',' or ']'"),
            ("[1}", 1, "']'"),
            ("[1]]", 1, "nothing more"),
            ("{1:2}", 1, "double quotes"),
            ("{'a':2}", 1, "double quotes"),
            ('{"a":\n"b\n"}', 2, "closing"),
            ('{"a":\n"b\r"}', 2, "closing"),
            ('{"a":\n"b\\n\r"}', 2, "closing"),
            ('"abc', 1, "closing"),
            ('"a\tb"', 1, "write a tab as \\t"),
            ('"a\x1fb"', 1, "control character"),
            ('"\\u0041\0"', 1, "control character"),
            ('"\\x"', 1, "escape"),
            ('"\\', 1, "closing"),
            ('"\\u12g4"', 1, "hex"),
            ('"\\u12"', 1, "hex"),
            ("01", 1, "a value"),
            ("+1", 1, "a value"),
            ("1.", 1, "a value"),
            ("1-2", 1, "a number"),
            ("nul", 1, "a value"),
            ("NaN", 1, "a value"),
            ("[,]", 1, "a value"),
            ("[" * 40 + "]" * 40, 1, "fewer brackets"),
            (b'"\xff"', 1, "UTF-8"),
        ):
            with self.assertRaises(ValueError) as caught:
                json_strict.loads(text)
            message = str(caught.exception)
            self.assertIn("line %d: " % line, message)
            self.assertIn(expected, message)

    def test_a_text_cut_off_anywhere_is_never_taken_for_whole(self):
        text = b'{"path":"a\\u00fc\\n.md","list":[1,-2.5e3,true,null],"deep":{"x":"\xf0\x9f\x98\x80"}}'  # noqa: E501
        json_strict.loads(text)
        for end in range(len(text)):
            with self.assertRaises(ValueError):
                json_strict.loads(text[:end])


if __name__ == "__main__":
    unittest.main()
