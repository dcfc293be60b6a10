"""A short soak in every run: people, alerts, and faults of every kind. `make soak` is the long
one."""

from tests.host.soak import soak


def test_nothing_is_lost_and_nothing_is_repeated(micropython32):
    report = soak(messages=30, alerts=6, seed=3)
    assert report.problems == [], report.log[-3000:]
    assert sum(report.answers.values()) == 30 - report.given_up
    assert report.flash_bytes > 0
