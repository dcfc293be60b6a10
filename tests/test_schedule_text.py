# tenner tests: HEARTBEAT.md, its clauses, and the reply that means silence.
# MIT license; Copyright (c) 2026 the tenner authors

import unittest

from support import ROOT, temp_folder
from tables import Parsed
from tenner.schedule import heartbeat_parser
from tenner.schedule.known_values import Known
from tenner.schedule.strip_ack import strip_ack


def texts(text):
    return [item["text"] for item in Parsed(text).items]


class Items(unittest.TestCase):
    def test_every_kind_of_list_item_is_a_task(self):
        self.assertEqual(
            texts("- a\n* b\n+ c\n1. d\n2) e\n- [ ] f\n- [] g\n\t- h\n"),
            ["a", "b", "c", "d", "e", "f", "g\n- h"],
        )

    def test_what_is_no_item_is_general_text(self):
        found = Parsed("Hello\n**bold** text\n12.5 is a number\n-1 too\n> quoted\n")
        self.assertEqual(found.items, [])
        self.assertEqual(found.general, "Hello\n**bold** text\n12.5 is a number\n-1 too\n> quoted")

    def test_indented_lines_belong_to_their_item(self):
        text = "- (every 1h) Check:\n  - soil\n  - air\n\n  and the door\n- next\n"
        found = Parsed(text)
        self.assertEqual(texts(text), ["Check:\n- soil\n- air and the door", "next"])
        self.assertEqual(found.items[0]["every_s"], 3600)

    def test_a_nested_box_or_clause_is_a_task_of_its_own(self):
        self.assertEqual(texts("- a\n  - [ ] b\n  - (every 5m) c\n"), ["a", "b", "c"])
        self.assertEqual(texts("- [x] a\n  detail\n  - [ ] b\n"), ["b"])

    def test_comments_anywhere(self):
        self.assertEqual(texts("- a <!-- b --> c\n<!--\n- d\n--> \n- e<!-- f --><!-- g -->\n"),
                         ["a  c", "e"])  # fmt: skip
        found = Parsed("- a\n<!-- never closed\n- b\n")
        self.assertEqual(len(found.items), 1)
        self.assertEqual(found.problems[0][0], 2)
        self.assertTrue("never closed" in found.problems[0][1])

    def test_front_matter_only_at_the_top_and_only_when_closed(self):
        self.assertTrue(Parsed("---\ntags:\n- a\n- b\n---\n").is_empty())
        self.assertTrue(Parsed("\ufeff---\r\nname: x\r\n---\r\n").is_empty())
        self.assertEqual(texts("---\n- a\n---\n"), ["a"])
        self.assertEqual(texts("---\nname: x\n- a\n"), ["a"])
        self.assertEqual(Parsed("---\nname: x\n").general, "name: x")
        self.assertEqual(texts("- a\n---\nname: x\n---\n"), ["a"])

    def test_line_numbers_are_those_of_the_file(self):
        found = Parsed("---\na: b\n---\n<!--\n\n-->\n- one\n\n- (every x) two\n")
        self.assertEqual(found.lines, [7, 9])
        self.assertEqual(found.problems[0][0], 9)

    def test_a_task_without_text_is_reported(self):
        found = Parsed("- (every 5m)\n")
        self.assertEqual((found.off, len(found.problems)), ([1], 1))
        # Its text may follow on the next line.
        self.assertEqual(texts("- (every 5m)\n  Look.\n"), ["Look."])

    def test_an_endless_task_is_cut_and_reported(self):
        found = Parsed("- a\n" + "  word word word\n" * 1000)
        self.assertEqual(len(found.items[0]["text"]), 2000)
        self.assertEqual(len(found.problems), 1)

    def test_a_file_gives_the_same_wherever_its_blocks_end(self):
        text = "# H\r\nLook — 温室.\n\n- (every 5m) Grüße 👋 to all\n- [x] done\n- b\n  c\n"
        wanted = None
        path = temp_folder(self) + "/H.md"
        for padding in range(257):
            with open(path, "wb") as f:
                f.write(b"<!--" + b"x" * padding + b"-->\n" + text.encode())
            found = list(heartbeat_parser.read(heartbeat_parser.file_lines(path)))
            if wanted is None:
                wanted = found
                self.assertEqual([entry[2] for entry in found][:2],
                                 ["Look — 温室.", "Grüße 👋 to all"])  # fmt: skip
            self.assertEqual(found, wanted)

    def test_a_file_of_one_endless_line_or_of_garbage(self):
        path = temp_folder(self) + "/H.md"
        with open(path, "wb") as f:
            f.write(b"- " + "ä b ".encode() * 1000)
        found = list(heartbeat_parser.read(heartbeat_parser.file_lines(path)))
        self.assertEqual(
            [entry[0] for entry in found], [heartbeat_parser.PROBLEM, heartbeat_parser.TASK]
        )
        self.assertEqual({entry[1] for entry in found}, {1})
        for line in heartbeat_parser.file_lines(path):
            self.assertTrue(len(line[1].encode()) <= 800)
        with open(path, "wb") as f:
            f.write(bytes(range(256)) * 9 + b"\xf0\x9f" * 700)
        for line in heartbeat_parser.file_lines(path):
            self.assertTrue(isinstance(line[1], str))

    def test_the_template_costs_nothing_and_its_examples_are_right(self):
        with open(ROOT + "/firmware/workspace/HEARTBEAT.md") as f:
            text = f.read()
        self.assertTrue(Parsed(text).is_empty())
        self.assertEqual(Parsed(text).problems, [])
        found = Parsed(text.replace("<!--", "").replace("-->", ""))
        self.assertEqual(found.problems, [])
        self.assertEqual(len(found.items), 8)

    def test_every_prefix_of_a_file_can_be_read(self):
        text = "---\na: b\n---\n- (every 5m; when a.b outside 1..2 for 3m) x <!-- c -->\n- [x] y"
        for end in range(len(text)):
            Parsed(text[:end])


class Clauses(unittest.TestCase):
    def condition(self, text):
        found, _, problem = heartbeat_parser.parse_clauses("(when %s) x" % text)
        return found.get("when"), problem

    def test_conditions_are_parsed(self):
        base = {"sensor": "room", "value": "temperature"}
        for text, wanted in (
            ("room.temperature>30", {"op": ">", "number": 30}),
            ("room.temperature <= -2.5 for 90s", {"op": "<=", "number": -2.5, "for_s": 90}),
            ("room.temperature outside 18..25", {"op": "outside", "number": 18, "number2": 25}),
            ("room.temperature changes by 2", {"op": "changes by", "number": 2}),
            (
                "room.temperature >= 30 reset 28 for 1m",
                {"op": ">=", "number": 30, "reset": 28, "for_s": 60},
            ),
        ):
            with self.subTest(text):
                wanted.update(base)
                self.assertEqual(self.condition(text), (wanted, None))

    def test_conditions_that_make_no_sense(self):
        for text in (
            "",
            "room > 30",
            "room.temperature",
            "room.temperature > hot",
            "room.temperature > 30 reset 31",
            "room.temperature < 20 reset 19",
            "room.temperature == 20 reset 19",
            "room.temperature outside 25..18",
            "room.temperature outside 25",
            "room.temperature changes by 0",
            "room.temperature changes 5 9",
            "room.temperature > 30 for ever",
            "room.temperature > 30 for 3m for 3m",
            "room.temperature > 30 at night",
            "room.temperature > 1.2.3",
        ):
            with self.subTest(text):
                found, problem = self.condition(text)
                self.assertTrue(found is None and problem)

    def test_other_mistakes_keep_the_text_and_say_what_was_expected(self):
        for text, word in (
            ("every 10", "10m"),
            ("every 0m", "1s"),
            ("every 400d", "366d"),
            ("daily 25:00", "07:30"),
            ("daily 24:00", "07:30"),
            ("cron 0 9 * *", "five fields"),
            ("hours 8-99", "HH:MM"),
            ("hours 08:00-08:00", "equal"),
            ("model", "one name"),
            ("notify me", "alone"),
            ("every 5m; banana", "banana"),
            ("every 5m; every 6m", "twice"),
            ("every 5m; daily 07:00", "not several"),
            ("notify; model x", "not both"),
        ):
            with self.subTest(text):
                line = "(%s) Do it." % text
                found, rest, problem = heartbeat_parser.parse_clauses(line)
                self.assertEqual((found, rest), ({}, line))
                self.assertTrue(word in problem, problem)
        self.assertTrue("closed" in heartbeat_parser.parse_clauses("(every 5m Do it.")[2])

    def test_ordinary_brackets_are_ordinary(self):
        for text in ("(see notes) x", "() x", "(never) x", "no (see it) x"):
            self.assertEqual(heartbeat_parser.parse_clauses(text), ({}, text, None))

    def test_words_in_any_case(self):
        found, rest, problem = heartbeat_parser.parse_clauses("(Every 5M) x")
        self.assertEqual((found, rest, problem), ({"every_s": 300}, "x", None))
        self.assertEqual(
            heartbeat_parser.parse_clauses("(EVERY 5m; Notify) x")[0],
            {"every_s": 300, "notify": True},
        )


class NearRules(unittest.TestCase):
    """Lines a little off the grammar: a rule, or off with a sentence, never a paid task."""

    known = Known(
        {
            "room": {"driver": "tmp102"},
            "cellar": {"driver": "sht31", "name": "Keller"},
            "battery": {"driver": "ads1115"},
            "door": {"driver": "gpio"},
            "air": {"driver": "my_co2"},
        }
    )

    def read(self, line):
        found = list(heartbeat_parser.read([(1, line)], self.known))
        problems = [what for kind, _, what, _ in found if kind == heartbeat_parser.PROBLEM]
        return found[-1][0], found[-1][3], problems

    def test_any_bullet_and_decoration(self):
        for before in ("• ", "– ", "— ", "・", "-", "*", "a) ", "(1) ", "3. ", "", "🔥 ", "- ⚠️ ",
                       "> ", "- [ ] ", "☐ ", "① ", "## "):  # fmt: skip
            for rule in ("(when room.temperature > 30; notify) x",
                         "（when room.temperature > 30；notify）x"):  # fmt: skip
                with self.subTest(before + rule):
                    kind, clauses, problems = self.read(before + rule)
                    self.assertEqual((kind, problems), (heartbeat_parser.TASK, []))
                    self.assertEqual(clauses["when"]["number"], 30)
        for line in ("- **(daily 07:30)** Report", "- `(daily 07:30)` Report",
                     "[daily 07:30] Report",
                     "- daily 07:30: Report", "- Report (daily 07:30)", "- （毎日7時30分）報告",
                     "- (täglich 07:30) Report", "- **daily 07:30** Report"):  # fmt: skip
            with self.subTest(line):
                self.assertEqual(self.read(line)[1], {"daily": "07:30"})

    def test_what_is_not_understood_is_off_with_a_right_line(self):
        for line, right in (
            ("- (when rom.temperature > 30; notify) x", '"room.temperature"'),
            ("- (when room.temperture > 30; notify) x", '"room.temperature"'),
            ("- (when room.temperature < 41 V) x", "30 °C"),
            ("- (when room.temperature < 41 zorks) x", "30 °C"),
            ("- (when air.co2 > 1.000 ppm) x", '"1000"'),
            ("- (5m) x", "every"),
            ("- at 18:00 water", '"daily 18:00"'),
            ("- tomorrow: x", '"tomorrow 07:30"'),
            ("- evry day at 7 tell me", '"daily 07:00"'),
            ("- When the moon is above 30, tell me", "when"),
            ("- (daily Report", "never closed"),
            ("- Tell me every day at 7 about mail", "(daily 07:00)"),
        ):
            with self.subTest(line):
                kind, clauses, problems = self.read(line)
                self.assertEqual((kind, clauses), (heartbeat_parser.OFF, None))
                self.assertTrue(right in problems[0], problems)

    def test_units_are_those_of_the_sensor(self):
        for line, number in (
            ("- (when room.temperature < 41 °F) x", 5),
            ("- (when room.temperature > 300 K) x", 26.85),
            ("- (when battery.voltage < 3300 mV) x", 3.3),
            ("- (when room.temperature drops by 9 °F within 1h) x", 5),
            ("- (when room.temperature > 26 notify) x", 26),
        ):
            with self.subTest(line):
                self.assertEqual(self.read(line)[1]["when"]["number"], number)
        found = self.read("- (when room.temperature outside 50..68 °F) x")[1]["when"]
        self.assertEqual((found["number"], found["number2"]), (10, 20))

    def test_a_name_in_a_text_is_checked_too(self):
        kind, _, problems = self.read("- (daily 07:30; notify) {rom.temperature}")
        self.assertEqual(kind, heartbeat_parser.TASK)
        self.assertTrue('"room.temperature"' in problems[0], problems)

    def test_sentences_of_people(self):
        for line, clauses in (
            ("- every day at 7 tell me hello", {"daily": "07:00"}),
            ("- jeden Tag um 7 Uhr 30 Guten Morgen sagen", {"daily": "07:30"}),
            ("- alle 10 Minuten nach der Post sehen", {"every_s": 600}),
            ("- tous les jours à 7h30 dis bonjour", {"daily": "07:30"}),
            ("- todos los días a las 7 dime el tiempo", {"daily": "07:00"}),
            ("- 每10分钟检查", {"every_s": 600}),
            ("- 毎週月曜日9時に報告", {"cron": "0 9 * * 1"}),
            ("- (weekly on monday) x", {"cron": "0 9 * * 1"}),
            ("- (mon-fri 19:00) x", {"cron": "0 19 * * 1-5"}),
            ("- (every 1h; between 8 and 18) x", {"every_s": 3600, "hours": "08:00-18:00"}),
        ):
            with self.subTest(line):
                self.assertEqual(self.read(line)[1], clauses)
        for line, sensor, op, number in (
            ("- When the room is above 30, tell me", "room", ">", 30),
            ("- Wenn der Keller über 70 % ist, lüften", "cellar", ">", 70),
            ("- quand room dépasse 30 °C dis-le", "room", ">", 30),
            ("- cuando room supere 30 °C avísame", "room", ">", 30),
            ("- roomの温度が30度を超えたら教えて", "room", ">", 30),
            ("- 当room温度高于30度时通知我", "room", ">", 30),
            ("- if the door is open for more than 10 minutes, warn me", "door", "==", 1),
        ):
            with self.subTest(line):
                found = self.read(line)[1]["when"]
                self.assertEqual((found["sensor"], found["op"], found["number"]),
                                 (sensor, op, number))  # fmt: skip

    def test_plain_tasks_stay_plain(self):
        for line in (
            "- Compare the soil sensor with yesterday.",
            "- Remind me about the filter on the 1st.",
            "- (see notes) Water the plants.",
            "- Tell me the night's minimum.",
        ):
            with self.subTest(line):
                self.assertEqual(self.read(line), (heartbeat_parser.TASK, {}, []))
        for line in ("Look after the greenhouse.", "When in doubt, ask me."):
            self.assertEqual(self.read(line)[0], heartbeat_parser.GENERAL)


class Ack(unittest.TestCase):
    def test_wrapped_silence(self):
        for reply in (
            "__HEARTBEAT_OK__",
            "> HEARTBEAT_OK",
            "- HEARTBEAT_OK",
            "# HEARTBEAT_OK",
            "```text\nHEARTBEAT_OK\n```",
            "```markdown\nHEARTBEAT_OK\n```",
            "<p><b>HEARTBEAT_OK</b></p>",
            "“HEARTBEAT_OK”",
            "HEARTBEAT_OKHEARTBEAT_OK",
            "HEARTBEAT_OK, HEARTBEAT_OK.",
            "✅ HEARTBEAT_OK ✅",
            "HEARTBEAT_OK&nbsp;",
            "(HEARTBEAT_OK)",
        ):
            with self.subTest(reply):
                self.assertEqual(strip_ack(reply), None)

    def test_an_alert_keeps_all_of_its_own(self):
        for reply, wanted in (
            ("**HEARTBEAT_OK** The door is open.", "The door is open."),
            ("The door is open. **HEARTBEAT_OK**", "The door is open."),
            ("The door is open.\n\n`HEARTBEAT_OK`.", "The door is open."),
            ("HEARTBEAT_OK\n\n**Alert** now", "**Alert** now"),
            ("HEARTBEAT_OK -5 degrees", "-5 degrees"),
            ("HEARTBEAT_OK - the door is open", "the door is open"),
            ("HEARTBEAT_OK\n- the door\n- the window", "- the door\n- the window"),
            ("HEARTBEAT_OK: 97%", "97%"),
            ("Door open <b>HEARTBEAT_OK</b>", "Door open"),
            ("<b>HEARTBEAT_OK</b> Door open", "Door open"),
            ("*97%* HEARTBEAT_OK", "*97%*"),
            ("HEARTBEAT_OK\nHEARTBEAT_OK\nFire", "Fire"),
            ("HEARTBEAT_OK Fire HEARTBEAT_OK", "Fire"),
            ("HEARTBEAT_OK 火事", "火事"),
            ("HEARTBEAT_OK <fire>", "<fire>"),
            ("HEARTBEAT_OK_2", "HEARTBEAT_OK_2"),
            ("Say HEARTBEAT_OK or not", "Say HEARTBEAT_OK or not"),
            ("  Fire!  ", "Fire!"),
        ):
            with self.subTest(reply):
                self.assertEqual(strip_ack(reply), wanted)

    def test_short_remainders_are_dropped_only_beside_the_token(self):
        self.assertEqual(strip_ack("All good. HEARTBEAT_OK", 20), None)
        self.assertEqual(strip_ack("All good.", 20), "All good.")
        self.assertEqual(strip_ack("We say HEARTBEAT_OK here", 100), "We say HEARTBEAT_OK here")


if __name__ == "__main__":
    unittest.main()
