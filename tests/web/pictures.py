"""Draw the page of each server as Chromium shows it, into docs/pictures: `make picture`."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from tenner_host import ROOT, interpreters
from tests.host import fleet_boards
from tests.host.e2e import ASK
from tests.services.kit import Unavailable
from tests.web import browser
from tests.web.homes import HOMES

TARGET = ROOT / "docs" / "pictures"
_TALL = (360, 940)
#: Home: [(view, size, colors)]
PICTURES = {
    "computer": [
        ("now", browser.WIDE, "light"),
        ("plots", browser.WIDE, "light"),
        ("heartbeat", browser.WIDE, "dark"),
    ],
    "linux": [("settings", browser.WIDE, "dark"), ("now", _TALL, "dark")],
    "chip": [("now", _TALL, "light"), ("chat", browser.PHONE, "light")],
}
#: The name of a picture, if it is not that of its view.
_NAMES = {("linux", "now"): "phone", ("chip", "now"): "chip"}


def main() -> int:
    try:
        with browser.chromium() as chromium:
            for name, views in PICTURES.items():
                _draw(chromium, name, views)
            _draw_fleet(chromium)
    except Unavailable as exc:
        print(f"no pictures: {exc}", file=sys.stderr)
        return 1
    return 0


def _interpreter(name: str) -> Any:
    return interpreters.find_micropython32() if name == "chip" else (sys.executable,)


def _draw(chromium: Any, name: str, views: list[tuple[str, tuple[int, int], str]]) -> None:
    with (
        tempfile.TemporaryDirectory() as folder,
        HOMES[name](Path(folder), browser.ITEMS, _interpreter) as home,
    ):
        page = chromium.new_page(locale="en-GB", reduced_motion="reduce", ignore_https_errors=True)
        page.goto(home.link())
        for view, (width, height), colors in views:
            page.set_viewport_size({"width": width, "height": height})
            page.emulate_media(color_scheme=colors)
            browser.choose(page, view)
            _prepare(page, view)
            page.mouse.move(0, 0)
            _save(page, _NAMES.get((name, view), view))
        page.close()


def _draw_fleet(chromium: Any) -> None:
    names = ("attic", "barn", "cellar", "den", "kitchen")
    with (
        tempfile.TemporaryDirectory() as folder,
        fleet_boards.fleet(Path(folder), names, strangers=("den",)) as fleet,
        fleet_boards.fleet_server(fleet) as server,
    ):
        for place, name in enumerate(names):
            fleet.boards[name].board.set(
                "room.temperature", (31.5, 18.25, 14.0, 22.5, 20.75)[place]
            )
        page = chromium.new_page(locale="en-GB", reduced_motion="reduce")
        page.set_viewport_size({"width": 1100, "height": 700})
        page.goto(server.links[-1])

        def tile(name: str) -> Any:
            return page.get_by_role("region", name=name, exact=True)

        for name, value in (("barn", "18.25"), ("den", "22.5"), ("kitchen", "20.75")):
            tile(name).locator("dd", has_text=value).wait_for()
        tile("cellar").get_by_text("no alarm").wait_for()
        fleet.boards["cellar"].board.wifi(False)
        tile("cellar").get_by_text("offline", exact=True).wait_for()
        tile("attic").get_by_text("active since").wait_for()
        _save(page, "fleet")
        page.close()


def _save(page: Any, name: str) -> None:
    target = TARGET / f"web-{name}.png"
    page.screenshot(path=target)
    print(f"{target.relative_to(ROOT)}: {target.stat().st_size // 1024} KB")


def _prepare(page: Any, view: str) -> None:
    """Wait until the view has its parts."""
    if view == "heartbeat":
        page.get_by_role("button", name="What would it do?").click()
        page.get_by_role("heading", name="On the stored readings").wait_for()
        page.locator("main .plot").wait_for()
    elif view == "chat":
        page.get_by_label("Your message").fill(ASK)
        page.keyboard.press("Enter")
        page.get_by_role("listitem").filter(has_text="reads 31.5 °C").last.wait_for()
    else:
        page.locator("main .sensor, main .plot, main table").first.wait_for()


if __name__ == "__main__":
    sys.exit(main())
