"""The text of a page by web_fetch against that by lxml and html2text, word by word
(`make bench B=web.`)."""

import io
import re

import pytest
from rich.console import Console

from tenner_host import ROOT
from tests.bench import web
from tests.host.web_pages import PAGES, large


def test_words_are_those_that_others_see():
    found = web.table()
    assert set(PAGES) < set(found) and len(PAGES) >= 40
    for name, one in found.items():
        assert one.lxml >= web.LEAST["lxml"], name
        assert one.html2text >= web.LEAST["html2text"], name
    told = re.search(
        r"On (\d+) test pages,[^%]* at\s+least (\d+) %[^%]* (\d+) % of those that html2text",
        (ROOT / "docs" / "tools.md").read_text(),
    )
    figures = [len(found), int(100 * web.least_lxml()), int(100 * web.least_html2text())]
    assert told is not None and [int(one) for one in told.groups()] == figures
    output = io.StringIO()
    web.show(Console(file=output, width=120))
    assert all(name in output.getvalue() for name in found)


def test_words_that_are_missing_count():
    assert web.likeness("one two three four", "one two three four") == 1
    assert web.likeness("one two", "one two three four") < web.LEAST["html2text"]
    assert web.likeness("a " * 15000, "a " * 10000) < web.LEAST["html2text"]


@pytest.mark.parametrize("name", sorted(PAGES))
def test_a_page_reads_the_same_however_it_comes(name):
    data = PAGES[name]
    whole = web.ours([data])
    sizes = (1, 2, 7, 512) if len(data) < 20000 else (7, 512)
    for size in sizes:
        assert web.ours(data[at : at + size] for at in range(0, len(data), size)) == whole
    for at in range(1, len(data) if len(data) < 700 else 0):
        assert web.ours((data[:at], data[at:])) == whole, at


def test_two_megabytes_of_rows():
    data = b"".join(large("rows", 2_000_000))
    text = web.ours(data[at : at + 512] for at in range(0, len(data), 512))
    lines = text.split("\n")
    assert lines[2] == "1 | value 37 | more…"
    count = len(lines) - 2
    assert lines[-1] == f"{count} | value {count * 37 % 1000} | more…"
    assert web.likeness(text, web.by_lxml(web.cleaned(data))) > 0.999
