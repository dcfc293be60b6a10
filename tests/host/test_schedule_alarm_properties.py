# tenner tests: every episode of an alarm is told once, and every end, after any event.
# MIT license; Copyright (c) 2026 the tenner authors
"""
A board lives through random curves, reboots, power cuts, edits, quiet hours, jumps of the clock, a
channel that takes nothing, a busy lane, sensors that fail. `Watch` notes the firmware's episodes
as they begin and end, and from them the test works out the expected messages. It compares those
with the sent ones.
"""

import asyncio
import collections
import json
import os

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import schedule_sim as sim
from tenner.agent.errors import LaneBusy, Preempted
from tenner.schedule import alarms, command

pytestmark = pytest.mark.long

EXAMPLES = int(os.environ.get("TENNER_EXAMPLES", "250"))
LINES = (
    "- (every 1m; when room.temperature > 30 reset 28; notify) Hot!\n",
    "- (every 1m; when room.temperature > 30; notify) Hot!\n",
    "- (every 1m; when room.temperature > 30 for 3m; resolve) Hot, ask.\n",
    "- (every 1m; when room.temperature > 30; notify; urgent) Hot, at once!\n",
    "- (every 1m; when room.temperature > 30; notify; repeat 1h) Hot, again!\n",
    "- (every 1m; when room.temperature > 30) Hot, ask once.\n",
)
OTHER_TEXT = tuple(line.replace("Hot", "Too hot") for line in LINES)
NIGHT = "08:00-22:00"

DISTURBANCES = st.one_of(
    st.none(),
    st.tuples(st.just("reboot"), st.integers(0, 3000)),
    st.tuples(st.just("cut"), st.integers(0, 10)),
    st.tuples(st.just("edit"), st.booleans()),
    st.tuples(st.just("deaf"), st.booleans()),
    st.tuples(st.just("busy"), st.booleans()),
    st.tuples(st.just("jump"), st.sampled_from([-100, -20, 20, 100, 7200])),
    st.tuples(st.just("sensor"), st.booleans()),
    st.tuples(st.just("mute"), st.integers(60, 7200)),
    st.tuples(st.just("trigger"), st.just(True)),
)
# The event, the reading after it, and for how many seconds.
EVENTS = st.lists(
    st.tuples(
        DISTURBANCES,
        st.sampled_from([20, 20, 27.5, 29.9, 30.5, 35, 35]),
        st.one_of(st.integers(30, 900), st.integers(60, 9000)),
    ),
    min_size=3,
    max_size=20,
)


@pytest.fixture(autouse=True, scope="module")
def _silence():
    sim.quiet()


class Board(sim.Board):
    """Notes each episode that began and ended, by its number, and sent messages, by their
    marks."""

    def __init__(self, *args, **more):
        self.begun, self.over, self.promised = set(), set(), set()
        self.reached = collections.Counter()
        self.unsure = set()
        super().__init__(*args, **more)
        self.reply = lambda prompt: sim.Result("Answer.")

    async def deliver_alert(self, text, mark):
        if mark.startswith("di:"):
            held = [json.loads(line)[1] for line in self.flash.holding()]
        else:
            held = [mark]
        answer = await super().deliver_alert(text, mark)
        for one in set(held):
            self.reached[one] += 1
        return answer

    def note(self):
        """Note the saved state: only that outlives a power cut."""
        saved = json.loads(self.flash.saved.get("heartbeat", "{}"))
        for name in saved:
            if name and len(saved[name]) > 3 and isinstance(saved[name][3], list):
                alarm = saved[name][3]
                self.begun.add(alarm[alarms.ID])
                if alarm[alarms.FLAGS] & alarms.OVER:
                    self.over.add(alarm[alarms.ID])
                if alarm[alarms.FLAGS] & alarms.PROMISED:
                    self.promised.add(alarm[alarms.ID])

    def step(self, *forced):
        try:
            return super().step(*forced)
        finally:
            self.note()


class Life:
    def __init__(self, board):
        self.board = board

    def guard(self, act):
        try:
            act()
        except sim.PowerCut:
            # A message in flight may be sent again; the outbox says so.
            for (utc, _), mark in zip(self.board.sent, self.board.marks, strict=True):
                if utc == self.board.clock.utc:
                    self.board.unsure.add(mark.split("-")[0])
            self.board.clock.pass_s(20)
            self.board.boot()
            self.guard(self.board.step)

    def event(self, kind, value):
        board = self.board
        if kind == "reboot":
            board.clock.pass_s(value)
            board.boot()
        elif kind == "cut":
            board.flash.cut_in = value
        elif kind == "edit":
            board.write(board.texts[value])
        elif kind == "deaf":
            board.confirms = OSError(28) if value else True
        elif kind == "busy":
            reply = LaneBusy("telegram:1") if value else (lambda prompt: sim.Result("Answer."))
            board.reply = reply
        elif kind == "jump":
            board.clock.utc += value
        elif kind == "sensor":
            # It does not answer until the next change.
            board.readings["room"] = {} if value else {"temperature": 20}
        elif kind == "mute":
            words = "mute line 1 %ds" % value
            self.guard(lambda: asyncio.run(command.answer(board.service, words)))
        else:
            self.guard(lambda: board.step(True))

    def live(self, events):
        board = self.board
        for disturbance, degrees, seconds in events:
            board.readings["room"] = {"temperature": degrees}
            if disturbance:
                self.event(*disturbance)
            self.guard(lambda seconds=seconds: board.pass_time(seconds))
        board.flash.cut_in = None
        board.confirms = True
        board.reply = lambda prompt: sim.Result("Answer.")
        board.readings["room"] = {"temperature": 20}
        # Over every quiet hour and every mute.
        self.guard(lambda: board.pass_time(11 * 3600, longest_s=3600))


CUT_AFTER_HOLD = [(None, 27.5, 90), (("cut", 3), 30.5, 30), (("jump", 7200), 20, 30)]


@example(line=0, hour=6, window=NIGHT, events=CUT_AFTER_HOLD)
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    line=st.integers(0, len(LINES) - 1),
    hour=st.sampled_from([6, 12, 21]),
    window=st.sampled_from(["", NIGHT]),
    events=EVENTS,
)
def test_every_episode_is_told_once_and_every_end_once(line, hour, window, events):
    board = Board(LINES[line], sim.START + hour * 3600, heartbeat__active_hours=window)
    board.texts = {False: LINES[line], True: OTHER_TEXT[line]}
    Life(board).live(events)
    told = board.reached
    unsure = board.unsure
    is_model = "notify" not in LINES[line]
    cuts = sum(event[0] is not None and event[0][0] == "cut" for event in events)

    # Nothing is told twice, except messages in flight at a power cut.
    twice = [mark for mark in told if told[mark] > 1 and not unsure]
    assert not twice, twice
    begins = {int(mark[3:]) for mark in told if mark.startswith("al:") and "." not in mark}
    ends = {int(mark[3:]) for mark in told if mark.startswith("ae:")}
    repeats = sum(told[mark] for mark in told if mark.startswith("al:") and "." in mark)

    # Every episode that began is told, by the model's answer or as it stands, and nothing else is.
    assert begins == board.begun, (begins, board.begun)
    # Every end is told, where ends are, or where one was promised.
    if not is_model or "resolve" in LINES[line]:
        assert ends == board.begun, (ends, board.begun)
    else:
        assert ends == board.promised, (ends, board.promised)
    if not unsure:
        assert sum(told.values()) <= 2 * len(board.begun) + repeats

    # No model call beyond one an episode, but for those that came to nothing, and one whose end a
    # power cut left unsaid.
    answered = [entry for entry in board.lines() if entry["r"] == "ran" and entry.get("tokens")]
    assert len(answered) <= len(board.begun) + cuts
    if not is_model:
        assert not board.turns
    # Nothing waits for ever.
    assert not board.flash.is_holding()
    assert not any(task.condition.alarm for task in board.service.tasks if task.condition)


def test_a_person_who_writes_does_not_lose_an_alarm():
    board = Board(LINES[5])
    board.readings["room"] = {"temperature": 35}
    board.reply = Preempted(sim.Result())
    board.idle = 3600
    board.pass_time(100)
    board.reply = sim.Result("Answer.")
    board.pass_time(200)
    text = "Answer.\nroom.temperature 35 °C (limit 30)."
    assert [sent for _, sent in board.sent] == [text]
