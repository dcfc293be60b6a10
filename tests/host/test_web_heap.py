"""Reading a page takes the same heap, whatever its size, on the interpreter whose objects are an ESP32's."""

import subprocess

import pytest

from host_tools import build, interpreters

#: Feeds a page of so many bytes, of the same rows again and again, and keeps as much of it as a board does.
SCRIPT = """
import gc, sys
from tenner.net.web_html import Html

ROWS = {
    "rows": b"<tr class='x'><td>%d</td><td>value <b>7</b></td><td><a href='/row/%d'>more&hellip;</a></tr>\\n",
    "open": b"<div><p>entry %d<ul><li>one<li>two <i>of %d<p hidden>no",
    "words": b"word &amp; %d word %d ",
    "tag": b"<p %d title='%d",
}
out = bytearray(3000)
size = 0

def add(piece):
    global size
    size += len(piece)
    out[: len(piece)] = piece

page = Html(add, "", lambda href: 1)
row = ROWS[sys.argv[1]]
sent = number = 0
while sent < int(sys.argv[2]):
    number += 1
    piece = row % (number, number)
    page.feed(piece)
    sent += len(piece)
page.end()
print("done", size)
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """The firmware as a board has it: what the compiler needs would hide what the page needs."""
    try:
        interpreters.find_micropython32()
    except interpreters.InterpreterMissing as exc:
        pytest.skip(str(exc))
    root = tmp_path_factory.mktemp("board")
    build.write_tree(build.firmware_tree("VIRTUAL", workspace=False), root)
    return root / "lib"


def reads(library, kind, size, heap_kb):
    """Does a page of `size` bytes fit into a heap of so many KB?"""
    command = interpreters.find_micropython32().command(
        "-c", SCRIPT, kind, str(size), heap=f"{heap_kb}K"
    )
    done = subprocess.run(
        command,
        env={"MICROPYPATH": interpreters.search_path(library)},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    if done.returncode == 0:
        word, read = done.stdout.split()
        # An attribute that never ends leaves nothing to read.
        assert word == "done" and (int(read) > size // 20 or kind == "tag")
        return True
    assert "MemoryError" in done.stdout + done.stderr, done.stderr
    return False


def smallest_kb(library, kind, size):
    low, high = 8, 128
    while low < high:
        middle = (low + high) // 2
        if reads(library, kind, size, middle):
            high = middle
        else:
            low = middle + 1
    return low


@pytest.mark.parametrize("kind", ["rows", "open", "words", "tag"])
def test_the_heap_that_is_needed_does_not_depend_on_the_page(library, kind):
    # One more is for how the heap happens to lie when it is collected.
    heap_kb = smallest_kb(library, kind, 20_000) + 1
    print(f"{kind}: {heap_kb} KB")
    assert reads(library, kind, 2_000_000 if kind == "rows" else 300_000, heap_kb)
