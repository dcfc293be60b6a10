# Long messages in parts: the table at its limits and at every limit, and whole books of text.
import json
import unittest

from channels_checks import split_problem, utf16_units
from support import ROOT
from tenner.channels import split


def table():
    with open(ROOT + "/tests/vectors/own_telegram_split.json") as file:
        return json.load(file)["cases"]


class TestTable(unittest.TestCase):
    def test_every_row(self):
        rows = table()
        self.assertTrue(len(rows) >= 60)
        for row in rows:
            text, limit = row["text"], row["limit"]
            found = list(split.parts(text, limit))
            with self.subTest(text=text, limit=limit):
                self.assertEqual(split_problem(text, limit, found), None)

    def test_every_row_at_every_limit(self):
        for row in table():
            text = row["text"]
            for limit in range(30, utf16_units(text) + 1):
                found = list(split.parts(text, limit))
                with self.subTest(text=text, limit=limit):
                    self.assertEqual(split_problem(text, limit, found), None)


class TestWhereItCuts(unittest.TestCase):
    def expect(self, text, limit, parts):
        self.assertEqual(list(split.parts(text, limit)), parts)

    def test_paragraph_before_line_before_word(self):
        self.expect("a b\n\nc d\ne f", 9, ["a b", "c d\ne f"])
        self.expect("a b\nc d e", 6, ["a b", "c d e"])
        self.expect("abc def ghi", 8, ["abc def", "ghi"])
        self.expect("abcdefgh", 3, ["abc", "def", "gh"])

    def test_a_fence_that_fits_one_message_is_not_cut(self):
        self.expect("intro words\n```\nabc\n```", 18, ["intro words", "```\nabc\n```"])

    def test_a_cut_fence_is_closed_and_opened_again_with_its_language(self):
        self.expect("```py\na = 1\nb = 2\n```", 16, ["```py\na = 1\n```", "```py\nb = 2\n```"])

    def test_blank_lines_and_indents_in_code_are_kept(self):
        parts = list(split.parts("```\n  a\n\n    b\n```", 14))
        self.assertEqual(parts, ["```\n  a\n\n```", "```\n    b\n```"])

    def test_marks_are_not_cut(self):
        self.expect("one two **three four** five", 20, ["one two", "**three four** five"])
        self.expect("see [a b](https://x.y/z) ok", 23, ["see", "[a b](https://x.y/z) ok"])

    def test_emoji_are_not_cut(self):
        self.expect("\U0001f600" * 3, 5, ["\U0001f600" * 2, "\U0001f600"])

    def test_blank_text_makes_no_part(self):
        self.expect(" \n\t\n ", 10, [])


class TestFullSize(unittest.TestCase):
    def test_a_message_of_exactly_the_limit_stays_whole(self):
        for letter, size in (("a", 1), ("\u00e9", 1), ("\u6c49", 1), ("\U0001f600", 2)):
            text = letter * (4096 // size)
            self.assertEqual(list(split.parts(text)), [text])
            self.assertEqual(len(list(split.parts(text + letter))), 2)

    def test_long_reports(self):
        lines = [
            "## Part",
            "",
            "Some *words* about `x` and [y](https://x.y).",
            "",
            "```py",
            "a = 1",
            "```",
            "",
        ]
        text = "\n".join(lines * 150)
        found = list(split.parts(text))
        self.assertEqual(split_problem(text, 4096, found), None)
        self.assertEqual(len(found), 3)


if __name__ == "__main__":
    unittest.main()
