"""Draw the page of `tenner web` as Chromium shows it, into docs/pictures: `make picture`."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tenner_host import ROOT
from tests.services.kit import Unavailable
from tests.web import browser

TARGET = ROOT / "docs" / "pictures"
#: (view, size, colors)
PICTURES = [
    ("now", (1000, 760), "light"),
    ("plots", (1000, 760), "light"),
    ("heartbeat", (360, 940), "dark"),
]


def main() -> int:
    try:
        _draw()
    except Unavailable as exc:
        print(f"no pictures: {exc}", file=sys.stderr)
        return 1
    return 0


def _draw() -> None:
    with (
        tempfile.TemporaryDirectory() as folder,
        browser.chromium() as chromium,
        browser.board_and_server(Path(folder)) as (_, server),
    ):
        page = chromium.new_page(locale="en-GB", reduced_motion="reduce")
        page.goto(server.links[-1])
        for view, (width, height), colors in PICTURES:
            page.set_viewport_size({"width": width, "height": height})
            page.emulate_media(color_scheme=colors)
            page.locator(f'nav a[href="#{view}"]').click()
            if view == "heartbeat":
                page.get_by_role("button", name="What would it do?").click()
                page.get_by_role("heading", name="On the stored readings").wait_for()
            page.locator("main .card, main table").first.wait_for()
            page.mouse.move(0, 0)
            target = TARGET / f"web-{view}.png"
            page.screenshot(path=target)
            print(f"{target.relative_to(ROOT)}: {target.stat().st_size // 1024} KB")


if __name__ == "__main__":
    sys.exit(main())
