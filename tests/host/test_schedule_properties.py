# tenner tests: the schedule under random reboots, clock jumps, offline spells and edits.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio
import collections
import json
import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import schedule_sim as sim
from agent_fakes import Call, Reply, make_agent
from support import remove_tree, temp_folder
from tenner.agent.turn import Turn
from tenner.schedule.due import after
from tenner.sensors.units import show
from tenner.store.hours import Hours

pytestmark = pytest.mark.long

TEXTS = (
    "# H\n- Check the door.\n",
    "- (every 10m) Look.\n- Check the door.\n",
    "- (every 90s; when tank.level < 20 reset 25; notify) Tank low: {tank.level}\n",
    "- (daily 07:30) Minimum.\n- (cron */20 8-9 * * *) Often.\n",
    "General.\n- (every 7m; model small) A.\n- (when room.temperature > 30 for 3m) Hot.\n",
    "- (every 5m; hours 10:00-12:00) Morning.\n- (every 5m; hours 10:00-12:00) Morning.\n",
)
EXAMPLES = int(os.environ.get("TENNER_EXAMPLES", "400"))
WINDOW = "07:00-22:00"
NINE = sim.START + 9 * 3600

PASS = st.tuples(st.just("pass"), st.integers(1, 9000))
EVENTS = st.lists(
    st.one_of(
        PASS,
        PASS,
        st.tuples(st.just("pass"), st.integers(30000, 60000)),
        st.tuples(st.just("reboot"), st.integers(0, 20000)),
        st.tuples(st.just("cut"), st.integers(0, 12)),
        st.tuples(st.just("unset"), st.integers(0, 4000)),
        st.tuples(st.just("jump"), st.sampled_from([-7200, -100, -20, 20, 100, 7200, 200000])),
        st.tuples(st.just("net"), st.booleans()),
        st.tuples(st.just("busy"), st.booleans()),
        st.tuples(st.just("edit"), st.sampled_from(TEXTS + (None,))),
        st.tuples(st.just("model"), st.sampled_from(["ok", "alert", "fail", "person"])),
        st.tuples(st.just("level"), st.sampled_from([10, 22, 30, None])),
        st.tuples(st.just("heat"), st.sampled_from([20, 31])),
        st.tuples(st.just("trigger"), st.booleans()),
    ),
    max_size=25,
)


@pytest.fixture(autouse=True, scope="module")
def _silence():
    sim.quiet()


def replies(kind):
    from tenner.agent.errors import Preempted

    return {
        "ok": sim.Result("HEARTBEAT_OK"),
        "alert": sim.Result("The door is open."),
        "fail": sim.Result(error="The model does not answer."),
        "person": Preempted(sim.Result(tokens=7)),
    }[kind]


class Board(sim.Board):
    """Remembers the tasks seen waiting for another try."""

    def __init__(self, *args, **settings):
        self.waited = set()
        super().__init__(*args, **settings)

    def step(self, *forced):
        answer = super().step(*forced)
        if self.clock.trusted:
            self.waited.update(self.waiting_now())
        return answer

    def waiting_now(self):
        tasks = self.service.tasks or ()
        waiting = {(task.name(), task.pending.due) for task in tasks if task.pending}
        # A job behind a mistake in the file goes on when the owner repairs that.
        saved = self.service.saved.items()
        return waiting | {(name, task.pending.due) for name, task in saved if task.pending}

    def without_a_line(self, forced):
        """Return waits that ended without a line, or with several though nobody asked twice in a
        second."""
        ended = collections.Counter()
        cut_short = set()
        for line in self.lines():
            key = self.name_in(line), line["due"]
            if line["r"] == "interrupted":
                cut_short.add(key)
            else:
                ended[key] += 1
        over = self.waited - self.waiting_now()
        again = {NINE, *forced}
        return [
            key
            for key in over
            if (ended[key] > 1 and key[1] not in again) or not (ended[key] or key in cut_short)
        ]

    def tells(self, utc):
        """Return whether the board told an alarm in the second after a turn, or was to."""
        told = any(line["t"] == utc + 1 and "al" in line for line in self.lines())
        return told or any(due == utc for _, due in self.waited)

    def name_in(self, line):
        return line["job" if self.cron else "k"]


class Watcher:
    """Keeps the promises in view while a board lives through its events."""

    def __init__(self, board):
        self.board = board
        self.forced = []
        # Turns that came to nothing, and wait.
        self.lost = []
        # The reason why a slot may be seen twice.
        self.turned_back = False

    def answer(self, reply, kind):
        if kind in ("fail", "person"):
            self.lost.append(self.board.turns[-1][0])
        return reply

    def guard(self, act):
        try:
            act()
        except sim.PowerCut:
            # A message in flight may have arrived or not.
            while self.board.sent and self.board.sent[-1][0] == self.board.clock.utc:
                self.board.sent.pop()
                if self.board.marks:
                    self.board.marks.pop()
            # The run under way is gone with the memory.
            self.board.clock.pass_s(30)
            self.board.boot()
            self.guard(self.board.step)

    def event(self, kind, value):
        board = self.board
        if kind == "pass":
            self.guard(lambda: board.pass_time(value))
        elif kind == "reboot":
            board.clock.pass_s(value)
            board.boot()
        elif kind == "cut":
            board.flash.cut_in = value
        elif kind == "unset":
            # A chip without a battery starts in another year and is set later.
            utc = board.clock.utc
            board.clock.utc = 946684800
            board.boot(trusted=False)
            self.guard(lambda: board.pass_time(value))
            board.clock.utc = utc + value
            board.clock.trusted = True
        elif kind == "jump":
            board.clock.utc += value
            self.turned_back = self.turned_back or value < -60
        elif kind == "net":
            board.net = True if value else "wifi"
        elif kind == "busy":
            board.lane_holder = "telegram:1" if value else None
        elif kind == "edit":
            board.write(value)
        elif kind == "model":
            reply = replies(value)
            board.reply = lambda prompt: self.answer(reply, value)
        elif kind == "level":
            board.readings["tank"] = {"level": value}
            if value is None:
                del board.readings["tank"]
        elif kind == "heat":
            board.readings["room"]["temperature"] = value
        else:
            self.forced.append(board.clock.utc)
            self.guard(lambda: board.step(True))

    def live(self, events):
        """Let all of it happen, then a quiet time; every occurrence must have its line."""
        board = self.board
        for kind, value in events:
            self.event(kind, value)
        board.flash.cut_in = None
        board.net, board.lane_holder = True, None
        board.reply = sim.Result("HEARTBEAT_OK")
        self.guard(lambda: board.pass_time(7300))
        if self.turned_back:
            return

        # No occurrence has two lines.
        seen = collections.Counter()
        for line in board.lines():
            # A one-shot job is taken out a day later; edited in again it is a new one.
            known = "up" not in line and line["t"] not in self.forced and line["due"] != NINE
            if known and line["r"] != "interrupted":
                seen[board.name_in(line), line["due"]] += 1
        assert not [key for key in seen if seen[key] > 1]

        # Each wait for the lane, the network or another try has its line, also over power cuts.
        assert not board.without_a_line(self.forced)

        # Every turn that was begun and did not fail has its line, also when the power was cut. A
        # person who asked for it asks again.
        logged = {line["t"] for line in board.lines() if line["r"] != "skipped"}
        for utc, prompt, _model in board.turns:
            known = utc in logged or utc in self.lost or utc in self.forced
            # The board tells an alarm of which the model says nothing, in the next second.
            assert known or "not known" in prompt or board.tells(utc), utc


def is_quiet(board, utc):
    local = board.zone.local(utc)
    return not Hours(WINDOW).active(local[3] * 60 + local[4])


@settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
@given(text=st.sampled_from(TEXTS), hour=st.sampled_from([0, 8, 20]), events=EVENTS)
def test_promises_hold_whatever_happens(text, hour, events):
    board = Board(text, sim.START + hour * 3600, heartbeat__active_hours=WINDOW)
    watcher = Watcher(board)
    watcher.live(events)

    # Nothing runs in quiet hours, unless a person asked for it: then, or at `due` where that had
    # to wait.
    for line in board.lines():
        told = line["r"] == "ran" and line["sent"] != "held" and "up" not in line
        if told and not {line["t"], line["due"]} & set(watcher.forced):
            assert not is_quiet(board, line["t"]), line

    # No confirmed alert is repeated within its window.
    last = {}
    for (utc, said), mark in zip(board.sent, board.marks, strict=True):
        if mark in last and utc > 1000000000:
            within = ":" in mark or utc - last[mark] < 86400
            assert not within or watcher.turned_back, (said, utc, last)
        last[mark] = utc

    # Tasks due at the end are settled: nothing waits forever.
    for task in board.service.tasks or ():
        assert (
            task.pending is None or board.service.preemptions or is_quiet(board, board.clock.utc)
        )


def jobs(*entries):
    """A CRON.json of (name, schedule, kind of payload, missed)."""
    found = []
    for name, schedule, kind, missed in entries:
        payload = {"kind": kind, "message": "Do it."}
        found.append({"id": name, "schedule": schedule, "payload": payload, "missed": missed})
    return json.dumps({"jobs": found})


EVERY = {"kind": "every", "every_seconds": 600}
ANCHORED = {"kind": "every", "every_seconds": 420, "anchor": "2020-01-01T00:01:00Z"}
DAILY = {"kind": "cron", "expr": "30 7 * * *"}
OFTEN = {"kind": "cron", "expr": "*/20 8-9 * * *", "tz": "CET-1CEST,M3.5.0,M10.5.0/3"}
ONCE = {"kind": "at", "at": NINE}
JOBS = (
    jobs(("a", EVERY, "agent_turn", "once"), ("b", EVERY, "message", "once")),
    jobs(("c", ANCHORED, "agent_turn", "skip"), ("d", DAILY, "agent_turn", "once")),
    jobs(("e", OFTEN, "agent_turn", "once"), ("f", ONCE, "agent_turn", "once")),
    jobs(("g", ONCE, "message", "skip"), ("a", EVERY, "agent_turn", "once")),
    jobs(("h", EVERY, "agent_turn", "skip"), ("i", DAILY, "message", "skip")),
)
JOB_EVENTS = st.lists(
    st.one_of(
        PASS,
        PASS,
        st.tuples(st.just("reboot"), st.integers(0, 20000)),
        st.tuples(st.just("cut"), st.integers(0, 9)),
        st.tuples(st.just("unset"), st.integers(0, 4000)),
        st.tuples(st.just("jump"), st.sampled_from([20, 100, 7200, 200000])),
        st.tuples(st.just("net"), st.booleans()),
        st.tuples(st.just("busy"), st.booleans()),
        st.tuples(st.just("edit"), st.sampled_from(JOBS + (JOBS[0][:-40], None))),
        st.tuples(st.just("model"), st.sampled_from(["ok", "fail", "person"])),
    ),
    max_size=20,
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(text=st.sampled_from(JOBS), hour=st.sampled_from([0, 7, 8]), events=JOB_EVENTS)
def test_promises_hold_for_jobs_too(text, hour, events):
    folder = temp_folder()
    try:
        board = Board(text, sim.START + hour * 3600, folder=folder, cron=True)
        board.turn_s = 2
        Watcher(board).live(events)
    finally:
        remove_tree(folder)


@settings(max_examples=60, deadline=None)
@given(
    text=st.sampled_from(TEXTS[:5]),
    spells=st.lists(
        st.tuples(st.integers(1, 5000), st.sampled_from(["net", "busy", "level", "model"])),
        max_size=12,
    ),
)
def test_every_occurrence_has_exactly_one_line(text, spells):
    """Without reboots: the run log is the list of all slots and times of day, gapless."""
    board = sim.Board(text, utc=sim.START + 8 * 3600)
    start = board.clock.utc
    flags = collections.Counter()
    for seconds, kind in spells:
        flags[kind] += 1
        on = flags[kind] % 2
        if kind == "net":
            board.net = "wifi" if on else True
        elif kind == "busy":
            board.lane_holder = "telegram:1" if on else None
        elif kind == "model":
            board.reply = replies("fail" if on else "ok")
        else:
            board.readings["tank"] = {"level": 10 if on else 40}
        board.pass_time(seconds)
    board.net, board.lane_holder, board.reply = True, None, replies("ok")
    board.pass_time(7200)
    now = board.clock.utc
    for task in board.service.tasks:
        expected = []
        due = start
        while True:
            due = after(task, due, board.zone)
            if due > now:
                break
            expected.append(due)
        name = task.name()
        found = [line["due"] for line in board.lines() if line["k"] == name]
        assert found == expected, show(len(found))


def test_a_month_makes_no_model_call_when_no_condition_is_met():
    board = sim.Board("- (every 5m; when room.temperature > 30) Hot.\n- [x] Done.\n")
    board.pass_time(30 * 86400, longest_s=600)
    assert board.turns == [] and len(board.lines()) == 30 * 288


def test_a_month_of_beats():
    board = sim.Board("- Check.\n")
    board.pass_time(30 * 86400, longest_s=3600)
    assert len(board.turns) == 30 * 48


class Talker:
    """A model that takes `thinks` ticks for a reply, and calls a tool of `works` ticks in each
    round."""

    servers = ()

    def __init__(self, rounds, thinks, works, events):
        self.rounds = rounds
        self.thinks = thinks
        self.works = works
        self.events = events

    async def complete(self, request, model=None, timeout_ms=None):
        who = "person" if b"good morning" in b"".join(request.records()) else "beat"
        self.events.append(who + " asks")
        if who == "person":
            return Reply("hello")
        for _ in range(self.thinks):
            await asyncio.sleep(0)
        self.rounds -= 1
        return (
            Reply("", [Call("c%d" % self.rounds, "echo", "{}")]) if self.rounds >= 0 else Reply()
        )

    async def call(self, name, arguments_text, ctx):
        self.events.append("tool begins")
        for _ in range(self.works):
            await asyncio.sleep(0)
        self.events.append("tool ends")
        return "done"

    def schemas(self, kind):
        return ()

    async def close(self):
        pass


@settings(max_examples=200, deadline=None)
@given(
    rounds=st.integers(0, 3),
    thinks=st.integers(0, 6),
    works=st.integers(0, 6),
    comes=st.integers(0, 40),
)
def test_a_person_is_served_at_once(rounds, thinks, works, comes):
    """Whenever a person writes, no model request of a beat and no tool begins before the
    answer."""
    events = []

    async def main():
        agent = make_agent("nowhere", turn__max_rounds=9)
        talker = Talker(rounds, thinks, works, events)
        agent.get = {
            "chain": talker,
            "registry": talker,
            "budget": agent.budget,
            "sensors": None,
        }.get
        board = sim.Board("- Check.\n")
        board.pass_time(60)
        board.clock.pass_s(1800)

        async def run_turn(text, kind, model=None):
            return await agent.lane.background(kind, Turn(agent, kind, text))

        board.run_turn = run_turn
        beat = asyncio.create_task(board.service.step())
        for _ in range(comes):
            await asyncio.sleep(0)
        events.append("person comes")
        turn = Turn(agent, "person", "good morning", "telegram", "7")
        result = await agent.lane.person("telegram:7", turn)
        events.append("person answered")
        assert result.text == "hello"
        await beat
        # A preempted task runs in the same slot, and has one line.
        board.clock.pass_s(30)
        await board.service.step()
        assert [line["r"] for line in board.lines()] == ["ran"]

    asyncio.run(main())
    meanwhile = events[events.index("person comes") + 1 : events.index("person answered")]
    assert meanwhile in (["person asks"], ["tool ends", "person asks"]), events
