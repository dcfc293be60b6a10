"""A hook of MkDocs: pages outside of docs/ are on the site too, and links lead to pages as they
are there.

`make docs` builds the site. A link to any other file leads to the repository; without `repo_url`
in mkdocs.yml it is the file's name only.
"""

from __future__ import annotations

import posixpath
import re
from typing import Any

from mkdocs.structure.files import File, Files

from tenner_host import ROOT

_LINK = re.compile(r"\[([^\]]*)\]\(([^)\s]+)\)")
_OUTSIDE = ("http://", "https://", "mailto:", "#")


def _outside_of_docs() -> dict[str, str]:
    """Path in the repository -> page of the site."""
    pages = {
        "README.md": "index.md",
        "CHANGELOG.md": "changelog.md",
        "CONTRIBUTING.md": "contributing.md",
        # docs/security.md is another page.
        "SECURITY.md": "security-policy.md",
        "boards/README.md": "boards/index.md",
    }
    for path in sorted((ROOT / "boards").glob("*/README.md")):
        pages[f"boards/{path.parent.name}/README.md"] = f"boards/{path.parent.name}.md"
    return pages


_PAGES = _outside_of_docs()
_SOURCES = {page: path for path, page in _PAGES.items()}


def on_files(files: Files, config: Any) -> Files:
    """Add the pages outside of docs/."""
    for path, page in _PAGES.items():
        content = (ROOT / path).read_text(encoding="utf-8")
        files.append(File.generated(config, page, content=content))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, **_: Any) -> str:
    """Turn links between files of the repository into links between pages of the site."""
    here: str = page.file.src_uri
    if here.startswith("cookbook/"):
        # A file to copy as it is.
        title = markdown.partition("\n")[0].partition(": ")[2]
        return f"# {title[0].upper()}{title[1:]}\n\n```markdown\n{markdown.strip()}\n```\n"
    source = _SOURCES.get(here, f"docs/{here}")
    return _LINK.sub(lambda found: _link(found[1], found[2], here, source, config), markdown)


def _link(text: str, target: str, here: str, source: str, config: Any) -> str:
    """A link as seen from the page `here`, which is made of the file `source`."""
    if target.startswith(_OUTSIDE):
        return f"[{text}]({target})"
    path, mark, anchor = target.partition("#")
    place = posixpath.normpath(posixpath.join(posixpath.dirname(source), path))
    page = _PAGES.get(place) or _PAGES.get(f"{place}/README.md")
    if page is None and place.startswith("docs/"):
        page = place.removeprefix("docs/")
    if page is not None:
        relative = posixpath.relpath(page, posixpath.dirname(here) or ".")
        return f"[{text}]({relative}{mark}{anchor})"
    if config.repo_url:
        return f"[{text}]({config.repo_url.rstrip('/')}/blob/main/{place})"
    return text if text.strip("`/") == place.rpartition("/")[2] else f"{text} (`{place}`)"
