"""The files of the page, as a Linux board gets them."""

from __future__ import annotations

import gzip
from pathlib import Path

from tenner_host import __file__ as _package

_WEB = Path(_package).parent / "web"


def page() -> dict[str, bytes]:
    """Every file of the page by its name."""
    return {one.name: one.read_bytes() for one in sorted((_WEB / "page").iterdir())}


def openapi() -> bytes:
    """The description of the API."""
    return (_WEB / "openapi.json").read_bytes()


def compressed(folder: str) -> dict[str, bytes]:
    """The page and the description below `folder`, compressed, the same bytes at every build."""
    files = {**page(), "openapi.json": openapi()}
    return {f"{folder}{name}.gz": gzip.compress(data, 9, mtime=0) for name, data in files.items()}
