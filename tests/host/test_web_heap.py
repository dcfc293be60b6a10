"""Reading a page of any size takes the same heap, on the interpreter whose objects are an
ESP32's."""

import pytest

from tests.bench import web


@pytest.fixture(scope="module")
def library(micropython32):
    with web.library() as folder:
        yield folder


@pytest.mark.parametrize("kind", ["rows", "open", "words", "tag"])
def test_the_heap_that_is_needed_does_not_depend_on_the_page(library, kind):
    # One more is for how the heap happens to lie when it is collected.
    heap_kb = web.smallest_kb(library, kind, 20_000) + 1
    web.read(library, kind, 2_000_000 if kind == "rows" else 300_000, heap_kb)


def test_a_turn_with_a_page_stays_small(micropython32):
    # heap.turn.min_kb.web is 116; the goal is 112.
    web.turn(128)
