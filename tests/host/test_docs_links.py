"""Every link between the project's pages leads to a file that is there, and to a heading of it."""

import re

import pytest

from tenner_host import ROOT

PAGES = sorted(
    [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "boards").rglob("*.md")]
)
_CODE = re.compile(r"^( *```).*?^\1|`[^`\n]*`", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#+ +(.+?) *$", re.MULTILINE)


def anchors(page):
    """The anchors of a page's headings, as GitHub makes them."""
    text = re.sub(
        r"^( *```).*?^\1", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL
    )
    found = set()
    for heading in _HEADING.findall(text):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        found.add(re.sub(r"[^\w\- ]", "", words).replace(" ", "-"))
    return found


def broken(page):
    """Links of a page that lead nowhere."""
    for target in _LINK.findall(_CODE.sub("", page.read_text(encoding="utf-8"))):
        if re.match(r"\w+:", target):
            continue
        path, _, anchor = target.partition("#")
        place = (page.parent / path).resolve() if path else page
        if not place.exists():
            yield target
        elif anchor and place.suffix == ".md" and anchor not in anchors(place):
            yield target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    assert list(broken(page)) == []


def test_a_broken_link_is_seen(tmp_path):
    (tmp_path / "b.md").write_text("# Some `code`, here\n```\n# no heading\n```\n")
    page = tmp_path / "a.md"
    page.write_text(
        "[1](b.md) [2](b.md#some-code-here) [3](c.md) [4](b.md#no-heading) `[5](d.md)` "
        "[6](https://x.y)"
    )
    assert list(broken(page)) == ["c.md", "b.md#no-heading"]


def test_each_page_has_one_place_in_the_navigation():
    nav = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")[2]
    listed = re.findall(r"^ +- .*: ([\w-]+\.md)$", nav, re.MULTILINE)
    pages = [page.name for page in (ROOT / "docs").glob("*.md")]
    assert sorted(listed) == sorted(
        [*pages, "index.md", "changelog.md", "contributing.md", "security-policy.md"]
    )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_lists_are_lists_on_the_site(page):
    """Its Markdown wants an empty line before a list, and four spaces before the code of an
    item."""
    text = page.read_text(encoding="utf-8")
    assert not re.findall(r"^   ```.*", text, re.MULTILINE)
    prose = _CODE.sub("", text)
    assert not re.findall(r"^[A-Z].*\n- .*", prose, re.MULTILINE)
