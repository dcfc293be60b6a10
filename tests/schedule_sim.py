# tenner tests: a board with a fake clock, so that weeks of schedule pass in milliseconds.
# MIT license; Copyright (c) 2026 the tenner authors
"""
`Board` plays everything the heartbeat is given: port, configuration, clock, sensors, lane, model
and Telegram. Nothing sleeps: `pass_time()` moves the clock to the next wake and lets the
heartbeat look. A reboot throws the heartbeat away and keeps what is in `Flash`.
"""

from tenner import log as tenner_log
from tenner.schedule.book import Book
from tenner.schedule.heartbeat import Heartbeat
from tenner.schedule.zone import Zone

# 2026-11-21 00:00:00 UTC, a Saturday.
START = 1795219200


def drive(coro):
    """Run a coroutine that never really waits; return its value."""
    try:
        coro.send(None)
    except StopIteration as stop:
        return stop.value
    raise AssertionError("the coroutine waits for something")


class PowerCut(BaseException):
    """Raised by a fake at the moment the power fails."""


class Clock:
    def __init__(self, utc, trusted):
        self.utc = utc
        self.mono = 0
        self.trusted = trusted

    def now(self):
        return self.utc

    def mono_ms(self):
        return self.mono * 1000

    def mono_s(self):
        return self.mono

    def pass_s(self, seconds):
        self.utc += seconds
        self.mono += seconds


class Flash:
    """The part of schedule.book.Stores that survives a reboot."""

    def __init__(self, text):
        self.text = text
        self.version = 0
        self.state = {}
        self.saved = {}
        self.log = []
        self.writes = 0
        # Power fails at the n-th write from now on.
        self.cut_in = None

    def edit(self, text):
        self.text = text
        self.version += 1

    def _write(self):
        self.writes += 1
        if self.cut_in is not None:
            self.cut_in -= 1
            if self.cut_in < 0:
                self.cut_in = None
                raise PowerCut

    def signature(self):
        return None if self.text is None else (len(self.text), self.version, 0)

    def lines(self):
        return enumerate(self.text.split("\n"), 1)

    def load_state(self):
        import json

        return json.loads(json.dumps(self.state))

    def save_state(self, state):
        import json

        self._write()
        text = json.dumps(state)
        if len(text.replace(" ", "")) > 100:
            raise AssertionError("does not fit a slot: " + text)
        self.state = json.loads(text)

    def load(self, name):
        from tenner.store import jsontext

        if name not in self.saved:
            return None, None
        try:
            return jsontext.loads(self.saved[name]), None
        except ValueError:
            return None, name + ".json.bad"

    def save(self, name, pieces):
        text = "".join(pieces)
        self._write()
        self.saved[name] = text

    def append(self, lines):
        import json

        self._write()
        # As text, or the log of a week would not fit the small heap some tests run in.
        self.log.extend([json.dumps(line) for line in lines])

    def tail(self, count):
        import json

        return [json.loads(line) for line in self.log[-count:]]


class Result:
    def __init__(self, text="", error=None, tokens=100, interrupted=None):
        self.text = text
        self.error = error
        self.interrupted = interrupted
        self.estimated = False
        self.ms = 1500
        self._tokens = tokens

    def tokens(self):
        return self._tokens


class Board:
    """A board, its owner and its world. `settings` are dotted keys of the configuration."""

    def __init__(self, text, utc=START, trusted=True, tz="UTC0", flash=None, **settings):
        self.flash = flash or Flash(text)
        self.zone = Zone(tz)
        self.settings = {
            "heartbeat.every": 1800,
            "heartbeat.active_hours": "",
            "heartbeat.mode": "reply",
            "heartbeat.model": "",
            "heartbeat.ack_max_chars": 0,
            "heartbeat.dedup_h": 24,
            "heartbeat.dedup_numbers": False,
            "budget.tokens_per_day": 0,
        }
        for name in settings:
            self.settings[name.replace("__", ".")] = settings[name]
        self.readings = {"room": {"temperature": 21.5}}
        self.units = {"temperature": "°C", "level": "%"}
        self.lane_holder = None
        self.idle = 3600
        self.net = True
        self.left = None
        # What the model says: a Result, or an exception to raise, or a function of the prompt.
        self.reply = Result("HEARTBEAT_OK")
        self.turns = []  # (utc, prompt, model)
        self.sent = []  # (utc, text)
        self.confirms = True  # False: queued; an exception: neither
        self.waiting = []  # marks of what is queued
        self.notices = []
        self.clock = Clock(utc, trusted)
        self.budget = _Budget(self)
        self.boot()

    # --- what the heartbeat is given

    def path(self, name):
        return name

    def device_id(self):
        return b"board-1"

    def get(self, key):
        return self.settings[key]

    def unit(self, name):
        return self.units.get(name, "")

    async def read(self, name):
        found = self.readings.get(name)
        if found is None:
            raise ValueError("no answer from %s" % name)
        return dict(found)

    def busy(self):
        return self.lane_holder

    def idle_s(self):
        return self.idle

    def online(self):
        return self.net

    def part(self, name):
        return {"zone": self.zone, "sensors": self, "budget": self.budget}[name]

    async def run_turn(self, pieces, kind="heartbeat", model=None):
        prompt = "".join(pieces())
        if prompt != "".join(pieces()):
            raise AssertionError("the prompt changes between two passes")
        self.turns.append((self.clock.utc, prompt, model))
        reply = self.reply
        if not isinstance(reply, (Result, BaseException)):
            reply = reply(prompt)
        if isinstance(reply, BaseException):
            raise reply
        return reply

    async def deliver(self, text, mark):
        if isinstance(self.confirms, BaseException):
            raise self.confirms
        if mark in self.waiting:
            return "repeat"
        self.sent.append((self.clock.utc, text))
        if self.confirms:
            return "yes"
        self.waiting.append(mark)
        return "queued"

    # --- time

    def boot(self, trusted=None):
        """Start the firmware anew with what is on flash."""
        if trusted is not None:
            self.clock.trusted = trusted
        self.clock.mono = 0
        self.heartbeat = Heartbeat(
            self,
            self,
            self.clock,
            self.part,
            self,
            self.run_turn,
            self.deliver,
            self.notices.append,
            self.online,
            stores=self.flash,
        )
        return self.heartbeat

    def step(self, forced=False):
        return drive(self.heartbeat.beat(forced))

    def pass_time(self, seconds, longest_s=60):
        """Let time pass, waking the heartbeat as its service would."""
        end = self.clock.mono + seconds
        self.step()
        while self.clock.mono < end:
            wake = self.heartbeat.next_wake()
            wait = longest_s if wake is None else min(max(wake, 1), longest_s)
            self.clock.pass_s(min(wait, end - self.clock.mono))
            self.step()

    def lines(self):
        """The run log with the lines that are held back."""
        return Book(self.heartbeat).tail(1000000)


class _Budget:
    def __init__(self, board):
        self._board = board

    def left(self, kind):
        return self._board.left


def quiet():
    """No log lines while the tests run; returns what puts them back."""
    from tenner.schedule import book, gates, ledger, outcome, watch

    modules = (book, gates, ledger, outcome, watch)
    for module in modules:
        module.log = _silent
    return tenner_log.log


def _silent(area, text):
    return None
