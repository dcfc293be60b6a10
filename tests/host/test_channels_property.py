"""Any text at all: its HTML is never refused, and its parts are the text and fit."""

import os

from hypothesis import given, settings
from hypothesis import strategies as st

from channels_checks import split_problem, to_html, utf16_units, visible
from tenner.channels import split

#: Enough for every run; 20000 were looked at when this was written.
EXAMPLES = int(os.environ.get("TENNER_EXAMPLES", "200"))

MARKS = [
    "**", "*", "__", "_", "~~", "`", "``", "```", "\n```\n", "```py\n", "~~~\n", "[", "](", ")", "https://x.y/a_b",
    "[t](https://x.y)", "![i](https://x.y/i)", "<https://x.y>", "<", ">", "&", "&amp;", "\\", "\n", "\n\n", " ", "\t", "\r\n",  # noqa: E501
    "# ", "- ", "- [x] ", "> ", "| a | b |\n", "|---|---|\n", "---\n", "word", "snake_case", "2*3", "é", "汉字", "😀", "👩‍👩‍👧",  # noqa: E501
    "\u200d", "\ufeff", "\x00", "\x07", '"',
]  # fmt: skip

texts = st.one_of(
    st.text(), st.lists(st.one_of(st.sampled_from(MARKS), st.text(max_size=3))).map("".join)
)
words = st.text(alphabet="abcé汉😀", min_size=1, max_size=6)
whole = st.one_of(
    words.map(lambda word: f"**{word} {word}**"),
    words.map(lambda word: f"`{word} {word}`"),
    words.map(lambda word: f"[{word} x](https://x.y/{word})"),
    words.map(lambda word: f"~~{word} *{word}*~~"),
)


@given(texts)
@settings(max_examples=EXAMPLES, deadline=None)
def test_html_is_never_refused(text):
    html = to_html(text)
    assert split.visible_units(html.encode()) == utf16_units(visible(html))


@given(texts, st.integers(80, 200))
@settings(max_examples=EXAMPLES, deadline=None)
def test_parts_are_the_text_and_each_is_accepted(text, limit):
    parts = list(split.parts(text, limit))
    assert split_problem(text, limit, parts) is None
    for part in parts:
        visible(to_html(part))


@given(texts, st.integers(2, 80))
@settings(max_examples=EXAMPLES, deadline=None)
def test_even_a_tiny_limit_is_kept(text, limit):
    for part in split.parts(text, limit):
        assert utf16_units(part) <= limit
        visible(to_html(part))


@given(st.lists(st.one_of(words, whole), min_size=1, max_size=30), st.integers(40, 80))
@settings(max_examples=EXAMPLES, deadline=None)
def test_no_mark_is_cut(pieces, limit):
    parts = list(split.parts(" ".join(pieces), limit))
    for piece in pieces:
        assert any(piece in part for part in parts), piece
