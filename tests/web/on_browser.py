"""The page of each server in Chromium: every view and every action, on a desk and on a phone.

Run it by `make test-web`.
"""

import calendar
import contextlib
import itertools
import json
import re
import time

import pytest

from tests.host.page_home import argv_of
from tests.web import browser
from tests.web.homes import HOMES


def alarm(page):
    """The line of the alarm that every board here has."""
    return page.get_by_role("group", name=re.compile("^Room temperature above"))


VIEWS = {
    "now": "Now",
    "chat": "Chat",
    "heartbeat": "HEARTBEAT.md",
    "plots": "Plots",
    "log": "Log",
    "settings": "Settings",
    "update": "Update",
}

#: The buttons of a guest: they only look.
LOOKING = {"Zoom in", "Zoom out", "Earlier", "Later", "CSV", "Read again", "Read it again"}
LOOKING |= {"All", "None", "PNG", "More"}
#: Waits until a view is there.
SHOWN = {
    "now": lambda page: alarm(page).wait_for(),
    "chat": lambda page: page.get_by_text("the owner writes here").wait_for(),
    "heartbeat": lambda page: page.get_by_label("HEARTBEAT.md", exact=True).wait_for(),
    "plots": lambda page: page.get_by_role("img").first.wait_for(),
    "log": lambda page: page.get_by_text("A guest sees no lines of the log").wait_for(),
    "settings": lambda page: page.get_by_role("rowheader").first.wait_for(),
    "update": lambda page: page.get_by_text("The board runs tenner").wait_for(),
}

_ISO = "%Y-%m-%dT%H:%M:%S"
_ACTS_ALL_THE_SAME = """async () => {
  const headers = { "X-Tenner-Token": localStorage.getItem("tenner-token") };
  headers["Content-Type"] = "application/json";
  const answer = await fetch("/api/v1/chat", { method: "POST", body: "{}", headers });
  return [answer.status, (await answer.json()).error];
}"""


@pytest.fixture(scope="module")
def interpreters(request):
    """The MicroPython or the command of an agent by its name; a test without it is skipped."""

    def find(name):
        if name == "chip":
            return request.getfixturevalue("micropython32")
        return argv_of(request, name)

    return find


@pytest.fixture(scope="module", params=HOMES)
def home(request, tmp_path_factory, interpreters):
    markup = browser.ITEMS.replace("Frost:", "<img src=x onerror=alert(1)><b>Frost:</b>")
    with HOMES[request.param](tmp_path_factory.mktemp("home"), markup, interpreters) as made:
        yield made


@pytest.fixture(scope="module")
def context(chromium, home):
    """A browser that was paired by the link that the owner sees."""
    made = browser.new_context(chromium)
    page = made.new_page()
    page.goto(home.link())
    page.get_by_role("link", name="Now").wait_for()
    # The code stays neither in the address nor in the history.
    assert "code=" not in page.url
    page.close()
    yield made
    made.close()


@pytest.fixture
def page(context, home):
    """A tab whose complaints fail the test, as do requests to other hosts."""
    with browser.strict_page(context, home.address, home.is_expected) as made:
        made.goto(home.address)
        made.get_by_role("link", name="Now").wait_for()
        yield made


def show(page, view):
    browser.choose(page, view)
    page.get_by_role("heading", name=VIEWS[view], exact=True, level=1).wait_for()


def test_a_typed_code_pairs_and_a_wrong_one_is_a_sentence(chromium, home):
    context = browser.new_context(chromium)
    page = context.new_page()
    page.goto(home.address)
    page.get_by_label("Enter the code").fill("AAAA")
    page.get_by_role("button", name="Pair").click()
    page.get_by_text("this is not the code").wait_for()
    page.get_by_label("Enter the code").fill(home.code().swapcase())
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Now").wait_for()
    page.reload()
    page.get_by_role("heading", name="Now").wait_for()
    context.close()


@pytest.mark.parametrize(("size", "scheme"), browser.SCREENS, ids=["desk", "phone"])
@pytest.mark.parametrize("view", VIEWS)
def test_a_view_fits_and_axe_finds_nothing_serious(page, axe, view, size, scheme):
    browser.resize(page, size, scheme)
    show(page, view)
    browser.check_fits(page, size)
    browser.check_axe(page, axe)


def test_a_home_screen_takes_the_page_by_the_name_of_the_board(page, home):
    session = page.context.new_cdp_session(page)
    found = session.send("Page.getAppManifest")
    assert found["errors"] == []
    manifest = json.loads(found["data"])
    assert manifest["name"] == page.locator("#name").inner_text() == "kitchen"
    assert manifest["start_url"] == manifest["scope"] == home.address
    # It fetches the mark. A browser of tests stores nothing, and that is all it lacks.
    lacks = session.send("Page.getInstallabilityErrors")["installabilityErrors"]
    assert {one["errorId"] for one in lacks} <= {"in-incognito"}, lacks


def test_the_views_are_reached_by_keys_alone(page):
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "To the content"
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Chat"
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Chat").wait_for()


def test_an_alarm_is_explained_acknowledged_and_muted(page):
    card = alarm(page)
    card.get_by_text("since ").first.wait_for()
    card.get_by_role("button", name="Why?").click()
    card.get_by_text("last told").first.wait_for()
    card.get_by_role("button", name="Acknowledge").click()
    card.get_by_text("acknowledged, since").first.wait_for()
    card.get_by_role("button", name="Mute …").click()
    card.get_by_role("button", name="Mute: 1 h").click()
    page.get_by_text("alarms, 1 muted").click()
    card.get_by_text("muted until").first.wait_for()
    card.get_by_role("button", name="Unmute").click()
    card.get_by_text("acknowledged, since").first.wait_for()


def test_markup_of_the_board_is_text(page):
    page.get_by_text("other alarm").click()
    page.get_by_text("below 5 °C").click()
    page.get_by_text(
        re.compile(r"^<img src=x onerror=alert\(1\)><b>Frost:</b> [\d.]+ °C")
    ).wait_for()


def test_the_sensors_have_their_last_day(page):
    card = page.get_by_role("region", name="Room humidity")
    assert re.search(r"\d %", card.inner_text())
    assert card.locator("path").get_attribute("d").count("L") > 15
    switch = page.get_by_role("region", name="Pump")
    assert re.search(r"\bo(n|ff)\b", switch.locator(".value").inner_text())
    assert "L" not in switch.locator("path").get_attribute("d")


def test_a_chat_is_answered_in_two_tabs_and_after_a_reload(page, context, home):
    show(page, "chat")
    other = context.new_page()
    other.goto(f"{home.address}#chat")
    other.get_by_role("heading", name="Chat").wait_for()
    page.get_by_label("Your message").fill("say: hello from a tab")
    page.keyboard.press("Enter")
    # Right in the middle of the stream.
    page.reload()
    answer = re.compile("^Agent, .*\nhello from a tab")
    for tab in (page, other):
        tab.get_by_role("listitem").filter(has_text=answer).wait_for()
    other.close()


def test_an_answer_is_shown_while_it_is_written(page, home):
    if not home.slowly:
        pytest.skip("this server has no part of an answer")
    show(page, "chat")
    home.slowly()
    page.get_by_label("Your message").fill("say: " + "one more line of a **long** story, " * 12)
    page.keyboard.press("Enter")
    draft = page.locator("[aria-hidden=true] li.agent")
    draft.filter(has_text=re.compile("^one more .* …$")).wait_for()
    draft.locator("strong").first.wait_for()
    answer = page.locator("[aria-live] li.agent").filter(has_text="one more line")
    assert answer.count() == 0
    answer.wait_for()
    draft.wait_for(state="detached")


def test_the_tools_of_an_answer_stand_below_it(page):
    show(page, "chat")
    page.get_by_label("Your message").fill('call sensor {"action": "read", "name": "room"}')
    page.keyboard.press("Enter")
    tools = page.locator("li.agent details")
    tools.get_by_text("read room.temperature: 31.5 °C").wait_for(timeout=60_000)
    tools.locator("summary").focus()
    page.keyboard.press("Enter")
    tools.get_by_text(re.compile("^sensor read, ?name room$")).wait_for()
    page.reload()
    tools.get_by_text("read room.temperature: 31.5 °C").wait_for()


def test_a_question_of_the_agent_is_answered_here(page):
    show(page, "chat")
    page.get_by_label("Your message").fill(
        'call write_file {"path": "tools/x.py", "content": "1"}'
    )
    page.keyboard.press("Enter")
    browser.click(page, "Deny")
    page.get_by_role("listitem").filter(has_text="not approved").wait_for()


def test_a_question_outlives_an_older_answer_of_the_board(page):
    show(page, "chat")
    page.get_by_text("hello from a tab").first.wait_for()
    held = []

    def hold(route):
        if held or route.request.method != "GET":
            route.fallback()
            return
        answer = route.fetch()
        if answer.ok and not held:
            held.append((route, answer))
        else:
            # A chip at work asks to come again.
            route.fulfill(response=answer)

    page.route("**/api/v1/chat", hold)
    page.get_by_label("Your message").fill(
        'call write_file {"path": "tools/x.py", "content": "1"}'
    )
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Deny").wait_for(timeout=60_000)
    while not held:
        # Lets Playwright go on: the request that is held ends with no event.
        page.wait_for_timeout(100)
    route, answer = held[0]
    older = {**answer.json(), "question": None}
    with page.expect_event("requestfinished"):
        route.fulfill(response=answer, json=older)
    browser.click(page, "Deny")
    page.get_by_role("listitem").filter(has_text="not approved").last.wait_for()
    assert page.get_by_role("listitem").filter(has_text="hello from a tab").count() > 1


def test_the_editor_checks_replays_and_saves(page, home):
    show(page, "heartbeat")
    text = page.get_by_label("HEARTBEAT.md", exact=True)
    before = text.input_value()
    text.fill(before + "- (evry 5m) Look.\n")
    page.get_by_role("button", name="Line 7").click()
    assert page.evaluate("getSelection().toString()") in ("- (evry 5m) Look.", "")
    text.fill(before.replace("30 reset 28", "29 reset 27"))
    page.get_by_text("The board understands every line.").wait_for()
    replay = page.get_by_role("button", name="What would it do?")
    assert replay.count() == ("replay" in home.offers)
    if "replay" in home.offers:
        replay.click()
        # A busy machine takes its time for three days of readings.
        page.get_by_role("heading", name="On the stored readings").wait_for(timeout=240_000)
        page.get_by_role("cell", name="alarm").first.wait_for()
    page.get_by_role("button", name="Save on the board").click()
    page.get_by_text("The board has it.").wait_for()
    if home.restarts_for_files:
        home.ready()
    page.reload()
    page.get_by_label("HEARTBEAT.md", exact=True).wait_for()
    assert "29 reset 27" in page.get_by_label("HEARTBEAT.md", exact=True).input_value()


def test_a_plot_is_zoomed_and_saved_as_csv(page):
    show(page, "plots")
    switch = page.get_by_role("img", name=re.compile("pump.on"))
    for word in ("off", "on"):
        switch.locator("text", has_text=re.compile(f"^{word}$")).wait_for()
    picture = page.get_by_role("img", name=re.compile("room.temperature"))
    whole = picture.get_attribute("aria-label")
    picture.scroll_into_view_if_needed()
    box = picture.bounding_box()
    page.mouse.move(box["x"] + 200, box["y"] + 80)
    page.mouse.down()
    page.mouse.move(box["x"] + 320, box["y"] + 90)
    page.mouse.up()
    page.get_by_role("img", name=whole, exact=True).wait_for(state="detached")
    page.get_by_role("button", name="Zoom out").click()
    page.get_by_role("checkbox", name="pump.on").uncheck()
    assert page.locator("svg.plot").count() == 2
    page.get_by_label("Show").select_option("a week")
    with page.expect_download() as waiting:
        page.get_by_role("button", name="CSV").click()
    lines = open(waiting.value.path(), encoding="utf-8").read().splitlines()
    assert lines[0] == "time,name,value" and len(lines) > 800
    assert abs(time.time() - calendar.timegm(time.strptime(lines[-1][:19], _ISO))) < 7200


def test_the_log_goes_on_and_shows_one_area(page, home):
    if home.log_of_a_start is None:
        pytest.skip("a chip has the lines of its log on its console only")
    show(page, "log")
    lines = page.get_by_role("log")
    lines.get_by_text("heartbeat").first.wait_for()
    page.get_by_label("Show").select_option("boot")
    assert lines.locator("p:visible").count() < lines.locator("p").count()


def test_a_setting_is_found_and_changed(page, home):
    show(page, "settings")
    page.get_by_label("Find").fill("api_key")
    row = page.get_by_role("row").filter(has=page.get_by_role("rowheader", name="llm.api_key"))
    assert "***" in row.inner_text() and row.get_by_role("button").count() == 0
    page.get_by_label("Find").fill("name of the agent")
    page.get_by_role("button", name="Change name").click()
    page.get_by_label("name", exact=True).fill("cellar")
    page.get_by_role("button", name="Save").click()
    page.get_by_text("its agent runs again").wait_for()
    page.locator("#name", has_text="cellar").wait_for()


def test_the_update_names_both_versions(page, home):
    show(page, "update")
    page.get_by_role("button", name="Look for a newer version").click()
    page.get_by_role("status").filter(has_text=home.update_says).wait_for()


def test_a_reset_of_the_board_is_seen_and_over(page, home):
    show(page, "log")
    home.reset()
    if home.log_of_a_start:
        page.get_by_role("log").get_by_text(home.log_of_a_start).last.wait_for()
    home.ready()
    page.get_by_text("connected", exact=True).wait_for()
    show(page, "now")
    alarm(page).wait_for()


def test_a_board_without_power_is_not_connected(page, home):
    if home.power_off is None:
        pytest.skip("its page goes with it: on_views.py has that")
    header = page.locator(".brand")
    header.get_by_text("connected", exact=True).wait_for()
    home.power_off()
    header.filter(has_text=re.compile(r"no answer for 1\d s")).wait_for(timeout=17_000)
    home.power_on()
    header.get_by_text("connected", exact=True).wait_for(timeout=60_000)
    home.ready()


def test_a_guest_sees_every_view_and_no_button_that_acts(chromium, axe, home):
    link = home.guest_link()
    with contextlib.closing(browser.new_context(chromium)) as context:
        with browser.strict_page(context, home.address, home.is_expected) as page:
            page.goto(link)
            page.get_by_text("guest: you look only").wait_for()
            for (size, scheme), view in itertools.product(browser.SCREENS, VIEWS):
                browser.resize(page, size, scheme)
                show(page, view)
                SHOWN[view](page)
                found = {one.inner_text() for one in page.get_by_role("button").all()}
                # "Line 2" only shows the line.
                found = {name for name in found if not re.fullmatch(r"Lines? [\d–]+", name)}
                assert found <= LOOKING, view
                browser.check_fits(page, size)
                browser.check_axe(page, axe)
            show(page, "chat")
            assert page.get_by_label("Your message").count() == 0
            show(page, "heartbeat")
            assert not page.get_by_label("HEARTBEAT.md", exact=True).is_editable()
            # A page that tries it all the same gets the sentence.
            said = page.evaluate(_ACTS_ALL_THE_SAME)
            assert said[0] == 403 and "only look" in said[1]


def test_the_link_of_telegram_opens_the_page_and_is_used_up(chromium, home):
    if not home.sent_link:
        pytest.skip("this board has no bot")
    link = home.sent_link()
    place = link.partition("#")[0]
    context = browser.new_context(chromium)
    with browser.strict_page(context, place, home.is_expected) as page:
        browser.resize(page, browser.PHONE, "light")
        page.goto(link)
        alarm(page).wait_for(timeout=60_000)
        # The code stays in no history.
        assert "code" not in page.url
        page.reload()
        alarm(page).wait_for(timeout=60_000)
    context.close()
    other = browser.new_context(chromium)
    with browser.strict_page(other, place, home.is_expected) as page:
        page.goto(link)
        page.get_by_text("This is not the code").wait_for(timeout=60_000)
    other.close()


def test_an_ended_session_asks_for_a_code_again(page):
    page.evaluate("localStorage.clear()")
    page.reload()
    page.get_by_label("Enter the code").wait_for()
