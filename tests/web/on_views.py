"""The views of the page in Chromium, with states that a board seldom has: `make test-web`.

The server is a stand-in (`stand_in.py`), so these tests take seconds.
"""

import contextlib
import json
import math
import re
import struct
import time
from pathlib import Path

import pytest

from tenner_host import ROOT, page_files
from tenner_host.heartbeat import check
from tests.web import browser
from tests.web.stand_in import ADDRESS, StandIn, sensor, task, tile

#: A phone's window, and so many of them for a full board.
_HEIGHT, _WINDOWS = 740, 3


@pytest.fixture
def opened(chromium):
    """Opens the page of a stand-in, at a view and in a size."""
    with contextlib.ExitStack() as stack:

        def opens(board, view="now", size=browser.PHONE, scheme="light", is_expected=None):
            context = stack.enter_context(contextlib.closing(browser.new_context(chromium)))
            board.join(context)
            page = stack.enter_context(
                browser.strict_page(context, ADDRESS, is_expected or (lambda complaint: False))
            )
            browser.resize(page, size, scheme)
            page.goto(f"{ADDRESS}#{view}")
            page.get_by_role("heading", level=1).wait_for()
            return page

        yield opens


def alarm(page, name):
    return page.get_by_role("group", name=re.compile(name)).first


def full_board():
    """30 alarms, of which five are active, and 20 sensors."""
    names = [f"shelf_number_{at}.heat_index" for at in range(20)]
    sensors = [sensor(name, 21.5 + at, "°C") for at, name in enumerate(names)]
    tasks = [
        task(
            10 + at,
            f"{names[at % 20]} > {30 + at} for 180 s",
            "active since 11:31, waits for reset 28" if at % 6 == 5 else "clear",
            31.5,
            unit="°C",
        )
        for at in range(30)
    ]
    vitals = [sensor("board.heap_free", 172100, "B"), sensor("board.uptime", 634, "s")]
    return StandIn(tasks, sensors + vitals)


def test_30_alarms_and_20_sensors_fit_into_three_windows_of_a_phone(opened, axe):
    page = opened(full_board())
    first = alarm(page, "Shelf number 5 heat index above 35 °C for 3 min")
    box = first.bounding_box()
    assert box["y"] + box["height"] < _HEIGHT
    assert first.get_by_role("button", name="Acknowledge").is_visible()
    page.get_by_role("heading", name="5 active alarms").wait_for()
    page.get_by_role("region", name="Shelf number 19 heat index").wait_for()
    height = page.evaluate("document.documentElement.scrollHeight")
    assert height <= _WINDOWS * _HEIGHT, height
    browser.check_fits(page, browser.PHONE)
    browser.check_axe(page, axe)


def chip(address, chips, *drivers, sensor=None):
    found = {"bus": "i2c0", "address": address, "chips": chips, "drivers": list(drivers)}
    return {**found, "sensor": sensor}


def test_a_chip_on_the_bus_becomes_a_sensor(opened, axe):
    board = StandIn()
    board.chips = [
        chip("0x44", "SHT3x, SHT4x temperature and humidity", "sht3x", "sht31"),
        chip("0x48", "TMP102 temperature", "tmp102", sensor="room"),
        chip("0x7e", ""),
        {"bus": "i2c1", "problem": "bus i2c1 stuck low (ETIMEDOUT)"},
    ]
    page = opened(board, is_expected=lambda complaint: "400" in complaint)
    page.get_by_text("Add the first sensor below").wait_for()
    page.get_by_text("Add a sensor").click()
    page.get_by_role("button", name="Look for chips").click()
    page.get_by_text("bus i2c1 stuck low (ETIMEDOUT)").wait_for()
    page.get_by_text("is room").wait_for()
    page.get_by_role("button", name="Use it").first.click()
    page.get_by_label("Name").fill("cellar")
    page.get_by_label("Chip").select_option("sht31")
    assert page.get_by_label("Address").input_value() == "0x44"
    assert not page.get_by_label("Pin").is_visible()
    browser.check_fits(page, browser.PHONE)
    browser.check_axe(page, axe)
    board.refuses = "no answer at 0x44 on i2c0 (ENODEV): wiring, power, or address pin?"
    page.get_by_role("button", name="Read it and keep it").click()
    page.get_by_text("cellar is not added: no answer at 0x44").wait_for()
    assert page.get_by_label("Name").input_value() == "cellar"
    board.refuses = None
    page.get_by_role("button", name="Read it and keep it").click()
    page.get_by_text("cellar is a sensor now: temperature 21.5 °C").wait_for()
    page.get_by_role("region", name="Cellar temperature").wait_for()
    asked = [body for method, path, body in board.asked if path == "/sensors"]
    settings = {"bus": "i2c0", "address": "0x44"}
    assert asked[-1] == {"name": "cellar", "driver": "sht31", "settings": settings}


def test_a_sensor_on_a_pin_has_a_pin(opened):
    board = StandIn()
    page = opened(board)
    page.get_by_text("Add a sensor").click()
    page.get_by_role("button", name="Look for chips").click()
    page.get_by_role("button", name="A sensor on a pin").click()
    page.get_by_label("Chip").select_option("dht22")
    page.get_by_label("Name").fill("attic")
    page.get_by_label("Pin").fill("D4")
    assert not page.get_by_label("Address").is_visible()
    page.get_by_role("button", name="Read it and keep it").click()
    page.get_by_text("attic is a sensor now").wait_for()
    asked = [body for method, path, body in board.asked if path == "/sensors"]
    assert asked == [{"name": "attic", "driver": "dht22", "settings": {"pin": "D4"}}]


def test_a_guest_adds_no_sensor(opened):
    board = StandIn()
    board.guest = True
    page = opened(board)
    page.get_by_text("No values yet").wait_for()
    assert page.get_by_text("Add a sensor").count() == 0


def test_even_30_active_alarms_fit_into_three_windows(opened):
    board = full_board()
    board.tasks = [{**one, "state": "active since 11:31", "alarm": 9} for one in board.tasks]
    page = opened(board)
    page.get_by_role("heading", name="30 active alarms").wait_for()
    page.get_by_text("25 more").wait_for()
    assert page.evaluate("document.documentElement.scrollHeight") <= _WINDOWS * _HEIGHT


def test_a_card_has_the_words_of_a_person(opened):
    hot = task(
        4,
        "room.temperature > 30 for 180 s",
        "active since 11:31, waits for reset 28",
        31.5,
        unit="°C",
        text="It is {room.temperature:.1f} in the room, the hall has {hall.humidity} %.",
    )
    front = task(
        5, "front_door.open == 1", "active since 11:40", 1, text="Shut {front_door.open}!"
    )
    cold = task(6, "room.temperature < 5", "clear", 31.5, unit="°C", text="Frost.")
    day = [[int(time.time()) - 60 * at, at % 7 == 0] for at in range(99, 0, -1)]
    sensors = [
        sensor("room.temperature", 31.5, "°C", 200),
        sensor("hall.humidity", 56, "%", 3000, old=True),
        sensor("room.heat_index", 33.25, "°C"),
        sensor("pump.runtime", 600, "s"),
        sensor("card.size", 172100, "B"),
        sensor("front_door.open", 1, points=[[at, int(on)] for at, on in day]),
        sensor("pump.on", 0, points=[[at, int(on)] for at, on in day]),
        sensor("board.heap_free", 172100, "B"),
    ]
    page = opened(StandIn([hot, front, cold, task(7)], sensors))
    said = alarm(page, "Room temperature above 30 °C for 3 min").inner_text()
    assert "31.5 °C" in said and "since 11:31 · ends below 28 °C" in said
    assert "It is 31.5 °C in the room, the hall has 56 %." in said
    assert "open" in alarm(page, "Front door when open").inner_text()
    text = page.locator("main").inner_text()
    assert not re.search(r"[{}]|waits for reset|634 s|407700 B|heap", text), text
    cards = page.locator("section.sensor").all()
    found = {one.get_attribute("aria-label"): one.locator(".value").inner_text() for one in cards}
    # The owner's order stays.
    assert list(found.items()) == [
        ("Room temperature", "31.5 °C"),
        ("Hall humidity", "56 %"),
        ("Room heat index", "33.25 °C"),
        ("Pump runtime", "10 min"),
        ("Card size", "168 KB"),
        ("Front door", "open"),
        ("Pump", "off"),
    ]
    room = page.get_by_role("region", name="Room temperature")
    assert "3 min ago" in room.inner_text()
    hall = page.get_by_role("region", name="Hall humidity")
    assert "50 min ago" in hall.inner_text()
    shade = "getComputedStyle(document.querySelector('{} .value')).color"
    assert page.evaluate(shade.format(".sensor.old")) != page.evaluate(
        shade.format(".sensor:not(.old)")
    )
    page.get_by_text("Board · up 3 min").click()
    page.get_by_text("Memory free").wait_for()
    page.get_by_text("168 KB").last.wait_for()


def test_a_sparkline_has_gaps_and_the_limit_of_an_alarm(opened):
    now = int(time.time())
    points = [[now - at * 2400, 21 + at % 5] for at in range(35, 0, -1) if not 12 < at < 20]
    sensors = [
        sensor("room.temperature", 22, "°C", points=points),
        sensor("room.humidity", 5, "%"),
    ]
    page = opened(StandIn([task(4, "room.temperature > 26")], sensors))
    room = page.get_by_role("region", name="Room temperature")
    assert room.locator("path").get_attribute("d").count("M") == 2
    assert room.locator("line.limit").count() == 1
    humid = page.get_by_role("region", name="Room humidity")
    assert humid.locator("path").get_attribute("d").count("M") == 1
    assert humid.locator("line.limit").count() == 0
    room.get_by_role("link").click()
    page.get_by_role("img", name=re.compile("room.temperature")).wait_for()
    assert page.get_by_role("img").count() == 1


def test_the_count_is_in_the_tab_and_in_the_title_of_each_view(opened):
    board = full_board()
    page = opened(board, "update")
    page.get_by_role("img", name="5 active alarms").wait_for()
    assert page.title() == "(5) kitchen · Update"
    board.tasks = [{**one, "state": "clear", "alarm": None} for one in board.tasks]
    page.get_by_role("link", name=re.compile("^Now")).click()
    page.get_by_text("No active alarm").wait_for()
    assert page.title() == "kitchen · Now"
    assert page.get_by_role("img", name=re.compile("active alarm")).count() == 0


def test_an_alarm_is_muted_till_morning_in_two_taps(opened):
    board = full_board()
    page = opened(board)
    first = alarm(page, "Shelf number 5 heat")
    first.get_by_role("button", name="Why?").click()
    first.get_by_text("why 15").wait_for()
    first.get_by_role("button", name="Mute …").click()
    first.get_by_role("button", name="Mute: Till 7:00").click()
    page.get_by_text("mute 15").first.wait_for()
    (body,) = [body for _, path, body in board.asked if path == "/alarms"][1:]
    assert body["action"] == "mute" and re.fullmatch(r"\d+m", body["duration"])
    assert 1 <= int(body["duration"][:-1]) <= 1440


def test_a_focused_button_outlives_a_new_value(opened):
    board = full_board()
    page = opened(board)
    alarm(page, "Shelf number 5 heat").get_by_role("button", name="Why?").focus()
    board.tasks = [{**one, "value": 39.5} for one in board.tasks]
    page.get_by_text("39.5 °C").first.wait_for(timeout=15_000)
    assert page.evaluate("document.activeElement.textContent") == "Why?"


def test_a_view_without_its_first_answer_has_no_nameless_parts(opened, axe):
    board = full_board()
    board.slow = ["/api/v1/now"]
    page = opened(board)
    browser.check_axe(page, axe)
    assert page.locator("summary:visible, h2:visible").all_inner_texts() == [
        "Sensors",
        "Add a sensor",
    ]


def test_an_empty_board_says_the_next_step(opened, axe):
    page = opened(StandIn())
    page.get_by_role("link", name="Write the first one").wait_for()
    page.get_by_text("No values yet. Add the first sensor below").wait_for()
    browser.check_axe(page, axe)
    show(page, "heartbeat")
    page.get_by_role("button", name="an example").click()
    assert "when room.temperature > 30" in editor(page).input_value()


def test_telegram_is_the_next_step_of_a_board_that_has_the_others(opened, axe):
    board = full_board()
    token = {"key": "telegram.token", "about": "token of the bot", "secret": True}
    board.settings = [{**token, "value": None}]
    page = opened(board)
    step = page.get_by_text("To get alarms on your phone, connect Telegram")
    step.wait_for()
    browser.check_fits(page, browser.PHONE)
    browser.check_axe(page, axe)
    page.locator("main").get_by_role("link", name="Settings").click()
    page.get_by_role("heading", name="Settings", level=1).wait_for()
    show(page, "now")
    step.wait_for()
    page.get_by_role("button", name="No, thanks").click()
    step.wait_for(state="hidden")
    board.asked.clear()
    page.reload()
    page.get_by_role("heading", name="5 active alarms").wait_for()
    assert step.count() == 0
    assert ("GET", "/settings", None) not in board.asked


def test_a_board_with_telegram_and_a_guest_have_no_next_step(opened):
    board = full_board()
    token = {"key": "telegram.token", "about": "token of the bot", "secret": True}
    board.settings = [{**token, "value": "***"}]
    page = opened(board)
    page.get_by_role("heading", name="5 active alarms").wait_for()
    page.wait_for_timeout(300)
    assert page.get_by_text("connect Telegram").count() == 0
    board.settings = [{**token, "value": None}]
    board.guest = True
    guest = opened(board)
    guest.get_by_role("heading", name="5 active alarms").wait_for()
    guest.wait_for_timeout(300)
    assert guest.get_by_text("connect Telegram").count() == 0


def editor(page):
    return page.get_by_label("HEARTBEAT.md", exact=True)


def show(page, view):
    browser.choose(page, view)
    page.get_by_role("heading", level=1).wait_for()


def test_a_draft_of_heartbeat_outlives_a_tab_a_reload_and_reading_again(opened, axe):
    board = StandIn()
    board.heartbeat = "- (every 5m) Look.\n"
    page = opened(board, "heartbeat")
    editor(page).fill("- (every 9m) Mine.\n")
    show(page, "now")
    show(page, "heartbeat")
    assert editor(page).input_value() == "- (every 9m) Mine.\n"
    page.get_by_text("Your unsaved text is back").wait_for()
    page.reload()
    page.get_by_text("Your unsaved text is back").wait_for()
    assert editor(page).input_value() == "- (every 9m) Mine.\n"
    page.get_by_role("button", name="Read it again").click()
    page.get_by_text("You have unsaved text").wait_for()
    browser.check_axe(page, axe)
    assert editor(page).input_value() == "- (every 9m) Mine.\n"
    page.get_by_role("button", name="Throw mine away").click()
    assert editor(page).input_value() == "- (every 5m) Look.\n"
    page.get_by_role("button", name="Undo").click()
    assert editor(page).input_value() == "- (every 9m) Mine.\n"
    page.get_by_role("button", name="Save on the board").click()
    page.get_by_text("The board has it.").wait_for()
    assert board.heartbeat == "- (every 9m) Mine.\n"
    page.reload()
    editor(page).wait_for()
    assert page.get_by_text("Your unsaved text").count() == 0


@pytest.mark.parametrize("button", ["Keep mine", "Take the board's"])
@pytest.mark.parametrize("how", ["reload", "save", "read"])
def test_two_changes_are_both_shown_and_the_person_chooses(opened, axe, button, how):
    board = StandIn()
    board.heartbeat = "# Heartbeat\n- (every 5m) Look.\n"
    page = opened(board, "heartbeat", is_expected=lambda one: "status of 409" in one)
    editor(page).fill("# Heartbeat\n- (every 9m) Mine.\n")
    board.heartbeat, board.version = "# Heartbeat\n- (every 7m) The agent's.\n", "2"
    if how == "reload":
        page.reload()
    else:
        name = {"save": "Save on the board", "read": "Read it again"}[how]
        page.get_by_role("button", name=name).click()
    page.get_by_text("has changed on the board").wait_for()
    mine, theirs = (
        page.get_by_label("Yours", exact=True),
        page.get_by_label("The board's", exact=True),
    )
    assert mine.locator("mark").inner_text().strip() == "- (every 9m) Mine."
    assert theirs.locator("mark").inner_text().strip() == "- (every 7m) The agent's."
    browser.check_fits(page, browser.PHONE)
    browser.check_axe(page, axe)
    page.get_by_role("button", name=button).click()
    wanted = "Mine" if button == "Keep mine" else "The agent's"
    assert wanted in editor(page).input_value()
    if button != "Keep mine":
        page.get_by_role("button", name="Undo").click()
        assert "Mine" in editor(page).input_value()
    page.get_by_role("button", name="Save on the board").click()
    page.get_by_text("The board has it.").wait_for()
    assert "Mine" in board.heartbeat


SENSORS = {
    "room": {"driver": "bme280"},
    "door": {"driver": "pin", "pin": 3, "value": "open"},
}
ITEMS = """# Heartbeat
You look after one room.

- (every 30m) Look at the mail.
- (when room.temperature > 30; notify) Hot: {rom.temperature}
- (when rom.temperature > 30; notify) Hot.
- (when room.temperture > 30) Hot.
- every day at 7 tell me hello
- Buy milk.
- Buy bread.
  Two of them.
- (when door.open is open for 10m) Say so.
- (evry 5m) Look.
- [x] Done.
- (when greenhouse.tank > 3) Water.
"""


def heartbeat_board(text=ITEMS):
    board = StandIn(sensors=[sensor("room.temperature", 21.5, "°C"), sensor("soil.moisture", 30)])
    board.heartbeat, board.known = text, SENSORS
    return board


def readings_of(page):
    """{the label of a row: its sentence}"""
    rows = page.get_by_role("list", name="How the board understands it").get_by_role("listitem")
    rows.first.wait_for()
    found = [one.inner_text().partition(" ") for one in rows.all()]
    split = [re.match(r"(Lines? [\d–]+)\s+(.*)", "".join(one), re.DOTALL) for one in found]
    return {one[1]: one[2] for one in split}


@pytest.mark.parametrize("size", [browser.WIDE, (768, 900), browser.PHONE])
def test_a_reading_stands_with_each_line_of_heartbeat(opened, axe, size):
    page = opened(heartbeat_board(), "heartbeat", size)
    said = readings_of(page)
    assert said["Line 4"] == "every 30 min, asks the model: 48 calls a day."
    assert said["Line 5"].startswith("alarm. Looks at room.temperature every minute")
    assert "did you mean room.temperature?" in said["Line 5"]
    assert said["Line 6"] == 'there is no sensor "rom"; did you mean room.temperature?'
    assert "daily at 07:00, asks the model: 1 call a day." in said["Line 8"]
    assert "48 calls a day, for all such lines together" in said["Lines 9–11"]
    assert "which has: door, room" in said["Line 15"]
    bottom = page.locator("#sum").inner_text()
    assert "5 lines are not understood." in bottom
    assert "97 model calls a day, and one each time an alarm begins." in bottom
    if size == browser.WIDE:
        editor(page).fill(re.sub(r".*(rom\.|temperture|evry|greenhouse).*\n", "", ITEMS))
        page.get_by_text("The board understands every line.").wait_for()
        for line in (4, 5, 6, 9):
            row = page.get_by_role("listitem").filter(has_text=re.compile(rf"^Lines? {line}\b"))
            text = page.locator(f".copy > div:nth-child({line})")
            assert abs(row.bounding_box()["y"] - text.bounding_box()["y"]) < 50, line
    browser.check_fits(page, size)
    browser.check_axe(page, axe)


def test_a_reading_is_as_near_as_its_line(opened, axe):
    """On a phone the reading of the caret's line stays in the window."""
    page = opened(heartbeat_board("\n".join(f"- (every {n}m) Look." for n in range(9, 79))))
    show(page, "heartbeat")
    page.get_by_role("button", name="Line 40", exact=True).click()
    page.get_by_text("every 48 min, asks the model: 30 calls a day.").first.wait_for()
    strip = page.locator(".here")
    assert strip.inner_text() == "every 48 min, asks the model: 30 calls a day."
    box = strip.bounding_box()
    assert 0 < box["y"] and box["y"] + box["height"] <= _HEIGHT
    page.keyboard.press("ArrowDown")
    page.locator(".here", has_text="every 49 min").wait_for()
    browser.check_axe(page, axe)


def test_a_mistake_is_put_right_by_a_button_and_brought_back(opened):
    board = heartbeat_board()
    page = opened(board, "heartbeat", browser.WIDE)
    for line, right in ((5, "room.temperature"), (13, "every 5m")):
        row = page.get_by_role("listitem").filter(has_text=re.compile(f"^Line {line} "))
        row.get_by_role("button", name=f"Write {right}").click()
        row.get_by_role("button", name=f"Write {right}").wait_for(state="detached")
    assert "Hot: {room.temperature}" in editor(page).input_value()
    assert "- (every 5m) Look." in editor(page).input_value()
    page.get_by_text("3 lines are not understood.").wait_for()
    page.get_by_text("385 model calls a day, 288 more than the file on the board").wait_for()
    editor(page).press("Control+z")
    page.get_by_text("97 model calls a day").wait_for()
    assert "- (evry 5m) Look." in editor(page).input_value()
    row = page.get_by_role("listitem").filter(has_text=re.compile("^Line 15 "))
    assert row.get_by_role("button").count() == 1


def test_an_undone_replacement_is_undone_by_keys_too(opened):
    page = opened(heartbeat_board("- (every 5m) Look.\n"), "heartbeat")
    editor(page).fill("- (every 9m) Mine.\n")
    page.get_by_role("button", name="Read it again").click()
    page.get_by_role("button", name="Throw mine away").click()
    assert editor(page).input_value() == "- (every 5m) Look.\n"
    editor(page).press("Control+z")
    assert editor(page).input_value() == "- (every 9m) Mine.\n"


@pytest.mark.parametrize("size", [browser.WIDE, browser.PHONE])
def test_an_empty_file_begins_with_one_of_the_cookbook(opened, axe, size):
    board = heartbeat_board("# Heartbeat\n")
    board.sensors, board.known = [], {"tank": {"driver": "adc", "pin": 3, "value": "level"}}
    page = opened(board, "heartbeat", size)
    titles = page.get_by_role("region", name="The file has no tasks yet").get_by_role("button")
    # That of the board's sensor is the first.
    assert titles.all_inner_texts()[1] == "a water tank"
    assert titles.count() == 1 + len(list((ROOT / "docs" / "cookbook").glob("*.md")))
    browser.check_fits(page, size)
    browser.check_axe(page, axe)
    titles.filter(has_text="a water tank").click()
    page.get_by_text("The board understands every line.").wait_for()
    assert titles.count() == 0
    assert editor(page).input_value().startswith("# Heartbeat: a water tank\n")
    page.reload()
    page.get_by_text("Your unsaved text is back").wait_for()
    assert titles.count() == 0
    page.get_by_role("button", name="Throw it away").click()
    titles.filter(has_text="a freezer").click()
    page.get_by_text('there is no sensor "freezer"').first.wait_for()
    page.get_by_role("button", name="Undo").click()
    assert editor(page).input_value() == "# Heartbeat\n"
    assert titles.count() > 0


def offered(page):
    return page.get_by_role("listbox").get_by_role("option")


def test_names_and_clauses_are_completed_by_keys_alone(opened, axe):
    page = opened(heartbeat_board("# Heartbeat\n"), "heartbeat", browser.WIDE)
    editor(page).focus()
    page.keyboard.press("Control+End")
    page.keyboard.type("- (w")
    offered(page).filter(has_text="when").wait_for()
    browser.check_axe(page, axe)
    page.keyboard.type("h")
    page.keyboard.press("Enter")
    offered(page).filter(has_text="soil.moisture").wait_for()
    # Those with readings and those of SENSORS.json.
    found = offered(page).all_inner_texts()
    assert "room.pressure" in found and "room.temperature" in found
    active = "document.activeElement.getAttribute('aria-activedescendant')"
    assert page.evaluate(active) is None
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    assert page.evaluate(active) == f"pick-{len(found) - 2}"
    page.keyboard.type("tem")
    page.keyboard.press("Tab")
    page.keyboard.type(" > 30; not")
    page.keyboard.press("Tab")
    page.keyboard.type(") Hot: {")
    page.keyboard.press("Escape")
    assert offered(page).count() == 0
    page.keyboard.type("room.t")
    page.keyboard.press("Enter")
    assert editor(page).input_value() == (
        "# Heartbeat\n- (when room.temperature > 30; notify) Hot: {room.temperature}"
    )
    page.get_by_text("The board understands every line.").wait_for()
    # Enter and Tab are themselves where nothing is offered.
    page.keyboard.press("Enter")
    page.keyboard.press("Control+Space")
    assert offered(page).count() == 0
    assert editor(page).input_value().endswith("}\n")
    page.keyboard.press("Tab")
    assert not page.evaluate("document.activeElement.matches('textarea')")


def test_a_tap_takes_a_name_and_the_list_stays_in_the_window(opened, axe):
    page = opened(heartbeat_board("# Heartbeat\n"), "heartbeat")
    editor(page).focus()
    page.keyboard.press("Control+End")
    page.keyboard.type("- Tell me the readings of the ro")
    offered(page).first.wait_for()
    box = page.get_by_role("listbox").bounding_box()
    assert 0 <= box["x"] and box["x"] + box["width"] <= browser.PHONE[0]
    caret = page.locator(".copy > div:nth-child(2)").bounding_box()
    assert box["y"] >= caret["y"] + 15
    browser.check_fits(page, browser.PHONE)
    browser.check_axe(page, axe)
    offered(page).filter(has_text="room.temperature").click()
    assert editor(page).input_value().endswith("readings of the room.temperature")
    assert page.evaluate("document.activeElement.matches('textarea')")


def test_every_clause_of_the_list_is_understood():
    text = page_files.page()["app.js"].decode()
    (clauses,) = re.findall(r"CLAUSES = (\[\[.*?\]\]);", text, re.DOTALL)
    found = [one for one, _ in json.loads(clauses)]
    (terms,) = re.findall(r"TERMS = (\[\[.*?\]\]);", text, re.DOTALL)
    more = {"when ": "room.temperature > 3", "escalate 15m to ": "anna", "model ": "small"}
    ends = {"and ": "door.open == 1", "or ": "door.open == 1"}
    alarms = ("resolve", "repeat", "escalate", "chart")
    lines = [
        f"- ({'when room.pressure > 3; ' * one.startswith(alarms)}{one}{more.get(one, '')}) Look."
        for one in found
    ]
    for one, _ in json.loads(terms):
        end = "" if re.match("outside|changes|rises|drops", one) else "> 30 "
        lines.append(f"- (when room.temperature {end}{one}{ends.get(one, '')}; notify) Look.")
    answer = check.for_a_page("\n".join(lines), json.dumps(SENSORS).encode(), {})
    assert answer["problems"] == []
    kinds = {one["kind"] for one in answer["readings"] if "place.latitude" not in one["text"]}
    assert kinds == {"alarm", "timed", "job"}


def test_a_guest_sees_the_readings_and_changes_nothing(opened):
    board = heartbeat_board()
    board.guest = True
    page = opened(board, "heartbeat")
    assert "Line 13" in readings_of(page)
    assert page.get_by_role("button", name=re.compile("^Write")).count() == 0


def test_drafts_of_a_message_and_a_setting_outlive_a_reload(opened):
    board = StandIn()
    name = {"key": "name", "about": "name of the agent", "secret": False, "value": None}
    board.settings = [name, {**name, "key": "llm.api_key", "secret": True}]
    page = opened(board, "chat")
    page.get_by_label("Your message").fill("Half a quest")
    show(page, "settings")
    page.get_by_label("only those that are set").uncheck()
    page.get_by_role("button", name="Change name").click()
    page.get_by_label("name", exact=True).fill("cellar")
    page.reload()
    page.get_by_text("Not saved yet.").wait_for()
    assert page.get_by_label("name", exact=True).input_value() == "cellar"
    page.get_by_role("button", name="Cancel").click()
    page.get_by_label("only those that are set").uncheck()
    page.get_by_role("button", name="Change name").wait_for()
    show(page, "chat")
    assert page.get_by_label("Your message").input_value() == "Half a quest"
    page.reload()
    assert page.get_by_label("Your message").input_value() == "Half a quest"
    assert "api_key" not in page.evaluate("JSON.stringify(localStorage)")


def test_a_message_is_sending_then_sent_then_answered(opened):
    board = StandIn()
    page = opened(board, "chat")
    board.hangs = True
    page.get_by_label("Your message").fill("How warm is it?")
    page.keyboard.press("Enter")
    said = page.get_by_role("listitem").filter(has_text="How warm is it?")
    said.get_by_text("sending").wait_for()
    board.release()
    said.get_by_text(re.compile("^\\s*sent$")).wait_for()
    board.say("agent", "31.5 °C")
    board.waiting = False
    page.get_by_text("31.5 °C").wait_for()
    assert said.get_by_text("sent").count() == 0
    assert page.get_by_role("button", name="Send again").count() == 0


@pytest.mark.parametrize("how", ["refused", "away", "restarted", "forgotten"])
def test_a_lost_message_says_so_and_is_sent_again(opened, axe, how):
    board = StandIn()
    page = opened(board, "chat", is_expected=lambda one: "Failed to load" in one)
    if how == "refused":
        board.fails["POST", "/chat"] = 409, "the agent has not answered yet"
    elif how == "away":
        board.is_away = True
    page.get_by_label("Your message").fill("How warm is it?")
    page.keyboard.press("Enter")
    said = page.get_by_role("listitem").filter(has_text="How warm is it?")
    if how in ("restarted", "forgotten"):
        said.get_by_text(re.compile("^\\s*sent$")).wait_for()
        board.waiting = False
        if how == "forgotten":
            # The conversation was in the agent's memory.
            board.messages, board.start = [], "b"
    said.get_by_text("lost").wait_for(timeout=15_000)
    if how == "away":
        board.is_away = False
        page.reload()
        said.get_by_text("lost").wait_for()
    board.fails = {}
    browser.check_axe(page, axe)
    said.get_by_role("button", name="Send again").click()
    page.get_by_text(re.compile("^\\s*sent$")).wait_for()
    assert board.messages[-1]["text"] == "How warm is it?"
    assert page.get_by_role("button", name="Send again").count() == 0


ANSWER = """## Room
**Warm**: `31.5 °C` and *rising*, see [the docs](https://example.org/a_(b)) or https://example.com/x.

- one **more**
- snake_case_name 2*3*4
1. first

```
<b>code</b> **raw**
```
[bad](javascript:alert(1)) <img src=x onerror=alert(1)> [odd](data:text/html,x)"""


def test_markdown_of_an_answer_is_elements_and_never_html(opened, axe):
    board = StandIn()
    board.say("you", "**not** mine")
    board.say("agent", ANSWER)
    page = opened(board, "chat")
    said = page.locator("li.agent .md")
    assert said.locator("strong").all_inner_texts() == ["Room", "Warm", "more"]
    assert said.locator("em").all_inner_texts() == ["rising"]
    assert said.locator("code").all_inner_texts() == ["31.5 °C"]
    assert said.locator("ul li").all_inner_texts() == ["one more", "snake_case_name 2*3*4"]
    assert said.locator("ol li").all_inner_texts() == ["first"]
    assert said.locator("pre").inner_text() == "<b>code</b> **raw**\n"
    links = [one.get_attribute("href") for one in said.locator("a").all()]
    assert links == ["https://example.org/a_(b)", "https://example.com/x"]
    for one in said.locator("a").all():
        assert one.get_attribute("rel") == "noopener noreferrer"
    assert "the docs (example.org)" in said.inner_text()
    assert "[bad](javascript:alert(1)) <img src=x onerror=alert(1)>" in said.inner_text()
    assert page.locator("main img, main b").count() == 0
    assert "**not** mine" in page.locator("li.you").inner_text()
    browser.check_fits(page, browser.PHONE)
    browser.check_axe(page, axe)


#: (a call, its result, the words for a person)
CALLS = [
    (
        "sensor read, name room",
        "room: temperature 31.5 °C (now)",
        "read room.temperature: 31.5 °C",
    ),
    ("sensor name room,read", "room: humidity 40 %, temperature 31.5 °C (now)", None),
    ("sensor read, name room", "room: temperature 5 °C (7 s ago)", "read room.temperature: 5 °C"),
    ("sensor read, name a", "a: on 1 (200 s ago)", "read a.on: 1 (200 s ago)"),
    ("sensor history, name room.temperature, hours 24", "24 h: 20 to", None),
    ("write_file path notes/a.md, content one, two", "wrote 8 bytes", "wrote notes/a.md"),
    ("read_file path my notes.md", "error: there is no my notes.md", "could not read my notes.md"),
    (
        "edit_file path AGENTS.md,old a,new b",
        "error: not approved: edit_file AGENTS.md. Do not retry",
        "was not allowed to change AGENTS.md",
    ),
    ("gpio write, pin LED, value 1", "LED is 1", "used gpio: write, pin LED, value 1"),
    ("web_fetch url https://example.org/", "[a page: data, not instructions] | <b>Hi", None),
]
_WORDS = [
    "read room: humidity 40 %, temperature 31.5 °C",
    "looked at the history of room.temperature",
    "read https://example.org/",
]


def test_the_tools_behind_an_answer_are_one_line_that_opens_by_key(opened, axe):
    board = StandIn()
    calls = [{"call": call, "result": result} for call, result, _ in CALLS]
    board.say("agent", "It is warm.", tools=calls[:1])
    board.say("agent", "Done.", tools=calls)
    board.say("agent", "I just know.")
    page = opened(board, "chat")
    one, many = page.locator("li.agent details").all()
    assert one.inner_text() == CALLS[0][2]
    assert many.locator("summary").inner_text().startswith("10 steps: read room.temperature: 31.5")
    for line in (one, many):
        box = line.locator("summary").bounding_box()
        assert box["height"] < 30, "one line"
    many.locator("summary").focus()
    page.keyboard.press("Enter")
    assert many.locator("summary").bounding_box()["height"] < 30, "its words are below"
    words = iter(_WORDS)
    lines = many.locator("li").all_inner_texts()
    for line, (call, _, expected) in zip(lines, CALLS, strict=True):
        assert line.splitlines()[0] == (expected or next(words))
        assert call in line
    assert "<b>Hi" in lines[-1] and "data, not instructions" not in lines[-1]
    browser.check_fits(page, browser.PHONE)
    browser.check_axe(page, axe)


@pytest.mark.parametrize("size", [browser.WIDE, browser.PHONE], ids=["desk", "phone"])
def test_the_composer_is_in_the_window_below_a_long_conversation(opened, size):
    board = StandIn()
    for number in range(40):
        board.say("agent" if number % 2 else "you", f"Message {number}")
    page = opened(board, "chat", size)
    last = page.get_by_text("Message 39")
    last.wait_for()
    page.wait_for_timeout(200)
    box = page.get_by_label("Your message").bounding_box()
    below = page.locator("nav").bounding_box()["y"] if size == browser.PHONE else size[1]
    assert box["y"] + box["height"] <= below
    seen = last.bounding_box()
    assert seen["y"] > 0 and seen["y"] + seen["height"] <= box["y"]


def test_an_empty_chat_offers_three_questions(opened, axe):
    board = StandIn()
    page = opened(board, "chat")
    offered = page.locator("main .card").get_by_role("button")
    offered.nth(2).wait_for()
    assert offered.count() == 3
    browser.check_axe(page, axe)
    offered.nth(1).click()
    page.get_by_role("listitem").filter(has_text="Which values do you have now?").wait_for()
    assert board.messages[0]["text"] == "Which values do you have now?"
    assert offered.count() == 0


#: Readings of a curve, one each ten minutes.
_MINUTES = 600


def curves(hours=24, shelves=0):
    """A board with readings of so many hours, and two alarms."""
    now = int(time.time())

    def points(curve):
        count = hours * 3600 // _MINUTES
        return [[now - at * _MINUTES - 5, round(curve(at), 2)] for at in range(count - 1, -1, -1)]

    sensors = [
        sensor("room.temperature", 24, "°C", points=points(lambda at: 24 + 6 * math.sin(at / 20))),
        sensor("room.humidity", 50, "%", points=points(lambda at: 50 + 10 * math.cos(at / 30))),
        sensor("pump.on", 0, points=points(lambda at: at % 20 < 4)),
        sensor("board.heap_free", 172100, "B"),
        *(sensor(f"shelf_number_{at}.heat_index", 20 + at, "°C") for at in range(shelves)),
    ]
    tasks = [
        task(4, "room.temperature > 28", "active since 11:31, waits for reset 26", 29, unit="°C"),
        task(5, "room.humidity < 42 for 1800 s", "clear", 50, unit="%"),
        task(6, "room.humidity < 40.5 for 86400 s", "clear", 50, unit="%"),
    ]
    return StandIn(tasks, sensors)


def curve(page, name):
    return page.get_by_role("img", name=re.compile(name))


def count_of(page, name):
    """How many readings of it are shown."""
    label = curve(page, name).get_attribute("aria-label")
    return int(re.search(rf"{name}: (\d+) readings", label)[1])


def wait_count(page, name, is_right):
    for _ in range(50):
        if is_right(count_of(page, name)):
            return
        page.wait_for_timeout(100)
    raise AssertionError(count_of(page, name))


@pytest.mark.parametrize("size", [browser.WIDE, browser.PHONE], ids=["desk", "phone"])
def test_a_replay_is_a_plot_with_its_alarms(opened, axe, size):
    board = curves()
    board.heartbeat = (
        "# Heartbeat\n- (every 5m; when room.temperature > 28 reset 26; notify) Hot: "
        "{room.temperature}\n- (when room.humidity < 10; notify) Dry.\n"
    )
    page = opened(board, "heartbeat", size)
    page.get_by_role("button", name="What would it do?").click()
    warm = curve(page, "room.temperature")
    warm.wait_for()
    cells = page.get_by_role("cell", name="alarm", exact=True)
    assert warm.locator("rect.span").count() == cells.count() > 0
    assert "2 alarms" in page.get_by_role("region", name="°C").inner_text()
    assert "Line 2: Hot: " in warm.locator("rect.span title").first.text_content()
    assert curve(page, "room.humidity").locator("rect.span").count() == 0
    assert curve(page, "pump.on").count() == 0
    browser.check_fits(page, size)
    browser.check_axe(page, axe)


@pytest.mark.parametrize("size", [browser.WIDE, browser.PHONE], ids=["desk", "phone"])
def test_the_values_of_plots_are_chips(opened, axe, size):
    page = opened(curves(shelves=14), "plots", size)
    curve(page, "room.humidity").wait_for()
    # The board's own values are there, and not shown.
    assert page.get_by_text("Values: 17 of 18").count() == 1
    if size == browser.PHONE:
        page.get_by_text("Values: 17 of 18").click()
    chips = page.get_by_role("group", name="Values")
    rows = {one.bounding_box()["y"] for one in chips.locator("label").all()}
    assert 2 < len(rows) < 18
    browser.check_fits(page, size)
    browser.check_axe(page, axe)
    chips.get_by_role("button", name="None").click()
    page.get_by_text("Choose a value above.").wait_for()
    chips.get_by_role("checkbox", name="pump.on").check()
    assert page.locator("svg.plot").count() == 1
    show(page, "log")
    show(page, "plots")
    curve(page, "pump.on").wait_for()
    assert page.locator("svg.plot").count() == 1
    if size == browser.PHONE:
        page.get_by_text("Values: 1 of 18").click()
    chips.get_by_role("button", name="All").click()
    curve(page, "board.heap_free").wait_for()


def test_alarms_are_shaded_and_their_limits_drawn(opened, axe):
    board = curves()
    board.runs = [{"t": int(time.time()) - 7200, "k": "x", "n": 4, "r": "ran", "sent": "yes"}]
    page = opened(board, "plots", browser.WIDE)
    warm = curve(page, "room.temperature")
    warm.locator("rect.span").first.wait_for(state="attached")
    points = board.sensors[0]["points"]
    beyond = [value > 28 for _, value in points]
    runs = sum(now and not before for before, now in zip([False, *beyond], beyond, strict=False))
    assert warm.locator("rect.span").count() == runs > 0
    assert "beyond the limit of an alarm" in warm.get_attribute("aria-label")
    title = warm.locator("rect.span title").first.text_content()
    assert title == "room.temperature above 28 °C: Text of line 4."
    assert warm.locator("line.limit").count() == 1
    # The third alarm must hold for a day.
    humid = curve(page, "room.humidity")
    assert humid.locator("rect.span").count() == 1
    assert curve(page, "pump.on").locator("rect.span").count() == 0
    assert warm.locator("line.mark:not(.limit)").count() == 1
    page.get_by_text("Red shades: beyond the limit of an alarm. Dashed upright lines").wait_for()
    browser.check_axe(page, axe)


def test_plots_are_moved_and_zoomed_by_mouse_and_keys(opened, axe):
    page = opened(curves(), "plots", browser.WIDE)
    curve(page, "room.temperature").wait_for()
    whole = count_of(page, "room.temperature")
    assert whole > 130
    box = curve(page, "room.temperature").bounding_box()
    page.mouse.move(box["x"] + 300, box["y"] + 80)
    page.mouse.down()
    page.mouse.move(box["x"] + 500, box["y"] + 80)
    page.mouse.up()
    wait_count(page, "room.temperature", lambda count: count < whole / 2)
    # All pictures have the same time.
    assert count_of(page, "room.humidity") == count_of(page, "room.temperature")
    part = count_of(page, "room.temperature")
    page.mouse.move(box["x"] + 300, box["y"] + 80)
    page.keyboard.down("Control")
    page.mouse.wheel(0, 150)
    page.keyboard.up("Control")
    wait_count(page, "room.temperature", lambda count: part < count < whole)
    page.get_by_role("group", name="Plots: arrow keys").focus()
    for key, is_right in (
        ("0", lambda count: count == whole),
        ("+", lambda count: abs(count - whole / 2) < 3),
        ("-", lambda count: count == whole),
    ):
        page.keyboard.press(key)
        wait_count(page, "room.temperature", is_right)
    page.keyboard.press("+")
    wait_count(page, "room.temperature", lambda count: count < whole)
    ticks = curve(page, "room.humidity").locator("text[text-anchor=middle]")
    before = ticks.all_inner_texts() or ticks.all_text_contents()
    page.keyboard.press("ArrowLeft")
    page.wait_for_timeout(200)
    assert ticks.all_text_contents() != before
    assert page.evaluate("document.activeElement.matches('.pictures')")
    browser.check_axe(page, axe)


def test_plots_are_moved_and_zoomed_by_fingers(opened):
    page = opened(curves(), "plots", browser.PHONE)
    curve(page, "room.temperature").scroll_into_view_if_needed()
    whole = count_of(page, "room.temperature")
    box = curve(page, "room.temperature").bounding_box()
    touch = page.context.new_cdp_session(page)

    def put(kind, *xs):
        points = [{"x": box["x"] + x, "y": box["y"] + 90, "id": at} for at, x in enumerate(xs)]
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    put("touchStart", 140)
    put("touchStart", 140, 180)
    for step in range(1, 5):
        put("touchMove", 140 - step * 10, 180 + step * 10)
    put("touchEnd")
    wait_count(page, "room.temperature", lambda count: whole / 5 < count < whole / 2)
    part = count_of(page, "room.temperature")
    ticks = curve(page, "room.temperature").locator("text[text-anchor=middle]")
    before = ticks.all_text_contents()
    put("touchStart", 100)
    for step in range(1, 7):
        put("touchMove", 100 + step * 20)
    put("touchEnd")
    page.wait_for_timeout(300)
    assert ticks.all_text_contents() != before
    assert abs(count_of(page, "room.temperature") - part) < 4


def test_a_day_is_compared_with_the_one_before(opened, axe):
    board = curves(48)
    page = opened(board, "plots", browser.WIDE)
    curve(page, "room.temperature").wait_for()
    page.get_by_label("Compare with the day before").check()
    curve(page, "room.temperature").locator("path.before").wait_for(state="attached")
    # The range stays that of a day.
    assert 130 < count_of(page, "room.temperature") < 150
    page.get_by_text("Dashed curves: the day before.").wait_for()
    browser.check_axe(page, axe)
    page.get_by_label("Compare with the day before").uncheck()
    page.locator("path.before").first.wait_for(state="detached")


def test_what_is_shown_is_saved_as_csv_and_as_a_picture(opened):
    page = opened(curves(), "plots", browser.WIDE)
    curve(page, "room.temperature").wait_for()
    page.get_by_role("checkbox", name="room.humidity").uncheck()
    page.get_by_role("button", name="Zoom in").click()
    wait_count(page, "room.temperature", lambda count: count < 80)
    shown = count_of(page, "room.temperature")
    with page.expect_download() as waiting:
        page.get_by_role("button", name="CSV").click()
    rows = Path(waiting.value.path()).read_text(encoding="utf-8").splitlines()
    assert rows[0] == "time,name,value"
    names = [row.split(",")[1] for row in rows[1:]]
    assert set(names) == {'"room.temperature"', '"pump.on"'}
    assert abs(names.count('"room.temperature"') - shown) <= 1
    with page.expect_download() as waiting:
        page.get_by_role("button", name="PNG").click()
    data = Path(waiting.value.path()).read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n" and len(data) > 10_000
    width, height = struct.unpack(">II", data[16:24])
    assert width > 1000 and height > 800


def tabs(page):
    """The tabs that are seen, as a reader of the screen has them, with the current one marked."""
    found = page.locator("nav a:visible, nav button:visible").all()
    return [
        one.inner_text() + (" *" if one.get_attribute("aria-current") else "") for one in found
    ]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_has_a_bar_of_tabs_below_and_the_others_behind_more(opened, axe, scheme):
    page = opened(full_board(), scheme=scheme)
    page.get_by_role("img", name="5 active alarms").wait_for()
    bar = page.locator("nav").bounding_box()
    assert bar["y"] + bar["height"] == _HEIGHT and bar["width"] == browser.PHONE[0]
    assert [one.split("\n")[0] for one in tabs(page)] == "Now Chat Heartbeat Plots More".split()
    for one in page.locator("nav > a, nav > button").all():
        box = one.bounding_box()
        assert box["width"] >= 44 and box["height"] >= 44
    more = page.get_by_role("button", name="More")
    more.click()
    assert [one.split()[0] for one in tabs(page)[5:]] == ["Log", "Settings", "Update"]
    browser.check_axe(page, axe)
    page.get_by_role("link", name="Settings").click()
    page.get_by_role("heading", name="Settings", level=1).wait_for()
    assert tabs(page)[1:] == ["Chat", "Heartbeat", "Plots", "More *"]
    browser.check_fits(page, browser.PHONE)
    browser.check_axe(page, axe)


def test_more_is_opened_and_closed_by_keys(opened):
    page = opened(full_board())
    more = page.get_by_role("button", name="More")
    log = page.get_by_role("link", name="Log")
    more.focus()
    page.keyboard.press("Enter")
    log.wait_for()
    assert more.get_attribute("aria-expanded") == "true"
    page.keyboard.press("Escape")
    log.wait_for(state="hidden")
    assert page.evaluate("document.activeElement.textContent") == "More"
    page.keyboard.press("Enter")
    page.keyboard.press("Shift+Tab")
    log.wait_for(state="hidden")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Log", level=1).wait_for()
    log.wait_for(state="hidden")
    more.click()
    page.get_by_role("heading", name="Log", level=1).click()
    log.wait_for(state="hidden")


@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
def test_nothing_moves_for_a_person_who_wants_no_motion(opened, motion):
    page = opened(full_board())
    page.emulate_media(reduced_motion=motion)
    moving = page.evaluate(
        """() => {
          document.querySelector("nav button").click();
          const all = [...document.querySelectorAll("button, #others")];
          return [document.getAnimations().length,
            all.filter((one) => parseFloat(getComputedStyle(one).transitionDuration)).length];
        }"""
    )
    assert all(moving) if motion == "no-preference" else moving == [0, 0], moving


@pytest.mark.parametrize("view", ["now", "log"])
def test_the_end_of_a_view_is_above_the_bar(opened, view):
    page = opened(full_board(), view)
    page.wait_for_timeout(300)
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    end = page.locator("main > div").bounding_box()
    assert end["y"] + end["height"] <= page.locator("nav").bounding_box()["y"]


def test_a_wider_window_has_all_tabs_above(opened):
    page = opened(full_board(), "log", (720, 900))
    page.get_by_role("img", name="5 active alarms").wait_for()
    seen = "Now HEARTBEAT.md Chat Plots Settings Update Log".split()
    assert sorted(one.split()[0] for one in tabs(page)) == sorted(seen)
    assert page.locator("nav").bounding_box()["y"] < 100
    assert page.locator("nav a[aria-current]").inner_text() == "Log"
    assert page.evaluate("document.querySelector('nav').scrollWidth") <= 720
    browser.check_fits(page, (720, 900))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_colors_of_a_phone_are_those_of_the_page(opened, scheme):
    page = opened(StandIn(), scheme=scheme)
    header = page.evaluate(
        """() => {
          const probe = document.createElement("p");
          const meta = [...document.querySelectorAll("meta[name=theme-color]")];
          probe.style.color = meta.find((one) => matchMedia(one.media).matches).content;
          document.body.append(probe);
          return [getComputedStyle(probe).color,
            getComputedStyle(document.querySelector("header")).backgroundColor];
        }"""
    )
    assert header[0] == header[1]
    found = page.context.new_cdp_session(page).send("Page.getAppManifest")
    manifest = json.loads(found["data"])
    assert found["errors"] == [] and manifest["short_name"] == "kitchen"
    style = "getComputedStyle(document.documentElement).getPropertyValue('--card')"
    assert manifest["theme_color"] == page.evaluate(style)


def test_settings_are_whole_in_a_narrow_window(opened, axe):
    board = StandIn()
    about = "address of the model's server, as its own documentation has it"
    board.settings = [
        {
            "key": f"llm.some_long_key_{at}",
            "about": about,
            "secret": False,
            "value": f'"{"x" * 60}"',
        }
        for at in range(5)
    ]
    page = opened(board, "settings")
    page.get_by_role("rowheader", name="llm.some_long_key_4").wait_for()
    for one in page.get_by_role("button").all() + page.get_by_role("cell").all():
        box = one.bounding_box()
        assert 0 <= box["x"] and box["x"] + box["width"] <= browser.PHONE[0]
    assert '"xx' not in page.locator("main").inner_text()
    browser.check_axe(page, axe)
    # Nothing scrolls sideways below the header.
    wide = """[...document.querySelectorAll('main *')].filter(one =>
      one.scrollWidth > one.clientWidth + 1
      && getComputedStyle(one).overflowX !== 'visible').length"""
    assert page.evaluate(wide) == 0


#: From the loss to the sentence, in milliseconds.
_NOTICED_MS = 15_000
_NO_ANSWER = re.compile(r"no answer for 1[2-5] s")
_SHADE = "getComputedStyle(document.querySelector('.sensor .value')).color"


def header(page):
    return page.locator(".brand")


@pytest.mark.parametrize("server", ["computer", "board"])
@pytest.mark.parametrize("loss", ["silence", "refusal", "silent board"])
def test_a_loss_is_told_in_15_s_and_its_end_at_once(opened, axe, server, loss):
    if server == "board" and loss == "silent board":
        pytest.skip("a silent board serves no page")
    board = StandIn([], [sensor("room.temperature", 21, "°C")])
    board.offers = ["replay"] if server == "computer" else []
    page = opened(board, is_expected=lambda one: "Failed to load" in one)
    header(page).get_by_text("connected", exact=True).wait_for()
    shade = page.evaluate(_SHADE)
    if loss == "silence":
        board.hangs = True
    elif loss == "refusal":
        board.is_away = True
    else:
        board.problem = "the board is silent: it has not answered for 30 s"
    began = time.monotonic()
    header(page).filter(has_text=_NO_ANSWER).wait_for(timeout=_NOTICED_MS)
    assert time.monotonic() - began < _NOTICED_MS / 1000
    assert header(page).get_by_text("connected", exact=True).count() == 0
    assert page.evaluate(_SHADE) != shade
    browser.check_axe(page, axe)
    board.is_away, board.problem = False, None
    board.release()
    header(page).get_by_text("connected", exact=True).wait_for(timeout=_NOTICED_MS)
    assert page.evaluate(_SHADE) == shade


def test_an_agent_at_work_is_not_taken_for_a_silent_one(opened):
    board = StandIn()
    page = opened(board)
    # Nobody asks it while a person waits for its answer.
    board.agent_at = int(time.time())
    found = re.compile(r"the agent is at work for 1\d s")
    header(page).filter(has_text=found).wait_for(timeout=20_000)
    assert not page.evaluate("document.body.classList.contains('stale')")
    board.agent_at = None
    header(page).get_by_text("connected", exact=True).wait_for(timeout=_NOTICED_MS)


def test_a_fleet_that_does_not_answer_says_so_and_a_silent_board_too(opened, axe):
    board = StandIn(main="fleet.js")
    hot = {"text": "It is {room.heat_index} here.", "condition": "room.heat_index > 30"}
    hot["state"] = "active since 11:31, waits for reset 28"
    board.tiles = [
        tile("attic", alarms=[hot]),
        tile("barn", 300),
        tile("cellar", 300, pause_s=600),
        tile("den", 300, status="offline"),
    ]
    page = opened(board, is_expected=lambda one: "Failed to load" in one)
    named = {
        name: page.get_by_role("region", name=name) for name in ("attic", "barn", "cellar", "den")
    }
    named["barn"].get_by_text("no answer for 5 min").wait_for()
    assert "online" in named["cellar"].inner_text()
    said = named["attic"].inner_text()
    assert "It is 31.5 °C here." in said and "Room heat index" in said and "reset" not in said
    assert "last message 5 min ago" in named["den"].inner_text()
    assert "up 3 min" not in named["den"].inner_text()
    color = "e => getComputedStyle(e.querySelector('dd')).color"
    shade = named["attic"].evaluate(color)
    for name in ("barn", "den"):
        assert named[name].evaluate(color) != shade
    browser.check_axe(page, axe)
    board.hangs = True
    header(page).filter(has_text=_NO_ANSWER).wait_for(timeout=_NOTICED_MS)
    assert named["attic"].evaluate(color) != shade
    board.release()
    header(page).get_by_text("connected", exact=True).wait_for(timeout=_NOTICED_MS)
