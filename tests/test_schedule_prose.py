# tenner tests: a line in the owner's words is asked about once, and offered as a rule.
# MIT license; Copyright (c) 2026 the tenner authors

import json
import unittest

import schedule_sim as sim
from support import read_bytes, run
from tenner.agent.errors import LaneBusy, Preempted
from tenner.schedule import command, known_values, prose, status
from tenner.sensors.ring import Ring
from tenner.store import files

sim.quiet()
prose.log = sim._silent


def cut_at(real, count):
    """Return a function like `real` in which the power fails at call number `count`."""
    left = [count]

    def cut(*args):
        left[0] -= 1
        if left[0] == -1:
            raise sim.PowerCut
        return real(*args)

    return cut


SENSORS = {
    "cellar": {"driver": "sht31", "name": "Keller"},
    "room": {"driver": "sht31"},
    "door": {"driver": "gpio"},
    "tank": {"driver": "adc", "value": "level"},
}
DAMP = "(when cellar.humidity > 70 % for 10m; notify)"
WORDS = "sag mir, wenn der Keller feucht ist"
FILE = "# Heartbeat\n\nBe brief.\n\n- Be kind.\n  - %s\n- (daily 07:30) Report.\n" % WORDS
OFFER = (
    "Line 6, '%s', as: `%s`. Until you answer it asks the model at each beat: 48 calls a day. "
    "The same as a command: /heartbeat use 6, /heartbeat ask 6, /heartbeat off 6"
) % (WORDS, DAMP)
FILE = FILE.replace("  - sag", "- sag")
#: Lines in people's words, a model's reply as they come, and the rule in it, None for none.
LINES = (
    ("sag mir, wenn der Keller feucht ist", "(when cellar.humidity > 70 %; notify)"),
    ("Keller über 65 Prozent ist mir zu feucht", "`(when cellar.humidity > 65 %; notify)`"),
    ("the tank should never run dry at 5 %", "(when tank.level < 5 % reset 10; notify; urgent)"),
    ("I hate it when my room gets hotter than 26", "(when room.temperature > 26 for 10m; notify)"),
    ("room must not be colder than 17 degrees", "```\n(when room.temperature < 17; notify)\n```"),
    ("nobody should leave the door open long", "(when door.state is open for 10m; notify)"),
    ("dis-moi si le tank est presque vide, 10 %", "(when tank.level < 10 %; notify)"),
    ("me gusta saber de la room a 30 grados", "(when room.temperature > 30; notify)\n"),
    ("地下室 cellar 70 % 以上なら教えて", "(when cellar.humidity >= 70 %; notify)"),
    ("cellar 的湿度超过 80 时告诉我", "(when cellar.humidity > 80; notify)"),
    ("I want the room's weather report around 7", "(daily 07:00)"),
    ("the mail wants a look 3 times a working day", "(cron 0 9,12,15 * * 1-5)"),
    ("my plants like water each 2 days", "(every 48h)"),
    ("room in der Nacht nie über 22", "(when room.temperature > 22; hours 22:00-06:00; notify)"),
    ("cellar dries too fast, 10 points in an hour", "(when cellar.humidity drops by 10 within 1h; notify)"),  # noqa: E501
    ("room comfort is 19 to 24", "(when room.temperature outside 19..24; notify)"),
    ("cellar and room both damp means mould",
     "(when cellar.humidity > 70 and room.humidity > 70; notify)"),
    ("room jumped 2 degrees? say so", "(when room.temperature changes by 2; notify)"),
    ("remind me of the bins, 18:00 Sundays", "(cron 0 18 * * 0; notify)"),
    ("the tank's level below a fifth", "(when tank.level < 20 %; notify; repeat 1h)"),
    ("look at the cellar as you see fit", "no"),
    ("the room should feel nice", "No."),
    ("the door is a mystery", ""),
    ("cellar news please", "Sure! Here is the rule:\n(daily 07:30)"),
    ("cellar gossip", "(daily 07:30) and (every 1h)"),
    ("cellar stories", "- (daily 07:30) Report"),
    ("cellar of the attic", "(when attic.humidity > 70; notify)"),
    ("cellar typo", "(when cellar.humidty > 70; notify)"),
    ("cellar volts", "(when cellar.humidity > 70 V; notify)"),
    ("cellar is damp, is it", "(when cellar is damp; notify)"),
    ("cellar at 25", "(daily 25:00)"),
    ("cellar evry 10", "(evry 10m)"),
    ("cellar fruit", "(banana)"),
    ("cellar object", '{"rule": "(daily 07:30)"}'),
    ("cellar long", "(daily 07:30" + " " * 500 + ")"),
    ("cellar shell", "rm -rf /"),
    ("cellar more", "(when cellar.humidity > 70; notify) {room.temperature}"),
    ("cellar template", "(when {cellar.humidity} > 70; notify)"),
    ("cellar nothing but notify", "(notify)"),
    ("cellar nothing but hours", "(hours 8-20)"),
)  # fmt: skip
RULES = 20
GONE = "HEARTBEAT.md has no such line with an offer any more; nothing was changed."


class Board(sim.Board):
    """With real files, and a model that has `answers` for lines."""

    def __init__(self, case, text=FILE, answers=(DAMP,), **settings):
        self.answers = list(answers)
        self.asked = []
        settings["heartbeat__prose"] = settings.get("heartbeat__prose", "offer")
        sim.Board.__init__(self, text, case=case, **settings)
        with open(self.workspace + "/SENSORS.json", "w") as f:
            f.write(json.dumps(SENSORS))

    async def _run_turn(self, request):
        if not request.choose:
            return await sim.Board._run_turn(self, request)
        self.asked.append((request.choose, request.text))
        answer = self.answers.pop(0)
        if isinstance(answer, BaseException):
            raise answer
        return answer, 170

    def told(self):
        return [text for _, text in self.sent]

    def text(self):
        return read_bytes(self.workspace + "/HEARTBEAT.md").decode()

    def answer(self, *words):
        return sim.drive(status.answer(self.service, words))

    def kept(self):
        try:
            return json.loads(read_bytes(self.state + "/prose.json").decode())
        except OSError:
            return {}


class Offers(unittest.TestCase):
    def test_a_line_is_asked_about_once_and_offered(self):
        board = Board(self)
        board.pass_time(4 * 1800)
        self.assertEqual(board.told(), [OFFER])
        self.assertEqual(len(board.asked), 1)
        system, text = board.asked[0]
        self.assertEqual(text, WORDS)
        self.assertTrue(system.startswith("You put one line"), system)
        self.assertTrue("cellar.humidity" in system and "tank.level" in system, system)
        # Until it is answered the line is asked about at each beat, as any prose.
        self.assertTrue(len(board.turns) >= 4 and WORDS in board.turns[-1][1])
        self.assertEqual(board.text(), FILE)
        board.boot()
        board.pass_time(4 * 1800)
        self.assertEqual((len(board.asked), board.told()), (1, [OFFER]))

    def test_every_reply_is_a_rule_or_changes_nothing(self):
        self.assertEqual(len(LINES), 40)
        board = Board(self, "\n", [])
        board.service.known = known_values.load(board.workspace)
        for number, (line, text) in enumerate(LINES):
            found = prose.rule_of(text, line, board.service)
            self.assertEqual(found is not None, number < RULES, (line, text))
            if found:
                self.assertTrue(found in text, text)

    def test_only_lines_that_name_something(self):
        for text in (
            "- Be kind.\n",
            "Water the cellar.\n",
            "- (daily 07:30) cellar\n",
            "- [x] cellar\n",
        ):
            board = Board(self, text, [])
            board.pass_time(3 * 1800)
            self.assertEqual((board.asked, board.told()), ([], []), text)

    def test_lines_wait_for_each_other(self):
        lines = "".join(["- %s\n" % line for line, _ in LINES[18:23]])
        board = Board(self, lines, [text for _, text in LINES[18:23]])
        board.pass_time(8 * 1800)
        self.assertEqual([text for _, text in board.asked], [line for line, _ in LINES[18:23]])
        self.assertEqual(len(board.told()), 2, board.told())

    def test_a_reply_that_is_no_rule_is_not_asked_for_again(self):
        board = Board(self, answers=["I would rather not."])
        board.pass_time(3 * 1800)
        board.boot()
        board.pass_time(3 * 1800)
        self.assertEqual((len(board.asked), board.told()), (1, []))
        self.assertEqual(list(board.kept().values()), [""])

    def test_a_person_goes_first(self):
        board = Board(self, answers=[LaneBusy("telegram:1"), Preempted(), DAMP])
        board.pass_time(5 * 1800)
        self.assertEqual((len(board.asked), board.told()), (3, [OFFER]))

    def test_a_call_that_fails_is_not_repeated(self):
        board = Board(self, answers=[OSError("HTTP 500")])
        board.pass_time(3 * 1800)
        self.assertEqual((len(board.asked), board.told(), board.notices), (1, [], []))
        self.assertEqual(board.service.failures, 0)

    def test_without_a_budget_or_a_model_there_is_no_call(self):
        board = Board(self)
        board.left_tokens = 0
        board.pass_time(3 * 1800)
        self.assertEqual((board.asked, board.told()), ([], []))
        board = Board(self)
        board.reply = OSError("llm.api_key is not set")
        board.pass_time(3 * 1800)
        self.assertEqual(board.asked, [])
        # Spent by the beat itself.
        board = Board(self)
        board.left_tokens = 1

        def spend(text):
            board.left_tokens = 0
            return sim.Result("HEARTBEAT_OK")

        board.reply = spend
        board.pass_time(1801)
        self.assertEqual((len(board.turns), board.asked), (1, []))

    def test_the_setting(self):
        board = Board(self, heartbeat__prose="ask")
        board.pass_time(3 * 1800)
        self.assertEqual((board.asked, board.told(), board.notices), ([], [], []))
        self.assertTrue(WORDS in board.turns[0][1])
        board = Board(self, heartbeat__prose="off")
        board.pass_time(3 * 1800)
        board.boot()
        board.pass_time(3 * 1800)
        self.assertEqual((board.asked, board.told()), ([], []))
        self.assertEqual(len(board.notices), 1, board.notices)
        self.assertTrue(board.notices[0].startswith("HEARTBEAT.md line 6: it is prose, and"))
        self.assertTrue(board.turns and not [1 for _, text, _ in board.turns if WORDS in text])

    def test_an_alarm_does_not_wait_for_an_offer(self):
        board = Board(self, FILE + "- (when room.temperature > 30; notify) Hot\n")
        board.readings["room"]["temperature"] = 31.5
        board.pass_time(1900)
        self.assertTrue(board.told()[0].startswith("Hot"), board.told())
        self.assertEqual(len(board.told()), 2)


class Answers(unittest.TestCase):
    def offered(self, text=FILE, **settings):
        board = Board(self, text, **settings)
        board.pass_time(3700)
        self.assertEqual(len(board.told()), 1)
        return board

    def test_use_it(self):
        board = self.offered()
        board.boot()
        board.step()
        key = list(board.kept())[0]
        said = board.answer("use", key)
        self.assertEqual(said, "Line 6 is a rule now: %s %s" % (DAMP, WORDS))
        self.assertEqual(board.text(), FILE.replace("- sag", "- " + DAMP + " sag"))
        turns = len(board.turns)
        board.readings["cellar"] = {"humidity": 80}
        board.pass_time(4 * 1800)
        # "Be kind." still is.
        self.assertTrue(not [1 for _, text, _ in board.turns[turns:] if WORDS in text])
        self.assertEqual(len(board.asked), 1)
        self.assertTrue(board.told()[1].startswith(WORDS), board.told())
        self.assertEqual(board.answer("use", key), GONE)

    def test_ask_each_time(self):
        board = self.offered()
        self.assertTrue(board.answer("ask", "6").startswith("Line 6 asks the model at each beat"))
        board.boot()
        board.pass_time(3 * 1800)
        self.assertEqual((board.text(), len(board.asked), len(board.told())), (FILE, 1, 1))
        self.assertEqual(board.answer("use", "6"), GONE)

    def test_off(self):
        board = self.offered()
        self.assertTrue(board.answer("off", "6").startswith("Line 6 is off"))
        self.assertEqual(board.text(), FILE.replace("- sag", "- [x] sag"))
        turns = len(board.turns)
        board.pass_time(3 * 1800)
        self.assertTrue(not [1 for _, text, _ in board.turns[turns:] if WORDS in text])

    def test_bullets_boxes_and_indents_stay(self):
        for line, used, off in (
            ("* [ ] %s", "* [ ] %s %s", "* [x] %s"),
            ("3. %s\r", "3. %s %s\r", "3. [x] %s\r"),
            ("• %s", "• %s %s", "- [x] %s"),
            ("\t- %s", "\t- %s %s", "\t- [x] %s"),
            (
                "- %s\n  and if it stays so.",
                "- %s %s\n  and if it stays so.",
                "- [x] %s\n  and if it stays so.",
            ),
        ):
            text = "# H\n" + line % WORDS + "\n\n- Be kind.\n"
            board = self.offered(text)
            self.assertTrue("is a rule" in board.answer("use", "2"), line)
            self.assertEqual(board.text(), text.replace(line % WORDS, used % (DAMP, WORDS)))
            board = self.offered(text)
            self.assertTrue("is off" in board.answer("off", "2"), line)
            self.assertEqual(board.text(), text.replace(line % WORDS, off % WORDS))

    def test_a_line_without_a_newline_and_one_with_a_comment(self):
        board = self.offered("- Be kind.\n- " + WORDS)
        board.answer("use", "2")
        self.assertEqual(board.text(), "- Be kind.\n- %s %s" % (DAMP, WORDS))
        text = "- Be kind.\n- sag mir, <!-- bitte -->wenn der Keller feucht ist\n"
        board = self.offered(text)
        self.assertEqual((board.answer("use", "2"), board.text()), (GONE, text))

    def test_a_line_that_was_edited_or_moved(self):
        board = self.offered()
        key = list(board.kept())[0]
        edited = FILE.replace("feucht ist", "trocken ist")
        board.write(edited)
        board.step()
        for name in (key, "6", "7", "99", "x", ""):
            self.assertEqual(board.answer("use", name), GONE)
        self.assertEqual(board.text(), edited)
        board.write("- First.\n" + FILE)
        board.step()
        self.assertTrue(board.answer("use", key).startswith("Line 7 is a rule now"))
        board.write(None)
        self.assertEqual(board.answer("use", key), GONE)

    def test_only_the_owner(self):
        class App:
            def owner(self):
                return "telegram", 1

            def get(self, name):
                return board.service

        board = self.offered()

        def use(channel, chat):
            return command.command(App(), "heartbeat", "use 6", channel, chat)

        for channel, chat in (("telegram", 2), ("mqtt", "say"), ("telegram", "-7:1")):
            said = use(channel, chat)
            self.assertEqual(said, "Only the owner changes the lines.")
        self.assertEqual(board.text(), FILE)
        said = run(use("telegram", "1:5"))
        self.assertTrue(said.startswith("Line 6 is a rule now"), said)


class PowerCuts(unittest.TestCase):
    def test_at_each_write_of_an_offer(self):
        put = files.put
        lost = 0
        for count in range(80):
            board = Board(self, answers=[DAMP, DAMP])
            # As an outbox has it, which knows a message by its mark.
            board.confirms = False
            files.put = cut_at(put, count)
            try:
                board.pass_time(2000)
                done = True
            except sim.PowerCut:
                done = False
            finally:
                files.put = put
            board.boot()
            board.pass_time(3 * 1800)
            # One call; its offer is told once, or was lost with the call.
            self.assertTrue(len(board.asked) == 1, (count, board.asked))
            self.assertTrue(board.told() in ([], [OFFER]), (count, board.told()))
            lost += not board.told()
            self.assertEqual(board.text(), FILE)
            if done:
                break
        self.assertTrue(done and count > 5 and lost <= 4, (count, lost))

    def test_at_each_write_of_the_file(self):
        wanted = FILE.replace("- sag", "- " + DAMP + " sag")
        for name in ("put", "sync", "rename"):
            real = getattr(files, name)
            for count in range(9):
                board = Board(self)
                board.pass_time(3700)
                setattr(files, name, cut_at(real, count))
                try:
                    board.answer("use", "6")
                    done = True
                except sim.PowerCut:
                    done = False
                finally:
                    setattr(files, name, real)
                board.boot()
                self.assertEqual(board.text(), wanted if done else FILE)
                board.step()
                if done:
                    break
                self.assertTrue("is a rule now" in board.answer("use", "6"))
                self.assertEqual(board.text(), wanted)
            self.assertTrue(done and count, name)


class Replay(unittest.TestCase):
    def said(self, board, rule, values, step_s=60, age_s=6 * 86400 + 3600):
        ring = Ring(board.state + "/readings", 32768)
        now = board.clock.now() - age_s
        for value in values:
            ring.keep(now, [("cellar.humidity", value)])
            now += step_s
        board.service.known = known_values.load(board.workspace)
        clauses = prose._parsed(board.service, rule + " x")[0]
        return run(prose._replay(board.service, clauses))

    def test_episodes_of_the_last_week(self):
        day = [60] * 4 + [75] * 15 + [60] * 4
        for values, age_s, said in (
            (day * 2, 6 * 86400 + 3600, "Last week it would have told you twice. "),
            ([60, 75, 60, 75], 6 * 86400 + 3600, "Last week it would have told you never. "),
            (day, 2 * 86400, "In the last 2 d it would have told you once. "),
            ((), 86400, ""),
        ):
            board = Board(self, "\n")
            self.assertEqual(self.said(board, DAMP, values, 60, age_s), said)

    def test_what_cannot_be_told(self):
        board = Board(self, "\n")
        for rule in (
            "(daily 07:30)",
            "(when cellar.humidity changes by 2; notify)",
            "(when cellar.humidity > 70 and room.humidity > 70; notify)",
            "(daily 07:30; when cellar.humidity > 70; notify)",
        ):
            self.assertEqual(self.said(board, rule, [80] * 3), "")


if __name__ == "__main__":
    unittest.main()
