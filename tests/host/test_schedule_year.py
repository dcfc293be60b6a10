# tenner tests: a stretch of the simulated year, and its invariants.
# MIT license; Copyright (c) 2026 the tenner authors

import collections

import pytest

import schedule_sim as sim
import schedule_year
from tenner.schedule.due import after

pytestmark = pytest.mark.long

DAYS = 21


@pytest.fixture(scope="module")
def board():
    sim.quiet()
    board = schedule_year.Greenhouse(DAYS, seed=9)
    board.live(DAYS)
    return board


def test_every_occurrence_has_one_line_unless_there_was_no_power(board):
    assert board.outages and board.boots > 1
    dues = collections.defaultdict(list)
    for line in board.lines():
        dues[line["k"]].append(line["due"])
    for task in board.service.tasks:
        found = dues[task.name()]
        assert len(found) == len(set(found))
        at = sim.START
        while True:
            at = after(task, at, board.zone)
            if at >= board.clock.utc:
                break
            if at not in found:
                # A missed stretch is caught up by one occurrence; lines of unmet conditions are
                # held for a minute.
                assert any(start - 60 <= at < end for start, end in board.outages), at


def test_what_the_year_is_meant_to_show_happens(board):
    reasons = {schedule_year.reason(line) for line in board.lines() if line["r"] != "ran"}
    assert reasons >= {"no condition met", "quiet hours", "daily token budget spent", "offline"}
    assert any(line["r"] == "ran" and line["k"] == "beat" for line in board.lines())
    assert len(board.turns) < sum(line["r"] == "ran" for line in board.lines())


def test_no_message_without_an_alarm_is_sent_twice_within_a_day(board):
    last = {}
    for (utc, text), mark in zip(board.sent, board.marks, strict=True):
        if ":" not in mark:
            assert utc - last.get(text, 0) >= 86400, text
            last[text] = utc
    assert last


def test_every_episode_is_told_once_and_every_end(board):
    """A digest has the messages held in quiet hours."""
    told = board.marks + board.digested
    begins = [mark for mark in told if mark.startswith("al:")]
    ends = [mark for mark in told if mark.startswith("ae:")]
    assert len(set(begins)) == len(begins) and len(set(ends)) == len(ends)
    # The numbers of episodes have no gaps: none is left out, but for the one under way.
    numbers = sorted(int(mark[3:]) for mark in begins)
    open_now = sum(bool(task.condition and task.condition.alarm) for task in board.service.tasks)
    assert numbers[-1] - numbers[0] + 1 - len(numbers) <= open_now
    assert set(ends) <= {"ae" + mark[2:] for mark in begins}
    # The tank runs empty every four days; its ends are told, those of a model's alarms are not.
    assert len(ends) >= 3 and len(numbers) >= 15


def test_a_model_is_asked_once_an_episode(board):
    asked = [prompt for _, prompt, _ in board.turns if "Readings:" in prompt]
    lines = [line for line in board.lines() if line["r"] == "ran" and line.get("al") == 1]
    assert len(asked) <= len(lines) + board.failed_turns


def test_the_report_adds_up(board):
    counts = collections.Counter()
    for line in schedule_year.report(board):
        label, count = line[:17].strip(), int(line[17:24])
        counts[label] += count
    ran = counts["beats that ran"] + counts["tasks that ran"]
    assert counts["occurrences"] == ran + counts["skipped"]


def test_a_year_of_weather_has_40_episodes_and_tells_each_once():
    """60 reboots, summer time and 365 nights change none of the counts."""
    sim.quiet()
    board = schedule_year.Weather(2)
    board.live()
    counted = board.counted()
    assert counted == board.expected()
    assert (counted["begins"], counted["ends"]) == (40, 40)
    # Nothing twice, nothing but these, nothing left.
    assert len(board.told) == len(set(board.told)) == 80
    assert 0 < counted["model calls"] <= 10 and 10 < counted["digests"] < 40
    assert len(board.sent) <= 80
    assert board.notices == [] and not board.flash.is_holding()
    assert board.reboots == 61
