# tenner test: charts: scales, gaps, the readings behind them, and the files until they are sent.
# MIT license; Copyright (c) 2026 the tenner authors

import os
import unittest

from support import read_bytes, run, temp_folder, write_bytes
from tenner import charts
from tenner.chart import layout, picture, series
from tenner.chart.series import Columns, Extent
from tenner.sensors.ring import Ring
from tenner.store import attachments, files
from tenner.store.outbox import Outbox
from tenner.store.posix_tz import Zone

NOW = 1795000200
HOUR = 3600


class TestAxes(unittest.TestCase):
    def texts(self, low, high):
        return [text for _, text in layout.numbers(low, high, 6)]

    def test_round_numbers(self):
        for low, high, expected in (
            (19.6, 24.3, "20 21 22 23 24"),
            (-0.31, 0.32, "-0.2 0.0 0.2"),
            (0, 100, "0 20 40 60 80 100"),
            (1009.75, 1010.26, "1009.8 1009.9 1010.0 1010.1 1010.2"),
            (-7e6, 9e6, "-5e+06 0 5e+06"),
        ):
            self.assertEqual(" ".join(self.texts(low, high)), expected)

    def test_there_are_always_some_and_never_too_many(self):
        for power in range(-30, 31):
            for span in (1, 1.3, 2.01, 4.99, 5.01, 9.9):
                found = layout.numbers(-0.4 * span * 10.0**power, 0.6 * span * 10.0**power, 6)
                self.assertTrue(3 <= len(found) <= 7, (power, span, found))

    def test_the_noise_of_a_constant_value_fills_no_scale(self):
        def scale(middle, noise):
            async def visit(take):
                for at in range(100):
                    take(NOW - HOUR + 36 * at, middle + noise * (at % 2))

            found = run(layout.make("a", "C", Zone("UTC0"), NOW - HOUR, NOW, visit))
            return " ".join([text for _, text in found.scale])

        for middle, noise, expected in (
            (20, 0.01, "19.6 19.8 20.0 20.2 20.4"),
            (0, 0, "-0.4 -0.2 0.0 0.2 0.4"),
            (1013, 0, "990 1000 1010 1020 1030 1040"),
        ):
            self.assertEqual(scale(middle, noise), expected)

    def times(self, zone, since, until, most=7):
        return [text for _, text in layout.times(Zone(zone), since, until, most)]

    def test_local_times(self):
        berlin = "CET-1CEST,M3.5.0,M10.5.0/3"
        noon = 1794999600  # Wednesday 2026-11-18 11:00 UTC
        for since, until, expected in (
            (noon - 24 * HOUR, noon, "12:00 16:00 20:00 Wed 18 04:00 08:00 12:00"),
            (noon - HOUR, noon, "11:00 11:10 11:20 11:30 11:40 11:50 12:00"),
            (noon - 6 * 24 * HOUR, noon, "Fri 13 Sat 14 Sun 15 Mon 16 Tue 17 Wed 18"),
            (noon - 30 * 24 * HOUR, noon, "26 Oct 2 Nov 9 Nov 16 Nov"),
        ):
            self.assertEqual(" ".join(self.times(berlin, since, until)), expected)

    def test_the_clocks_change_and_midnight_stays_midnight(self):
        for zone, change in (("CET-1CEST,M3.5.0,M10.5.0/3", 1774746000), ("+05:30", NOW)):
            found = layout.times(Zone(zone), change - 36 * HOUR, change + 36 * HOUR, 7)
            self.assertTrue(len(found) >= 5)
            for utc, text in found:
                hour, minute = Zone(zone).local(utc)[3:5]
                self.assertEqual(minute, 0)
                self.assertTrue(text == "%02d:00" % hour or hour == 0, (zone, utc, text))


class TestSeries(unittest.TestCase):
    def extent(self, readings):
        found = Extent()
        for time, value in readings:
            found.take(time, value)
        return found

    def test_the_longest_distance_of_a_line(self):
        steady = [(300 * n, n) for n in range(50)]
        self.assertEqual(self.extent(steady).gap_s(), 750)
        # An outage, or a board that slept, does not count as the usual.
        self.assertEqual(self.extent(steady[:20] + steady[40:]).gap_s(), 750)
        self.assertEqual(self.extent([(1800 * n, 0) for n in range(9)]).gap_s(), 4500)
        self.assertEqual(self.extent([(5, 1)]).gap_s(), 0)
        self.assertEqual(self.extent([(5, 1), (5, 2), (4, 3)]).gap_s(), 0)

    def test_a_spike_of_one_reading_stays(self):
        # 3,000 readings in 100 columns.
        columns = Columns(100, 400, 0, 30000, lambda value: 300 - value, 25, False)
        for n in range(3000):
            columns.take(10 * n, 200 if n == 1234 else 0)
        self.assertEqual(min(columns.top), 95)
        self.assertEqual(sum([top < 200 for top in columns.top]), 2)
        self.assertEqual(set(columns.bottom[:99]), {305})

    def test_a_gap_is_empty(self):
        columns = Columns(100, 400, 0, 1000, lambda value: value, 25, False)
        for time in list(range(0, 300, 10)) + list(range(600, 1000, 10)):
            columns.take(time, 50)
        empty = [at for at in range(98) if not columns.bottom[at]]
        self.assertTrue(25 <= len(empty) <= 30 and empty[-1] - empty[0] < 30, empty)

    def test_on_and_off_are_steps(self):
        columns = Columns(101, 400, 0, 990, lambda value: 350 - 300 * value, 500, True)
        for time, value in ((0, 0), (400, 1), (800, 0)):
            columns.take(time, value)
        between = columns.top[10], columns.bottom[10], columns.top[60], columns.bottom[60]
        self.assertEqual(between, (345, 355, 45, 55))
        self.assertEqual((columns.top[40], columns.bottom[40]), (45, 355))


class TestReadings(unittest.TestCase):
    def test_each_reading_of_a_value_in_its_order(self):
        path = temp_folder(self) + "/readings"
        for number in range(300):
            values = [("room.temperature", number), ("fan.on", number % 2)]
            Ring(path, 4096).keep(NOW + number, values)
        found = []

        def take(time, value):
            found.append((time, value))

        run(Ring(path, 4096).visit("room.temperature", NOW + 100, NOW + 290, take))
        self.assertEqual(found[-1], (NOW + 290, 290))
        self.assertEqual(found, [(NOW + n, n) for n in range(int(found[0][1]), 291)])
        self.assertTrue(len(found) > 100)
        self.assertEqual(Ring(path, 4096).names(), ["fan.on", "room.temperature"])
        del found[:]
        run(Ring(path, 4096).visit("nothing", 0, 2 * NOW, take))
        self.assertEqual(found, [])


class TestEpisodes(unittest.TestCase):
    def test_kept_by_the_name_of_the_value(self):
        folder = temp_folder(self)
        self.assertEqual(series.ended(folder, "a.b"), [])
        for number in range(200):
            series.note(folder, "a.b" if number % 2 else "c.d", number, number + 5)
        found = series.ended(folder, "a.b")
        self.assertEqual(found[-1], (199, 204))
        # The newest half of a file of 4 KB at least.
        self.assertTrue(30 <= len(found) < 101, len(found))
        self.assertTrue(files.size(folder + "/episodes.jsonl") <= 4096)

    def test_a_torn_line_is_skipped(self):
        folder = temp_folder(self)
        write_bytes(folder + "/episodes.jsonl", b'["a.b",1,2]\n["a.b",3\n"a.b"\n["a.b",5,6]\n["a.')
        self.assertEqual(series.ended(folder, "a.b"), [(1, 2), (5, 6)])


class Clock:
    trusted = True

    def now(self):
        return NOW

    def mono_s(self):
        return 0


class Heartbeat:
    tasks = None


class App:
    """The part of the application that charts use."""

    def __init__(self, folder):
        self.state = folder + "/state"
        self.workspace = folder
        os.mkdir(self.state)
        self.clock = Clock()
        self.config = self
        self.mqtt = None
        self.every = 300
        self.outbox = Outbox(self.state, self.clock)

    def get(self, name):
        known = {"zone": Zone(), "heartbeat": Heartbeat, "sensors.history_kb": 32}
        return self.every if name == "sensors.every" else known[name]

    def deliver(self, channel, chat, text):
        self.outbox.add(channel, chat, text)


class TestCharts(unittest.TestCase):
    def setUp(self):
        self.folder = temp_folder(self)
        self.app = App(self.folder)

    def keep(self, *names):
        for number in range(20):
            values = [(name, 20 + number) for name in names]
            Ring(self.app.state + "/readings", 32768).keep(NOW - 300 * (20 - number), values)

    def send(self, value="room.temperature", seconds=7200, channel="telegram", chat="1"):
        return run(charts.send(self.app, value, seconds, channel, chat))

    def waiting(self):
        folder = self.app.state + attachments.FOLDER
        return sorted(os.listdir(folder)) if files.exists(folder) else []

    def test_a_picture_waits_for_the_chat(self):
        self.keep("room.temperature")
        caption = "room.temperature, last 2 h: 20 to 39 \u00b0C"
        self.assertEqual(self.send(), (True, caption))
        self.assertEqual(self.send("room"), (True, caption))
        items = self.app.outbox.items
        self.assertEqual([(one.channel, one.chat) for one in items], [("telegram/file", "1")] * 2)
        kind, path, said = attachments.unpack(self.app.outbox.text_of(items[0], 0))
        self.assertEqual((kind, said), ("photo", caption))
        self.assertEqual(read_bytes(path)[:4], b"\x89PNG")
        self.assertEqual(len(self.waiting()), 2)

    def test_what_is_missing_is_said(self):
        everything = self.send()[1]
        self.assertEqual(
            everything, "No reading has been kept yet: the first comes within sensors.every."
        )
        self.keep("room.temperature", "room.humidity")
        for value, seconds, expected in (
            ("room", 7200, "There are no readings of room, only of: room.humidity, "),
            ("x.y", 7200, "There are no readings of x.y, only of: room.humidity, "),
            ("room.humidity", 60, "No reading of room.humidity was kept in the last 1 min."),
        ):
            sent, sentence = self.send(value, seconds)
            self.assertFalse(sent)
            self.assertTrue(sentence.startswith(expected), sentence)
        self.app.every = 0
        self.assertEqual(self.send("x")[1], "No readings are kept: sensors.every is off.")
        self.app.clock.trusted = False
        self.app.every = 300
        self.assertEqual(self.send()[1], "There is no chart before the clock is set.")
        self.assertEqual(self.waiting(), [])

    def test_a_full_flash_leaves_nothing(self):
        self.keep("room.temperature")

        def full(file, piece):
            raise OSError(28, "no space left")

        before = files.put
        files.put = full
        try:
            sent, sentence = self.send()
        finally:
            files.put = before
        self.assertFalse(sent)
        self.assertTrue(sentence.startswith("The chart of room.temperature could not be written"))
        self.assertEqual(self.waiting(), [])

    def test_pictures_that_cannot_be_sent_are_bounded(self):
        self.keep("room.temperature")
        for _ in range(6):
            self.assertTrue(self.send()[0])
        sent, sentence = self.send()
        self.assertFalse(sent)
        self.assertTrue(sentence.endswith(": 6 files wait to be sent: no more now."), sentence)
        self.assertEqual(len(self.waiting()), 6)

    def test_the_chart_of_an_alarm_has_the_reading_that_raised_it(self):
        self.keep("room.temperature")
        seen = ((NOW - 450, 55), (NOW - 9, 48))
        caption = "room.temperature, last 2 h: 20 to 55 \u00b0C"
        self.assertEqual(
            run(charts.send(self.app, "room.temperature", 7200, "telegram", "1", seen)),
            (True, caption),
        )
        # Also where none was kept lately.
        self.app.charts = (("room.temperature", 60, "telegram", "1", False, seen),)
        self.assertTrue(run(charts.draw_next(self.app)))
        items = [self.app.outbox.text_of(one, 0) for one in self.app.outbox.items]
        self.assertEqual(len(items), 2)
        self.assertTrue("room.temperature, last 1 min: 48 \u00b0C" in items[1], items)

    def test_what_was_seen_stands_in_its_place(self):
        self.keep("room.temperature")
        taken = []
        kept = Ring(self.app.state + "/readings", 32768)
        seen = [(NOW - 9000, 1), (NOW - 450, 55), (NOW - 9, 48)]
        take = lambda time, value: taken.append((time - NOW, value))  # noqa: E731
        run(charts._visit(kept, "room.temperature", (NOW - 900, NOW), take, seen))
        self.assertEqual(taken, [(-900, 37), (-600, 38), (-450, 55), (-300, 39), (-9, 48)])

    def test_those_of_a_turn_are_drawn_one_after_the_other(self):
        self.keep("room.temperature")
        wanted = ("room", 7200, "telegram", "1", True)
        self.app.charts = (wanted, ("room", 60) + wanted[2:], ("x", 60, "telegram", "1", False))
        # Not over yet: overlay.later calls it once more.
        self.assertFalse(run(charts.draw_next(self.app)))
        self.assertFalse(run(charts.draw_next(self.app)))
        self.assertTrue(run(charts.draw_next(self.app)))
        self.assertEqual(self.app.charts, ())
        # The person hears of the second fault, only the log of the third.
        items = [(one.channel, self.app.outbox.text_of(one, 0)) for one in self.app.outbox.items]
        self.assertEqual([channel for channel, _ in items], ["telegram/file", "telegram"])
        self.assertTrue(items[1][1].startswith("No reading of room.temperature was kept"))

    def test_a_lack_of_memory_is_told_after_a_second_try(self):
        self.keep("room.temperature")
        wanted = ("room", 7200, "telegram", "1", True)
        self.app.charts = (wanted,)

        tries = []

        async def full(*_):
            tries.append(1)
            raise MemoryError("full")

        before = picture.draw
        picture.draw = full
        try:
            self.assertTrue(run(charts.draw_next(self.app)))
        finally:
            picture.draw = before
        text = self.app.outbox.text_of(self.app.outbox.items[0], 0)
        self.assertTrue(text.startswith("The chart of room failed ("), text)
        self.assertEqual((len(tries), self.app.charts), (2, ()))
        self.assertEqual(self.waiting(), [])

    def test_files_go_with_their_messages(self):
        self.keep("room.temperature")
        self.send()
        self.send()
        outbox = self.app.outbox
        write_bytes(self.app.state + attachments.FOLDER + "/stray.png", b"x")
        attachments.sweep(outbox)
        self.assertEqual(len(self.waiting()), 2)
        outbox.confirm(outbox.items[0].id)
        attachments.sweep(outbox)
        _, path, _ = attachments.unpack(outbox.text_of(outbox.items[0], 0))
        self.assertEqual(self.waiting(), [path.rpartition("/")[2]])
        # After a reboot, too.
        attachments.sweep(Outbox(self.app.state, self.app.clock))
        self.assertEqual(len(self.waiting()), 1)
        outbox.confirm(outbox.items[0].id)
        attachments.sweep(outbox)
        self.assertFalse(files.exists(self.app.state + attachments.FOLDER))

    def test_without_telegram_it_is_a_file_of_the_workspace(self):
        self.keep("room.temperature")
        answer = run(charts.answer(self.app, "room", 7200, "console", "owner"))
        self.assertTrue(answer.startswith("chart.png in the workspace: room.temperature, last 2"))
        self.assertEqual(read_bytes(self.folder + "/chart.png")[:4], b"\x89PNG")
        self.assertEqual(len(self.app.outbox), 0)
        # On Telegram the picture is the answer.
        self.assertEqual(run(charts.answer(self.app, "room", 7200, "telegram", "1")), "")


if __name__ == "__main__":
    unittest.main()
