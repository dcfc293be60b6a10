# tenner tests: a board with a fake clock, so that weeks of schedule pass in milliseconds.
# MIT license; Copyright (c) 2026 the tenner authors
"""
`Board` plays the application for the heartbeat or for the jobs: configuration, clock, sensors,
lane, model and Telegram. Nothing sleeps: `pass_time()` moves the clock to the next wake and lets
the service look. A reboot throws the service away and keeps `Flash`, or the files of a folder.
"""

import os

from support import remove_tree, temp_folder
from tenner import log as tenner_log
from tenner.schedule.occurrences import Occurrences
from tenner.schedule.schedule_files import ScheduleFiles
from tenner.schedule.service import CronJobs, Heartbeat
from tenner.schedule.task import Moment
from tenner.store.outbox_item import Item, covers
from tenner.store.posix_tz import Zone

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


def moment(now, trusted=True, mono_s=0):
    """A tenner.schedule.task.Moment."""
    clock = Clock(now, trusted)
    clock.mono = mono_s
    return Moment(clock)


class Flash:
    """
    A schedule.schedule_files.ScheduleFiles in memory; it survives a reboot. Where the watched file
    is written by the firmware, too, it is a real one, and `signature` tells of it.
    """

    def __init__(self, text, signature=None):
        if signature:
            self.signature = signature
        self.text = text
        self.version = 0
        self.saved = {}
        self.log = []
        self.writes = 0
        # Power fails at the n-th write from now on.
        self.cut_in = None
        self.is_full = False

    def edit(self, text):
        self.text = text
        self.version += 1

    def _write(self):
        if self.is_full:
            raise OSError(28)
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

    def load(self, name):
        from tenner.store import json_strict

        if name not in self.saved:
            return None, None
        try:
            return json_strict.loads(self.saved[name]), None
        except ValueError:
            return None, self.quarantine(name)

    def quarantine(self, name):
        self.saved.pop(name)
        return name + ".json.bad"

    def save(self, name, pieces):
        text = "".join(pieces)
        self._write()
        self.saved[name] = text

    def append(self, lines):
        import json

        self._write()
        # As text, or the log of a week would not fit the small heap some tests run in.
        self.log.extend([line if isinstance(line, str) else json.dumps(line) for line in lines])

    def runs(self):
        return [line.encode() for line in self.log]

    def keep_mark(self, line):
        self._write()
        self.saved.setdefault("said", []).append(line)

    def marks(self):
        return [line.encode() for line in self.saved.get("said", ())]

    def numbers(self):
        return [
            int(line[5:].split('"')[0].split(".")[0])
            for line in self.saved.get("said", ())
            if line[:5] == '["al:'
        ]

    def hold(self, line):
        import json

        self._write()
        self.saved.setdefault("held", []).append(json.dumps(line))

    def is_holding(self):
        return bool(self.saved.get("held"))

    def holding(self):
        return [line.encode() for line in self.saved.get("held", ())]

    def release(self):
        self._write()
        self.saved.pop("held", None)

    def tail(self, count):
        import json

        return [json.loads(line) for line in self.log[-count:]]


class Result:
    def __init__(self, text="", error=None, tokens=100, interrupted=None):
        self.text = text
        self.error = error
        self.interrupted = interrupted
        self.estimated = self.outage = False
        self.ms = 1500
        self._tokens = tokens

    def tokens(self):
        return self._tokens


class Board:
    """
    A board, its owner and its world. `settings` are dotted keys of the configuration. With `case`,
    a TestCase, the files are real ones in a folder of its own; with `folder` only the watched file
    is. With `cron` that is CRON.json.
    """

    def __init__(
        self, text, utc=START, trusted=True, tz="UTC0", case=None, folder=None, cron=False, **settings  # noqa: E501
    ):  # fmt: skip
        self.cron = cron
        self.flash = None
        self.workspace, self.state = "workspace", "state"
        if folder or case:
            folder = folder or temp_folder(case)
            self.workspace, self.state = folder + "/workspace", folder + "/state"
            os.mkdir(self.workspace)
            os.mkdir(self.state)
            self.write(text)
        if case is None:
            real = folder and ScheduleFiles(self.state, self.workspace + "/CRON.json")
            self.flash = Flash(text, real and real.signature)
        self.zone = Zone(tz)
        self.settings = {
            "name": "tenner",
            "heartbeat.every": 1800,
            "heartbeat.patience": 120,
            "heartbeat.active_hours": "",
            "heartbeat.mode": "reply",
            "heartbeat.model": "",
            "heartbeat.prose": "ask",
            "sensors.history_kb": 32,
            "heartbeat.ack_max_chars": 0,
            "heartbeat.dedup_h": 24,
            "heartbeat.dedup_numbers": False,
            "units": "metric",
            "place.latitude": None,
            "place.longitude": None,
        }
        for name in settings:
            self.settings[name.replace("__", ".")] = settings[name]
        self.port = self.config = self.agent = self.lane = self
        self.small = self.shares_memory = False
        self.readings = {"room": {"temperature": 21.5}}
        self.lane_holder = None
        self.idle = 3600
        self.net = True
        self.left_tokens = None
        self.per_day = 20000
        # The model's reply: a Result, or an exception to raise, or a function of the prompt.
        self.reply = Result("HEARTBEAT_OK")
        self.turn_s = 0  # duration of a turn
        self.turns = []  # (utc, prompt, model)
        self.sent = []  # (utc, text), and (text, channel, chat) of jobs
        self.marks = []  # of alerts
        self.confirms = True  # False: queued; an exception: neither
        self.waiting = []  # marks of queued messages
        self.notices = []
        self.full = ""
        self.clock = Clock(utc, trusted)
        self.boot()

    def write(self, text):
        """Edit the file that is watched; None deletes it."""
        if self.workspace == "workspace":
            self.flash.edit(text)
            return
        path = self.workspace + "/" + ("CRON.json" if self.cron else "HEARTBEAT.md")
        remove_tree(path)
        if text is not None:
            with open(path, "w") as f:
                f.write(text)

    # --- the application

    def get(self, name):
        """Return a setting, or a part of the application."""
        if name in self.settings:
            return self.settings[name]
        return self.zone if name == "zone" else self

    @property
    def outbox(self):
        return self

    @property
    def items(self):
        """The messages that wait in its outbox."""
        found = []
        for mark in self.waiting:
            found.append(Item())
            found[-1].alert = mark
        return found

    def device_id(self):
        return b"board-1"

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

    def left(self, kind):
        return self.left_tokens

    def notify(self, text):
        self.notices.append(text)

    async def run_turn(self, text, kind, model=None):
        self.turns.append((self.clock.utc, text, model))
        self.clock.pass_s(self.turn_s)
        reply = self.reply
        if not isinstance(reply, (Result, BaseException)):
            reply = reply(text)
        if isinstance(reply, BaseException):
            raise reply
        return reply

    async def _run_turn(self, request):
        if request.choose:
            return await self.ask(request.text, request.model)
        return await self.run_turn(request.text, self.service.area, request.model)

    async def _deliver(self, app, text, alert=False, channel=None, chat=None):
        if alert:
            return await self.deliver_alert(text, alert)
        return await self.deliver_job(text, channel, chat)

    async def deliver_alert(self, text, mark):
        if isinstance(self.confirms, BaseException):
            raise self.confirms
        if any(covers(one, mark) for one in self.waiting):
            return "repeat"
        self.sent.append((self.clock.utc, text))
        self.marks.append(mark)
        if self.confirms:
            return "yes"
        self.waiting.append(mark)
        return "queued"

    async def deliver_job(self, text, channel, chat):
        if isinstance(self.confirms, BaseException):
            raise self.confirms
        self.sent.append((text, channel, chat))
        return "yes"

    # --- time

    def boot(self, trusted=None):
        """Boot the firmware from its flash."""
        if trusted is not None:
            self.clock.trusted = trusted
        self.clock.mono = 0
        self.service = CronJobs(self) if self.cron else Heartbeat(self)
        self.service.files = self.flash
        self.service.run_turn = self._run_turn
        self.service.deliver = self._deliver

    def step(self, *forced):
        """One wake: (action, reason) of the heartbeat."""
        return drive(self.service.step(*forced))

    def pass_time(self, seconds, longest_s=60):
        """Let time pass, waking the service as it would itself."""
        end = self.clock.mono + seconds
        self.step()
        while self.clock.mono < end:
            wake = self.service.next_wake()
            wait = longest_s if wake is None else min(max(wake, 1), longest_s)
            self.clock.pass_s(min(wait, end - self.clock.mono))
            self.step()

    def lines(self):
        """The run log with the lines that are held back."""
        return Occurrences(self.service).log.tail(1000000)

    def results(self):
        return [line["r"] for line in self.lines()]


def quiet():
    """Silence the log while the tests run; return the function that restores it."""
    from tenner.schedule import (
        alarm_texts,
        alarms,
        notices,
        outcome,
        reload,
        saved_state,
        tick,
    )

    for module in (
        alarms,
        notices,
        alarm_texts,
        outcome,
        reload,
        saved_state,
        tick,
    ):
        module.log = _silent
    return tenner_log.log


def _silent(area, text):
    return None
