"""The tiles of a fleet in Chromium, on a desk and on a phone. Run it by `make test-web`."""

import contextlib
import re

import pytest

from tenner_host.board.ports import Port
from tenner_host.remote import known
from tests.host import fleet_boards
from tests.host.web_client import served
from tests.web import browser

ALARM = re.compile("^Room temperature above")


@pytest.fixture(scope="module")
def fleet(tmp_path_factory):
    """The attic, with an alarm; and the cellar, which this computer does not know."""
    with fleet_boards.fleet(tmp_path_factory.mktemp("fleet")) as made:
        made.boards["attic"].board.set("room.temperature", 31.5)
        made.boards["attic"].wait_for("room.temperature 31.5 > 30: alarm")
        yield made


@pytest.fixture(scope="module")
def server(fleet):
    with fleet_boards.fleet_server(fleet) as made:
        yield made


@pytest.fixture
def page(chromium, server):
    with contextlib.closing(browser.new_context(chromium)) as context:
        # Of this host: a board may have a server of its own.
        with browser.strict_page(context, "http://127.0.0.1:", is_expected) as made:
            made.goto(server.links[-1])
            made.get_by_role("heading", name="Boards").wait_for()
            yield made


def is_expected(complaint):
    """The files of a board are read on request: 422 before that."""
    return "status of 422" in complaint


def tile(page, name):
    return page.get_by_role("region", name=name, exact=True)


@pytest.mark.parametrize(("size", "scheme"), browser.SCREENS, ids=["desk", "phone"])
def test_the_tiles_fit_and_axe_finds_nothing_serious(page, axe, size, scheme):
    browser.resize(page, size, scheme)
    attic = tile(page, "attic")
    attic.get_by_text("active since").wait_for()
    attic.get_by_text("It is 31.5 °C in the room.").wait_for()
    assert attic.get_by_text("online", exact=True).is_visible()
    assert attic.locator("dd", has_text="31.5").count() == 1
    cellar = tile(page, "cellar")
    cellar.get_by_text("No page: this computer has no key of this board").wait_for()
    assert cellar.get_by_role("link").count() == 0
    assert (
        "2 online, 1 alarm." in page.get_by_role("status").filter(has_text="boards").inner_text()
    )
    browser.check_fits(page, size)
    browser.check_axe(page, axe)


def test_a_tile_leads_to_its_board_and_back_by_keys_alone(page):
    tile(page, "attic").get_by_text("active since").wait_for()
    link = tile(page, "attic").get_by_role("link", name="attic")
    link.focus()
    page.keyboard.press("Enter")
    card = page.get_by_role("group", name=ALARM)
    card.get_by_text("since ").first.wait_for()
    card.get_by_role("button", name="Why?").click()
    card.get_by_text("last told").first.wait_for()
    page.get_by_role("link", name="Chat").click()
    page.get_by_text("The chat does not go over the network").wait_for()
    page.get_by_role("link", name="Log").click()
    page.get_by_text("The lines of the log do not go over the network").wait_for()
    page.get_by_role("link", name="HEARTBEAT.md").click()
    page.get_by_role("button", name="Read the files").click()
    assert "30 reset 28" in page.get_by_label("HEARTBEAT.md", exact=True).input_value()
    page.get_by_role("link", name="All boards").click()
    tile(page, "cellar").wait_for()


def test_a_tile_changes_as_its_board_does(page, fleet):
    tile(page, "attic").get_by_text("active since").wait_for()
    fleet.boards["cellar"].board.set("room.temperature", 25.0)
    tile(page, "cellar").locator("dd", has_text="25").wait_for()
    fleet.boards["cellar"].board.wifi(False)
    tile(page, "cellar").get_by_text("offline", exact=True).wait_for()
    page.get_by_text("1 online").wait_for()


def test_a_browser_has_a_session_of_the_fleet_and_one_of_a_board(page, fleet, server):
    with served(Port(f"{known.MQTT}{fleet.id('attic')}")) as other:
        page.goto(other.links[-1])
        page.get_by_role("group", name=ALARM).wait_for()
        page.goto(server.address)
        tile(page, "attic").get_by_role("link", name="attic").click()
        page.get_by_role("link", name="All boards").wait_for()
        page.get_by_role("group", name=ALARM).wait_for()


def test_a_guest_of_a_fleet_looks_only(chromium, server):
    with contextlib.closing(browser.new_context(chromium)) as context:
        with browser.strict_page(context, server.address, is_expected) as page:
            page.goto(f"{server.address}#code={server.access.guest_code}")
            page.get_by_text("guest: you look only").wait_for()
            tile(page, "attic").get_by_role("link", name="attic").click()
            page.get_by_role("group", name=ALARM).wait_for()
            page.get_by_text("guest: you look only").wait_for()
            assert page.get_by_role("button").count() == 0
