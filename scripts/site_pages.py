"""A hook of MkDocs: the README is the first page, and links to files beside the docs lead to the repository.

`make docs` builds the site. Without `repo_url` in mkdocs.yml such a link is the file's name only.
"""

from __future__ import annotations

import re
from typing import Any

from mkdocs.structure.files import File, Files

from tenner_host import ROOT

_LINK = re.compile(r"\[([^\]]*)\]\(([^)\s]+)\)")
#: Pages at the root of the repository, besides the README, and their names on the site. docs/ has a security.md already.
PAGES = {
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security-policy.md",
}
_OUTSIDE = ("http://", "https://", "mailto:", "#")


def on_files(files: Files, config: Any) -> Files:
    """Add the README as the first page, and the other pages at the root of the repository."""
    files.append(File.generated(config, "index.md", content=_page("README.md", config)))
    for name, shown in PAGES.items():
        files.append(File.generated(config, shown, content=_page(name, config)))
    return files


def on_page_markdown(markdown: str, config: Any, **_: Any) -> str:
    """Turn links out of docs/ into links to the repository."""
    return _LINK.sub(lambda found: _link(found[1], found[2], config), markdown)


def _page(name: str, config: Any) -> str:
    """A page of the root, with its links as seen from docs/."""

    def moved(found: re.Match[str]) -> str:
        text, target = found[1], found[2]
        if target.startswith(_OUTSIDE):
            return found[0]
        path, mark, anchor = target.partition("#")
        if path.startswith("docs/"):
            return f"[{text}]({path.removeprefix('docs/')}{mark}{anchor})"
        if path in PAGES:
            return f"[{text}]({PAGES[path]}{mark}{anchor})"
        return _link(text, f"../{target}", config)

    return _LINK.sub(moved, (ROOT / name).read_text(encoding="utf-8"))


def _link(text: str, target: str, config: Any) -> str:
    if not target.startswith("../"):
        return f"[{text}]({target})"
    place = target.removeprefix("../")
    if place == "README.md":
        return f"[{text}](index.md)"
    if place in PAGES:
        return f"[{text}]({PAGES[place]})"
    if config.repo_url:
        return f"[{text}]({config.repo_url.rstrip('/')}/blob/main/{place})"
    return text if text.strip("`") == place.rpartition("/")[2] else f"{text} (`{place}`)"
