"""What web_fetch reads from a page against what lxml and html2text see in it, word by word.

`python tests/host/test_web_similarity.py` prints the table.
"""

import copy
import difflib
import re
import sys
from collections import Counter
from pathlib import Path

if __name__ == "__main__":
    _ROOT = Path(__file__).resolve().parents[2]
    sys.path[:0] = [str(_ROOT), str(_ROOT / "firmware")]

import html2text
import lxml.html
import pytest

from tenner.net.web_html import Html
from tests.host.web_pages import PAGES, large

#: What nobody reads: the same for all three, so that what is compared is the reading of the rest.
UNSEEN = (
    "script style template svg select datalist textarea iframe noembed noframes canvas video audio object"
).split()
BLOCKS = (
    "address article aside blockquote body br button caption center dd details div dl dt fieldset figcaption"
    " figure footer form h1 h2 h3 h4 h5 h6 header hr html li main nav ol p pre section summary table tbody"
    " td tfoot th thead title tr ul"
).split()
#: html2text knows neither: it is compared with less.
LEAST = {"lxml": 0.97, "html2text": 0.9}


def ours(pieces):
    parts = []
    page = Html(parts.append)
    for piece in pieces:
        page.feed(piece)
    page.end()
    return b"".join(parts).decode()


def cleaned(data):
    """Return the page as lxml's tree, without what is not seen."""
    tree = lxml.html.document_fromstring(
        data, parser=lxml.html.HTMLParser(encoding=_encoding(data), huge_tree=True)
    )
    for element in list(tree.iter()):
        style = "".join((element.get("style") or "").lower().split())
        if (
            not isinstance(element.tag, str)
            or element.tag in UNSEEN
            or element.get("hidden") is not None
            or "display:none" in style
            or "visibility:hidden" in style
        ):
            element.drop_tree()
    return tree


def _encoding(data):
    match = re.search(rb"charset=[\"']?([\w-]+)", data)
    name = match.group(1).decode().lower() if match else "utf-8"
    return "cp1252" if name == "iso-8859-1" else name


def by_lxml(tree):
    tree = copy.deepcopy(tree)
    for element in tree.iter():
        if element.tag == "img":
            element.tail = (element.get("alt") or "") + (element.tail or "")
        if element.tag in BLOCKS:
            element.text = " " + (element.text or "")
            element.tail = " " + (element.tail or "")
    return tree.text_content()


def by_html2text(tree):
    reader = html2text.HTML2Text(bodywidth=0)
    reader.ignore_links = reader.ignore_emphasis = reader.images_to_alt = True
    reader.unicode_snob = True
    return reader.handle(lxml.html.tostring(tree, encoding="unicode"))


def words(text):
    # "10^3" is two words less than others see, where they see one: 103.
    return re.findall(r"\w+", text.replace("^", ""))


def likeness(mine, other):
    """1 for the same words in the same order, 0 for none in common."""
    left, right = words(mine), words(other)
    if len(left) + len(right) > 20000:
        common = (Counter(left) & Counter(right)).total()
        return 2 * common / (len(left) + len(right))
    return difflib.SequenceMatcher(None, left, right, autojunk=False).ratio()


def unnumbered(text):
    """Without the numbers of lists, which lxml does not count."""
    return re.sub(r"^ *\d+\. ", "", text, flags=re.MULTILINE)


def row(data):
    mine = ours([data])
    tree = cleaned(data)
    title = tree.findtext(".//title") or ""
    return (
        likeness(unnumbered(mine), by_lxml(tree)),
        # It leaves the title out.
        likeness(mine.replace(title.strip(), "", 1) if title else mine, by_html2text(tree)),
        len(data),
        len(mine.encode()),
    )


def pages():
    made = dict(PAGES)
    for kind in ("rows", "open"):
        made["large-" + kind] = b"".join(large(kind, 200_000))
    return made


def test_there_are_pages_enough():
    assert len(PAGES) >= 40


@pytest.mark.parametrize("name", sorted(PAGES))
def test_words_are_those_that_others_see(name):
    lxml_ratio, html2text_ratio, _, _ = row(PAGES[name])
    assert lxml_ratio >= LEAST["lxml"], ours([PAGES[name]])
    assert html2text_ratio >= LEAST["html2text"], ours([PAGES[name]])


@pytest.mark.parametrize("name", sorted(PAGES))
def test_a_page_reads_the_same_however_it_comes(name):
    data = PAGES[name]
    whole = ours([data])
    sizes = (1, 2, 7, 512) if len(data) < 20000 else (7, 512)
    for size in sizes:
        assert ours(data[at : at + size] for at in range(0, len(data), size)) == whole
    for at in range(1, len(data) if len(data) < 700 else 0):
        assert ours((data[:at], data[at:])) == whole, at


def test_two_megabytes_of_rows():
    data = b"".join(large("rows", 2_000_000))
    text = ours(data[at : at + 512] for at in range(0, len(data), 512))
    lines = text.split("\n")
    assert lines[2] == "1 | value 37 | more…"
    count = len(lines) - 2
    assert lines[-1] == f"{count} | value {count * 37 % 1000} | more…"
    assert likeness(text, by_lxml(cleaned(data))) > 0.999


def main():
    print(f"{'page':22}{'lxml':>8}{'html2text':>11}{'bytes':>10}{'of text':>9}")
    for name, data in pages().items():
        by_tree, by_text, size, kept = row(data)
        print(f"{name:22}{by_tree:8.3f}{by_text:11.3f}{size:10}{kept:9}")


if __name__ == "__main__":
    main()
