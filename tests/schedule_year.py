# tenner tests: a year of one board, on a moved clock.
# MIT license; Copyright (c) 2026 the tenner authors
"""
    python tests/schedule_year.py [days]
    python tests/schedule_year.py weather

A greenhouse in Berlin: its temperature goes up and down with the day and the season, its tank runs
empty. The network is away for some hours a week, the power now and then, its owner talks to the
agent, and the model fails sometimes. The code of the schedule is the firmware's; nothing sleeps.

`weather`: a year with 40 spells of bad weather, planned beforehand, so that the messages can be
counted.
"""

import collections
import json
import math
import random
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
for folder in (HERE, HERE.parent / "firmware"):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))

import schedule_sim as sim  # noqa: E402

HEARTBEAT = """# Heartbeat
Look after the greenhouse.

- Compare the soil sensor with yesterday.
- (every 10m; when air.temperature > 32 for 20m reset 28) Too hot: say what to do.
- (every 10m; when air.temperature < 3 reset 6) Frost: warn me.
- (every 5m; when tank.level < 20 reset 60; notify) Tank low: {tank.level}
- (daily 07:30) Tell me the night's minimum.
- (cron 0 18 * * 5) Sum up the week.
- (every 1h; hours 08:00-20:00) Check the inbox.
- [x] Order seeds.
"""
BERLIN = "CET-1CEST,M3.5.0,M10.5.0/3"
TOKENS, TOKENS_PER_DAY = 900, 30000
HOUR, DAY = 3600, 86400
WINDOW = "06:00-23:00"

WEATHER = """# Heartbeat
- (every 30m; when air.temperature > 32 for 1h reset 28; resolve) Too hot: say what to do.
- (every 30m; when wind.speed > 15 reset 10; notify) Storm: {wind.speed}
- (every 30m; when soil.moisture < 20; notify) Dry: {soil.moisture}
- (every 30m; when frost.temperature < 3 reset 6; notify; urgent) Frost: {frost.temperature}
"""
# Spells of each, the sensor's value in calm weather, and in a spell.
SPELLS = {
    "air": (10, "temperature", 18, 35),
    "wind": (12, "speed", 4, 21),
    "soil": (6, "moisture", 45, 12),
    "frost": (12, "temperature", 9, -2),
}
# Local hours at which a spell begins and ends: no look at a sensor comes close to the edges of the
# quiet hours.
_BEGINS = (1, 3, 9, 14, 18)
_LASTS_H = (2, 12, 26, 50)


class Greenhouse(sim.Board):
    """A board and its world. `spells` says from when to when something is the matter."""

    def __init__(self, days, seed=1):
        self.chance = random.Random(seed)
        self.spells = []
        self.tank = 90.0
        self.spent = collections.Counter()
        self.boots = 0
        self.failed_turns = 0
        self.digested = []
        self.is_on = True
        for day in range(days):
            self._plan(day)
        self.outages = [spell[:2] for spell in self.spells if spell[2] == "power"]
        super().__init__(
            HEARTBEAT,
            tz=BERLIN,
            heartbeat__active_hours=WINDOW,
        )
        self.per_day = TOKENS_PER_DAY
        self.reply = self._think

    def _plan(self, day):
        for kind, how_often, shortest_s, longest_s in (
            ("offline", 0.3, 60, 6 * HOUR),
            ("busy", 1.5, 20, 600),
            ("power", 0.05, 10, 2 * DAY),
            ("model", 0.1, 300, 3 * HOUR),
        ):
            while self.chance.random() < how_often:
                start = sim.START + day * DAY + self.chance.randrange(DAY)
                end = start + self.chance.randrange(shortest_s, longest_s)
                self.spells.append((start, end, kind))
                how_often -= 1

    def during(self, kind):
        return any(start <= self.clock.utc < end for start, end, what in self.near if what == kind)

    # --- the surroundings of the heartbeat

    def boot(self, trusted=None):
        self.boots += 1
        return super().boot(trusted)

    async def read(self, name):
        if name == "tank":
            return {"level": self.tank}
        day = (self.clock.utc - sim.START) / DAY
        # Begins in November: cold, and warm in July.
        season = 12 - 12 * math.cos((day + 130) / 365.25 * 2 * math.pi - math.pi / 1.9)
        return {"temperature": round(season + 9 * math.sin((day - 0.35) * 2 * math.pi), 2)}

    def busy(self):
        return "telegram:1" if self.during("busy") else None

    def online(self):
        return "wifi" if self.during("offline") else True

    def _think(self, prompt):
        day = (self.clock.utc + self.zone.offset(self.clock.utc)) // DAY
        self.spent[day] += TOKENS
        self.left_tokens = TOKENS_PER_DAY - self.spent[day]
        if self.during("model"):
            self.failed_turns += 1
            return sim.Result(error="The model does not answer.", tokens=0)
        silence = "Check the inbox" not in prompt or self.chance.random() < 0.9
        for word in ("Too hot", "Frost", "minimum", "Sum up"):
            if word in prompt:
                return sim.Result("%s: the findings of day %d." % (word, day), tokens=TOKENS)
        return sim.Result("HEARTBEAT_OK" if silence else "Mail on day %d." % day, tokens=TOKENS)

    async def deliver_alert(self, text, mark):
        if mark.startswith("di:"):
            self.digested += [json.loads(line)[1] for line in self.flash.holding()]
        return await super().deliver_alert(text, mark)

    # --- time

    def live(self, days):
        """Let the days pass, with their events."""
        end = sim.START + days * DAY
        edges = sorted({edge for start, stop, _ in self.spells for edge in (start, stop)})
        edges = [edge for edge in edges if edge < end] + [end]
        for edge in edges:
            while self.clock.utc < edge:
                self._pass(min(edge - self.clock.utc, HOUR))
        self.step()

    def _pass(self, seconds):
        self.near = [spell for spell in self.spells if spell[0] <= self.clock.utc + HOUR]
        self.spells = [spell for spell in self.spells if spell[1] > self.clock.utc]
        today = (self.clock.utc + self.zone.offset(self.clock.utc)) // DAY
        self.left_tokens = TOKENS_PER_DAY - self.spent[today]
        self.tank -= seconds / 3600
        if self.tank < 5:
            self.tank = 95.0
        if self.during("power"):
            self.is_on = False
            self.clock.pass_s(seconds)
            return
        if not self.is_on:
            self.is_on = True
            self.boot()
        self.pass_time(seconds, longest_s=HOUR)


def report(board):
    """Yield the lines to print: the outcome of every occurrence."""
    lines = board.lines()
    ran = [line for line in lines if line["r"] == "ran"]
    beats = [line for line in ran if line["k"] == "beat"]
    yield "occurrences      %7d" % len(lines)
    yield "beats that ran   %7d" % len(beats)
    yield "tasks that ran   %7d" % (len(ran) - len(beats))
    yield "model calls      %7d" % len(board.turns)
    yield "messages         %7d" % len(board.sent)
    told = board.marks + board.digested
    yield "alarms           %7d" % len({mark for mark in told if mark[:3] == "al:"})
    yield "ends             %7d" % len({mark for mark in told if mark[:3] == "ae:"})
    yield "notices          %7d" % len(board.notices)
    yield "boots            %7d" % board.boots
    reasons = collections.Counter(reason(line) for line in lines if line["r"] != "ran")
    for why, count in sorted(reasons.items(), key=lambda pair: (-pair[1], pair[0])):
        yield "skipped          %7d  %s" % (count, why)


def reason(line):
    """Why an occurrence was not run, without the numbers: `quiet hours`, `offline`, `failed`."""
    if line["r"] == "interrupted":
        return "interrupted"
    why = line["why"].partition(" (")[0].partition(" since ")[0]
    return "failed" if why.startswith(("failed ", "The model ")) else why


class Weather(sim.Board):
    """A board in a year of planned weather. `spells`: (sensor, UTC second of the beginning, of the
    end)."""

    def __init__(self, seed=1):
        self.chance = random.Random(seed)
        self.spells = []
        self.told = []
        self.digests = self.reboots = 0
        super().__init__(WEATHER, tz=BERLIN, heartbeat__active_hours=WINDOW)
        self.reply = sim.Result("Open the roof.", tokens=TOKENS)
        for sensor, (count, _, _, _) in SPELLS.items():
            # One in each stretch of the year, over at its end: the number of episodes is fixed.
            stretch = 360 // count
            for place in range(count):
                day = place * stretch + self.chance.randrange(1, stretch - 4)
                begin = self._local(day, self.chance.choice(_BEGINS))
                self.spells.append((sensor, begin, begin + self.chance.choice(_LASTS_H) * HOUR))
        self.reboot_at = sorted(sim.START + self.chance.randrange(360 * DAY) for _ in range(60))

    def _local(self, day, hour):
        """The UTC second of an hour of the owner's day."""
        at = sim.START + day * DAY + hour * HOUR
        return at - self.zone.offset(at - HOUR)

    def is_quiet(self, utc):
        hour = (utc + self.zone.offset(utc)) % DAY // HOUR
        return not 6 <= hour < 23

    async def read(self, name):
        _, value, calm, bad = SPELLS[name]
        now = self.clock.utc
        is_bad = any(sensor == name and begin <= now < end for sensor, begin, end in self.spells)
        return {value: bad if is_bad else calm}

    async def deliver_alert(self, text, mark):
        if mark.startswith("di:"):
            self.digests += 1
            self.told += [json.loads(line)[1] for line in self.flash.holding()]
        else:
            self.told.append(mark)
        return await super().deliver_alert(text, mark)

    def live(self):
        for at in [*self.reboot_at, sim.START + 365 * DAY]:
            self.pass_time(at - self.clock.utc, longest_s=HOUR)
            self.boot()
            self.reboots += 1

    def counted(self):
        """Return the counts of begins, ends, digests and model calls."""
        return {
            "begins": sum(mark.startswith("al:") for mark in self.told),
            "ends": sum(mark.startswith("ae:") for mark in self.told),
            "digests": self.digests,
            "model calls": len(self.turns),
        }

    def expected(self):
        """Return the same counts by the plan."""
        calls = 0
        nights = set()
        for sensor, begin, end in self.spells:
            if sensor == "frost":
                continue  # urgent: no night holds it
            # The look at which it begins comes by then, of the heat after the hour that `for` asks
            # for.
            begin += 3 * HOUR // 2 if sensor == "air" else HOUR // 2
            quiet = [self._night(at) for at in (begin, end + HOUR // 2) if self.is_quiet(at)]
            if sensor == "air":
                # An alarm that lasts until morning goes to the model then, and is in no digest.
                asked_at = self._morning(begin) if self.is_quiet(begin) else begin
                calls += end > asked_at
                if end > asked_at and self.is_quiet(begin):
                    quiet = quiet[1:]
            nights.update(quiet)
        count = len(self.spells)
        return {"begins": count, "ends": count, "digests": len(nights), "model calls": calls}

    def _night(self, utc):
        """The day in whose morning the quiet hours end."""
        return (utc + self.zone.offset(utc) + HOUR) // DAY

    def _morning(self, utc):
        return self._local(self._night(utc) - sim.START // DAY, 6)


def main(days):
    sim.quiet()
    start = time.monotonic()
    board = Greenhouse(days)
    board.live(days)
    print("%d days" % days)
    for line in report(board):
        print(line)
    print("in %.1f s" % (time.monotonic() - start))


def weather():
    sim.quiet()
    board = Weather()
    board.live()
    expected = board.expected()
    for name, count in board.counted().items():
        print("%-12s %4d, of %d" % (name, count, expected[name]))
    print("messages     %4d" % len(board.sent))


if __name__ == "__main__":
    if sys.argv[1:] == ["weather"]:
        weather()
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 365)
