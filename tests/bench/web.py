"""Words that web_fetch reads of a page, compared with lxml and html2text, and the heap that
reading takes.

The pages come from tests/host/web_pages.py: invented, in the manner of real ones.
"""

from __future__ import annotations

import copy
import difflib
import importlib.util
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from tenner_host import FIRMWARE, ROOT, build, interpreters
from tenner_sim.services import Response, Service
from tenner_sim.services.records import Call
from tests.bench import heap
from tests.bench.rows import NotMeasured

if str(FIRMWARE) not in sys.path:
    sys.path.insert(0, str(FIRMWARE))

#: Elements that no reader shows: removed for all three, so that the comparison covers the rest.
_UNSEEN = (
    "script style template svg select datalist textarea iframe noembed noframes canvas video "
    "audio object"
).split()
_BLOCKS = (
    "address article aside blockquote body br button caption center dd details div dl dt "
    "fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr html li main nav ol p "
    "pre section summary table tbody td tfoot th thead title tr ul"
).split()

#: The floors. html2text keeps captions and hidden text, so its floor is lower.
LEAST = {"lxml": 0.97, "html2text": 0.9}


@dataclass
class Likeness:
    """The share of a page that is read as others read it, and the lengths of the page and its
    text."""

    lxml: float
    html2text: float
    size: int
    kept: int


def ours(pieces: Iterable[bytes]) -> str:
    """The text of a page that comes in these pieces."""
    from tenner.net.web.html import Html

    parts: list[bytes] = []
    page = Html(parts.append)
    for piece in pieces:
        page.feed(piece)
    page.end()
    return b"".join(parts).decode()


def cleaned(data: bytes) -> Any:
    """The page as lxml's tree, without its invisible parts."""
    import lxml.html

    tree = lxml.html.document_fromstring(
        data, parser=lxml.html.HTMLParser(encoding=_encoding(data), huge_tree=True)
    )
    for element in list(tree.iter()):
        style = "".join((element.get("style") or "").lower().split())
        if (
            not isinstance(element.tag, str)
            or element.tag in _UNSEEN
            or element.get("hidden") is not None
            or "display:none" in style
            or "visibility:hidden" in style
        ):
            element.drop_tree()
    return tree


def _encoding(data: bytes) -> str:
    match = re.search(rb"charset=[\"']?([\w-]+)", data)
    name = match.group(1).decode().lower() if match else "utf-8"
    return "cp1252" if name == "iso-8859-1" else name


def by_lxml(tree: Any) -> str:
    tree = copy.deepcopy(tree)
    for element in tree.iter():
        if element.tag == "img":
            element.tail = (element.get("alt") or "") + (element.tail or "")
        if element.tag in _BLOCKS:
            element.text = " " + (element.text or "")
            element.tail = " " + (element.tail or "")
    return str(tree.text_content())


def by_html2text(tree: Any) -> str:
    import html2text
    import lxml.html

    reader = html2text.HTML2Text(bodywidth=0)
    reader.ignore_links = reader.ignore_emphasis = reader.images_to_alt = True
    reader.unicode_snob = True
    return reader.handle(lxml.html.tostring(tree, encoding="unicode"))


def words(text: str) -> list[str]:
    # The others read "10^3" as one word, 103.
    return re.findall(r"\w+", text.replace("^", ""))


def likeness(mine: str, other: str) -> float:
    """1 for the same words in the same order, 0 for none in common."""
    left, right = words(mine), words(other)
    if len(left) + len(right) > 20000:
        common = (Counter(left) & Counter(right)).total()
        return 2 * common / (len(left) + len(right))
    return difflib.SequenceMatcher(None, left, right, autojunk=False).ratio()


def compare(data: bytes) -> Likeness:
    mine = ours([data])
    tree = cleaned(data)
    title = (tree.findtext(".//title") or "").strip()
    # lxml does not count the entries of a list, html2text leaves the title out.
    unnumbered = re.sub(r"^ *\d+\. ", "", mine, flags=re.MULTILINE)
    untitled = mine.replace(title, "", 1) if title else mine
    return Likeness(
        likeness(unnumbered, by_lxml(tree)),
        likeness(untitled, by_html2text(tree)),
        len(data),
        len(mine.encode()),
    )


@cache
def table() -> dict[str, Likeness]:
    """Every page by name, and two of 50 KB."""
    path = ROOT / "tests" / "host" / "web_pages.py"
    spec = importlib.util.spec_from_file_location("web_pages", path)
    if spec is None or spec.loader is None or not path.exists():
        raise NotMeasured(f"the pages are not here: {path.name}")
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    pages = dict(made.PAGES)
    for kind in ("rows", "open"):
        pages["large-" + kind] = b"".join(made.large(kind, 50_000))
    try:
        return {name: compare(data) for name, data in pages.items()}
    except ImportError as exc:
        raise NotMeasured(f"{exc.name} is not installed: make env-test") from exc


def least_lxml() -> float:
    """How much of a page is read as lxml reads it, of the page where that is least."""
    return min(one.lxml for one in table().values())


def least_html2text() -> float:
    return min(one.html2text for one in table().values())


def show(console: Console) -> None:
    """One line for each page."""
    shown = Table(title="words read as others read them", title_justify="left", box=None)
    shown.add_column("page", no_wrap=True)
    for heading in ("lxml", "html2text", "bytes", "of text"):
        shown.add_column(heading, justify="right", no_wrap=True)
    for name, one in table().items():
        figures = (f"{one.lxml:.3f}", f"{one.html2text:.3f}", str(one.size), str(one.kept))
        shown.add_row(name, *figures)
    console.print(shown, markup=False)


# --- heap

#: Feeds a page of so many bytes, of the same rows again and again, and keeps as much of it as a
#: board does.
_SCRIPT = """
import gc, sys
from tenner.net.web.html import Html

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
"""  # noqa: E501
_SMALL, _LARGE = 20_000, 2_000_000


@contextmanager
def library() -> Iterator[Path]:
    """Yield the firmware as on a board: the compiler's memory would hide the page's."""
    with tempfile.TemporaryDirectory() as folder:
        # Single modules: an overlay holds more than the page reader.
        build.write_tree(build.linux_tree(mpy=True), Path(folder))
        yield Path(folder)


def read(library: Path, kind: str, size: int, heap_kb: int) -> None:
    """Read a page of `size` bytes in a heap of so many KB; Died when it does not fit."""
    command = interpreters.find_micropython32().command(
        "-c", _SCRIPT, kind, str(size), heap=f"{heap_kb}K"
    )
    done = subprocess.run(
        command,
        env={"MICROPYPATH": interpreters.search_path(library)},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    if "MemoryError" in done.stdout + done.stderr:
        raise heap.Died(f"a page of {size} bytes in {heap_kb} KB")
    # An unclosed attribute leaves no text to read.
    word, _, kept = done.stdout.partition(" ")
    if word != "done" or (int(kept) <= size // 20 and kind != "tag"):
        raise NotMeasured(f"reading a page failed: {(done.stdout + done.stderr).strip()[-200:]}")


def smallest_kb(library: Path, kind: str, size: int) -> int:
    """The smallest heap in which a page of `size` bytes is read, in KB."""
    return heap.smallest_kb(lambda heap_kb: read(library, kind, size, heap_kb), 1, 8)


def heap_growth_kb() -> float:
    """The heap for a page of 2 MB, less that for one of 20 KB."""
    with library() as folder:
        return smallest_kb(folder, "rows", _LARGE) - smallest_kb(folder, "rows", _SMALL)


class Pages(Service):
    """Answers every request with the same page."""

    def __init__(self, page: bytes) -> None:
        super().__init__()
        self._page = page

    async def respond(self, call: Call) -> Response:
        return Response(200, self._page, [("Content-Type", "text/html; charset=utf-8")])


def turn(heap_kb: int) -> None:
    """Turns in which the whole agent reads a page of 200 KB; Died when one does not fit."""
    row = (
        b"<tr class=x><td>cell</td><td>value <b>7</b></td><td><a href=/row>more&hellip;</a></tr>\n"
    )
    pages = Pages(b"<title>Tide</title><p>High at 06:12<table>" + row * (200_000 // len(row)))
    pages.start()
    try:
        settings: dict[str, object] = {
            "tools": {"web_fetch": "allow"},
            "web": {"allow": [f"localhost:{pages.port}", f"127.0.0.1:{pages.port}"]},
        }
        with heap.agent(heap_kb, settings=settings) as running:
            running.idle()
            for _ in range(2):
                running.ask(f'call web_fetch {{"url":"{pages.url}/"}}', "High at 06:12")
    finally:
        pages.stop()


def turn_min_kb() -> float:
    return heap.smallest_kb(turn)
