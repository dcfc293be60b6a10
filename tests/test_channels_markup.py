# Markdown to Telegram HTML: the table, and every text in it damaged at every place.
import json
import unittest

from channels_checks import Refused, to_html, utf16_units, visible
from support import ROOT
from tenner.channels import split


def table():
    with open(ROOT + "/tests/vectors/own_telegram_html.json") as file:
        return json.load(file)["cases"]


class TestTable(unittest.TestCase):
    def test_every_row(self):
        rows = table()
        self.assertTrue(len(rows) >= 120)
        for row in rows:
            with self.subTest(markdown=row["markdown"]):
                self.assertEqual(to_html(row["markdown"]), row["html"])

    def test_visible_units_are_what_the_server_counts(self):
        for row in table():
            with self.subTest(markdown=row["markdown"]):
                text = visible(row["html"])
                self.assertEqual(split.visible_units(row["html"].encode()), utf16_units(text))


class TestNeverRefused(unittest.TestCase):
    def test_any_row_cut_at_any_place(self):
        for row in table():
            text = row["markdown"]
            for end in range(len(text)):
                for part in (text[:end], text[end:]):
                    visible(to_html(part))

    def test_pairs_of_marks_in_any_order(self):
        marks = (
            "**",
            "*",
            "_",
            "__",
            "`",
            "~~",
            "[",
            "](https://x.y)",
            "<",
            "\n",
            "```\n",
            " ",
            "a",
        )
        for a in marks:
            for b in marks:
                for c in marks:
                    visible(to_html("x" + a + "y" + b + "z " + c))
                    visible(to_html(a + b + "x" + c + b + a))

    def test_half_a_surrogate_pair_becomes_valid_utf8(self):
        html = to_html("a \ud83d b")
        self.assertEqual(html.replace("\ufffd", ""), "a  b")
        self.assertTrue("\ufffd" in html)

    def test_the_checker_refuses_what_telegram_refuses(self):
        for bad in (
            "<b>x",
            "x</b>",
            "<b><i>x</b></i>",
            "a & b",
            "a > b",
            "<p>x</p>",
            "<b></b>",
            "<a>x</a>",
        ):
            with self.assertRaises(Refused):
                visible(bad)


if __name__ == "__main__":
    unittest.main()
