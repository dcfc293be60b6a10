"""The page that a chip serves, on the virtual board with the interpreter of a chip."""

import json

import pytest

from tenner_host.sync import code
from tests.host.chip_home import Client, chip_home
from tests.host.e2e import agent_board
from tests.host.guests import check_guest


@pytest.fixture(scope="module")
def home(micropython32):
    with chip_home(interpreter=micropython32, heap="192K") as made:
        yield made


@pytest.fixture(scope="module")
def client(home):
    return Client(home).pair()


def test_nothing_is_told_without_a_session(home):
    stranger = Client(home)
    for method, path in (("GET", "/now"), ("GET", "/chat"), ("PATCH", "/settings")):
        answer = stranger(method, path)
        assert (answer.status, set(answer.json)) == (401, {"error"})
    assert stranger("GET", "/nothing").status == 404
    assert stranger("GET", "/pair").status == 405


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Origin": "http://evil.example"},
        {"Sec-Fetch-Site": "cross-site"},
    ],
    ids=["rebound", "origin", "site"],
)
def test_foreign_pages_are_refused(client, headers):
    assert client("GET", "/now", **headers).status in (403, 421)
    assert client("GET", "/session").status == 200


def test_a_talk(home, client):
    before = client("GET", "/chat").json["messages"]
    answer = client("POST", "/chat", {"text": "say: hello page"})
    assert answer.status == 202 and answer.json["waiting"]
    home.bench.wait_for("model calls")
    while client("GET", "/chat").json["waiting"]:
        pass
    new = client("GET", "/chat").json["messages"][len(before) :]
    assert [one["who"] for one in new] == ["you", "agent"]
    assert new[1]["text"].startswith("hello page")


def test_events_are_those_behind_the_last_one(client):
    last = client("GET", "/log").json["last_event"]
    with client.events(last - 1) as events:
        found = list(events)
    assert [one["id"] for one in found] == [last]
    with client.events(last) as events:
        assert list(events) == []


def test_every_request_of_a_view_is_answered(client):
    for path in ("now", "log", "settings", "heartbeat", "readings", "update", "session"):
        answer = client("GET", f"/{path}")
        assert answer.status == 200, (path, answer.body)
        assert json.loads(answer.body)


def test_a_chip_is_found_and_becomes_a_sensor(client):
    found = client("POST", "/sensors/find", {}).json["found"]
    assert {one["address"]: one["sensor"] for one in found}["0x48"] == "room"
    asked = {"name": "desk", "driver": "sht31", "settings": {"bus": "i2c0", "address": "0x44"}}
    answer = client("POST", "/sensors", asked)
    assert answer.status == 200, answer.body
    assert answer.json["answer"].startswith("desk is a sensor now: humidity ")
    assert client("POST", "/sensors", {**asked, "driver": "sht30"}).status == 400


def test_a_guest_looks_and_does_nothing(home, client):
    check_guest(Client(home).pair(home.guest_code), client)


def test_only_a_board_with_the_setting_has_the_page():
    config = json.dumps({"web": {"enabled": True}}).encode()
    assert code.wants_page({code.CONFIG: config})
    assert not code.wants_page({})
    assert not code.wants_page({code.CONFIG: b'{"web": {"enabled": "no"}, "x": 1}'})
    without, page = code.code_tree("VIRTUAL"), code.code_tree("VIRTUAL", page=True)
    assert page.keys() - without.keys() == {code.PAGE}
    assert without["/lib/tenner/overlays.pack"] == page["/lib/tenner/overlays.pack"]


def test_a_board_without_the_page_says_how_to_get_it():
    with agent_board(changes={"web": {"enabled": True}}) as bench:
        bench.wait_for("web.enabled: its code is not on this board yet: `tenner sync` brings it")
        bench.ready()
