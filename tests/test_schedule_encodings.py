# tenner tests: files that an editor of Windows or of an old Mac has saved in its own way.
# MIT license; Copyright (c) 2026 the tenner authors

import unittest

import schedule_sim as sim
from support import temp_folder
from tenner.schedule import heartbeat_parser, known_values
from tenner.store import json_strict

sim.quiet()

HOT = (
    "# Heartbeat\n\n- (every 1m; when room.temperature > 30; notify) Hot\n- (daily 07:30) Report\n"
)
NO_TEXT = "HEARTBEAT.md line %d: from here on it is not UTF-8 text; save the file as UTF-8"
JOBS = (
    '{"jobs": [ // mine\n{"id": "a", "schedule": {"kind": "every", "every_seconds": 600},\n'
    '"payload": {"kind": "message", "message": "Drink."}}]}\n'
)
SENSORS = '{ // the room\n"room": {"driver": "tmp102"}}\n'


def utf16(text, mark=True, big=False):
    codes = [0xFEFF] * mark + [ord(one) for one in text]
    return b"".join(
        bytes((code >> 8, code & 255) if big else (code & 255, code >> 8)) for code in codes
    )


def write(path, data):
    with open(path, "wb") as file:
        file.write(data)


KINDS = [
    utf16(text, mark, big)
    for text in (HOT, HOT.replace("\n", "\r\n"), "\n" + HOT, "\u2022 (daily 07:30) Report")
    for mark in (True, False)
    for big in (False, True)
]


class Heartbeat(unittest.TestCase):
    def board(self, data, **settings):
        board = sim.Board("", case=self, **settings)
        write(board.workspace + "/HEARTBEAT.md", data)
        return board

    def test_utf_16_is_told_once_and_asks_no_model(self):
        for data in KINDS:
            board = self.board(data)
            board.pass_time(4000)
            board.boot()
            board.pass_time(4000)
            self.assertEqual(len(board.notices), 1, (data[:8], board.notices))
            self.assertEqual(board.notices[0][19:], (NO_TEXT % 1)[19:])
            self.assertEqual((board.turns, board.sent), ([], []))

    def test_an_alarm_outlives_it(self):
        board = self.board(HOT.encode())
        board.readings["room"]["temperature"] = 31
        board.pass_time(120)
        self.assertEqual(len(board.sent), 1)
        write(board.workspace + "/HEARTBEAT.md", utf16(HOT))
        board.pass_time(120)
        write(board.workspace + "/HEARTBEAT.md", HOT.encode())
        board.pass_time(120)
        self.assertEqual((board.notices, len(board.sent)), ([NO_TEXT % 1], 1))

    def test_lines_that_another_program_has_added(self):
        # As `>>` of Windows PowerShell adds them.
        board = self.board(HOT.encode() + utf16("- (daily 08:00) More\r\n- Most\r\n", False))
        board.readings["room"]["temperature"] = 31
        board.pass_time(120)
        self.assertEqual(board.notices, [NO_TEXT % 5])
        self.assertEqual(len(board.service.tasks), 2)
        self.assertEqual(len(board.sent), 1)

    def test_ends_of_lines(self):
        folder = temp_folder(self)
        path = folder + "/HEARTBEAT.md"
        text = (
            HOT + "- (every 2h) " + "word " * 250 + "\n\n" + "- (every 3h) One\n" * 90 + "- Last"
        )
        write(path, text.encode())
        wanted = list(heartbeat_parser.read(heartbeat_parser.file_lines(path)))
        self.assertEqual(len(wanted), 2 + 1 + 90 + 1)
        for end in ("\r", "\r\n"):
            write(path, text.replace("\n", end).encode())
            found = list(heartbeat_parser.read(heartbeat_parser.file_lines(path)))
            self.assertEqual(found, wanted)
        # Mixed, with a line end at each place of the buffer.
        for shift in range(460, 520):
            write(path, ("#" + "x" * shift + "\r- A\r\n- B\n- C\r- D\n\r- E").encode())
            found = [one[1:3] for one in heartbeat_parser.read(heartbeat_parser.file_lines(path))]
            found = [one for one in found if one[0] > 1]
            self.assertEqual(found, [(2, "A"), (3, "B"), (4, "C"), (5, "D"), (7, "E")], shift)
        # As long as one with other ends of lines.
        write(path, ("- (every 3h) One, and so on to the end\r" * 820).encode())
        self.assertEqual(len(list(heartbeat_parser.file_lines(path))), 820)


class Others(unittest.TestCase):
    def test_jobs(self):
        for data in [utf16(JOBS, mark, big) for mark in (True, False) for big in (True, False)]:
            board = sim.Board("", case=self, cron=True)
            write(board.workspace + "/CRON.json", data)
            board.pass_time(2000)
            said = "CRON.json cannot be read to its end: it is not UTF-8 text: save it as UTF-8. "
            self.assertEqual(board.notices, [said + "The 0 jobs before that run."])
        for end in ("\r", "\r\n"):
            board = sim.Board("", case=self, cron=True)
            text = JOBS.replace(" // mine", "").replace("\n", end)
            write(board.workspace + "/CRON.json", text.encode())
            board.pass_time(700)
            self.assertEqual((board.notices, len(board.sent)), ([], 1))

    def test_sensors(self):
        kinds = [utf16(SENSORS, mark, big) for mark in (True, False) for big in (True, False)]
        for data in kinds:
            # Nobody reads a sensor; so only the look at the file can tell.
            board = sim.Board("- (daily 07:30) Report\n", case=self)
            write(board.workspace + "/SENSORS.json", data)
            board.pass_time(600)
            board.boot()
            board.pass_time(600)
            self.assertEqual(len(board.notices), 1, board.notices)
            self.assertTrue("SENSORS.json" in board.notices[0])
            self.assertTrue("is not UTF-8 text: save it as UTF-8" in board.notices[0])
            # The alarm says that it cannot be read.
            board = sim.Board(HOT, case=self)
            write(board.workspace + "/SENSORS.json", data)
            board.pass_time(60)
            self.assertEqual(board.notices, [])
        for end in ("\n", "\r", "\r\n"):
            path = temp_folder(self)
            write(path + "/SENSORS.json", SENSORS.replace("\n", end).encode())
            self.assertTrue(known_values.load(path) is not None)

    def test_the_line_of_a_mistake(self):
        for end in ("\n", "\r", "\r\n"):
            try:
                json_strict.loads(end.join(("{", '"a": 1,', '"b" 2}')))
                self.fail("no mistake")
            except ValueError as error:
                self.assertEqual(str(error)[:7], "line 3:")


if __name__ == "__main__":
    unittest.main()
