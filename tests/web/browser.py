"""Chromium, driven by Playwright, and axe-core: fetched once into the cache, or the system's."""

import contextlib
import math
import sys
import time

from tenner.sensors.ring import Ring
from tests.host.e2e import agent_board
from tests.host.web_client import Client, served
from tests.services.kit import Unavailable, npm, pip, program

PLAYWRIGHT = {"playwright": "1.65.2"}
#: Names of a browser that Playwright drives; without any, its own serves where somebody installed
#: it.
_PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
AXE = {"axe-core": "4.11.0"}
ITEMS = """# Heartbeat
You look after one room.

- (every 1s; when room.temperature > 30 reset 28; notify) It is {room.temperature} in the room.
- (daily 07:30) Say: good morning.
- (every 5m; when room.temperature < 5; notify) Frost: {room.temperature}.
"""
WIDE, PHONE = (1440, 900), (360, 740)
#: (size, colors)
SCREENS = ((WIDE, "light"), (PHONE, "dark"))


@contextlib.contextmanager
def chromium():
    """A running Chromium; Unavailable with the reason where none can be had."""
    folder = pip("browser", PLAYWRIGHT)
    if folder not in sys.path:
        sys.path.append(folder)
    from playwright.sync_api import Error, sync_playwright

    with sync_playwright() as playwright:
        try:
            made = playwright.chromium.launch(executable_path=_installed(), args=["--no-sandbox"])
        except Error as exc:
            reason = str(exc).splitlines()[0]
            raise Unavailable(f"Chromium does not start, apt install chromium: {reason}") from exc
        try:
            yield made
        finally:
            made.close()


def click(page, name):
    """Click a button; the page's text is in the error where it has none."""
    from playwright.sync_api import Error

    try:
        # A chip at work has a request come again for a minute.
        page.get_by_role("button", name=name).click(timeout=120_000)
    except Error as exc:
        raise AssertionError(page.locator("body").inner_text()) from exc


def _installed():
    """The path of the system's browser, or None."""
    for name in _PROGRAMS:
        with contextlib.suppress(Unavailable):
            return program(name)
    return None


def axe_source():
    return (npm("axe-core", "axe", AXE) / "axe.min.js").read_text(encoding="utf-8")


def new_context(chromium):
    """A browser of its own, whose user has accepted the certificate of a board."""
    return chromium.new_context(accept_downloads=True, ignore_https_errors=True)


@contextlib.contextmanager
def strict_page(context, address, is_expected=lambda complaint: False):
    """A tab; complaints that are not expected fail the test, as do requests to other hosts."""
    made = context.new_page()
    wrong = []
    made.on("pageerror", lambda error: wrong.append(str(error)))
    made.on("console", lambda said: said.type == "error" and wrong.append(said.text))
    made.on(
        "request",
        lambda asked: asked.url.startswith((address, "blob:")) or wrong.append(asked.url),
    )
    yield made
    made.close()
    unexpected = [one for one in wrong if not is_expected(one)]
    assert not unexpected, unexpected


def resize(page, size, scheme):
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")


def choose(page, view):
    """Press the tab of a view, which may stand behind "More"."""
    tab = page.locator(f'nav a[href="#{view}"]')
    if not tab.is_visible():
        page.get_by_role("button", name="More").click()
    tab.click()


def check_fits(page, size):
    """Nothing is wider than the window."""
    assert page.evaluate("document.documentElement.scrollWidth") <= size[0]


def check_axe(page, axe):
    """axe-core finds nothing serious."""
    page.evaluate(axe)
    found = page.evaluate("axe.run()")
    serious = [
        (one["id"], one["nodes"][0]["html"][:200])
        for one in found["violations"]
        if one["impact"] in ("serious", "critical")
    ]
    assert serious == [], serious


def readings(folder):
    """Three days of a room, as a board stores them."""
    ring = Ring(str(folder / "readings"), 65536)
    now = int(time.time())
    for minute in range(3 * 1440, 0, -10):
        warm = 9 if 300 < minute < 340 else 0
        ring.keep(
            now - minute * 60,
            [
                ("room.temperature", 21 + 4 * math.sin(minute / 220) + warm),
                ("room.humidity", 50 + 10 * math.cos(minute / 300)),
                ("pump.on", int(minute % 200 < 40)),
            ],
        )
    return {f"/state/{one.name}": one.read_bytes() for one in folder.iterdir()}


@contextlib.contextmanager
def board_and_server(folder, heartbeat=ITEMS):
    """A warm room's board with the whole agent, and the server of its page; its files are read."""
    with agent_board(
        heartbeat=heartbeat, files=readings(folder), changes={"name": "kitchen"}
    ) as bench:
        bench.ready()
        with served(bench.board.pty) as server:
            script = Client(server).pair()
            assert script("POST", "/files/read", {}).status == 200
            bench.ready()
            bench.board.set("room.temperature", 31.5)
            bench.wait_told("in the room")
            yield bench, server
