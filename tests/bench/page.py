"""The page of `tenner web`: its bytes, and the requests of a browser up to the first view."""

from __future__ import annotations

import gzip
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from tenner_host import page_files
from tests.bench.rows import NotMeasured, Row


def gzipped_kb() -> float:
    """Every file of both pages, each packed by itself."""
    fleet = page_files.page("fleet.js")
    files = [*page_files.page().values(), fleet["app.js"]]
    return sum(len(gzip.compress(data, 9, mtime=0)) for data in files) / 1024


@cache
def _first_view() -> tuple[int, float]:
    """(requests, KB of answers) from the link in the terminal to the first view."""
    from tests.services.kit import Unavailable
    from tests.web import browser

    answers: list[Any] = []
    try:
        with (
            tempfile.TemporaryDirectory() as folder,
            browser.chromium() as chromium,
            browser.board_and_server(Path(folder)) as (_, server),
        ):
            page = chromium.new_page()
            page.on("requestfinished", lambda answer: answers.append(answer))
            page.goto(server.links[-1])
            page.locator("details.line").first.wait_for()
            # The stream of events goes on, and its size is no part of the view.
            sizes = [one.sizes()["responseBodySize"] for one in answers]
    except Unavailable as exc:
        raise NotMeasured(str(exc)) from exc
    return len(sizes), sum(sizes) / 1024


ROWS = [
    Row("page.gzip_kb", "all files of the page, with a fleet's, packed", "KB", gzipped_kb, 60),
    Row(
        "page.first.requests",
        "requests up to the first view",
        "requests",
        lambda: _first_view()[0],
    ),
    Row("page.first.kb", "their answers, as they are sent", "KB", lambda: _first_view()[1]),
]
