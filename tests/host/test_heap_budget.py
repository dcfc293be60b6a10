"""Whole turns of the whole agent in a small heap, on the 32-bit interpreter."""

import pytest

from tests.bench import heap, mixed

#: The budget: the heap of a board without PSRAM. `make bench B=heap.` measures how much less is
#: enough.
BUDGET_KB = 132


@pytest.fixture
def agent(micropython32):
    with heap.agent(BUDGET_KB, messages=200) as running:
        running.idle()
        yield running


def test_turns_fit_and_keep_fitting(agent):
    for _ in range(5):
        agent.ask(heap.QUESTION, heap.IN_ANSWER)
    agent.ask("say something long 1000", "")
    agent.ask('call write_file {"path":"notes.md","text":"hello"}', "")
    line = "- if room.temperature is above 30, tell me"
    agent.ask(
        'call append_file {"path":"HEARTBEAT.md","text":"%s"}' % line, "line 2: alarm. Looks at"
    )
    agent.ask("/status", "heap")
    agent.ask("/heartbeat", "heartbeat")
    agent.ask(heap.QUESTION, heap.IN_ANSWER)


def test_too_small_a_heap_is_noticed(micropython32):
    with pytest.raises(heap.Died):
        heap.one_turn(48)


def test_a_mixed_run_is_not_clean_where_memory_is_short(micropython32):
    with pytest.raises(heap.Died, match="memory"):
        mixed.run(80)
