"""`tenner fleet web`: boards at a real broker as tiles, and the pages of those that this computer
knows."""

import json
import time

import jsonschema
import pytest

from tenner_host import page_files, tenner_version
from tenner_host.remote.broker import Message
from tenner_host.web import fleet_site
from tenner_host.web.access import COOKIE
from tenner_host.web.fleet_site import openapi_document
from tenner_host.web.fleet_watch import FleetWatch
from tenner_sim import LIMIT_S
from tests.host import fleet_boards
from tests.host.broker import Owner
from tests.host.guests import operations
from tests.host.remote_board import tenner
from tests.host.test_web_page import closed
from tests.host.web_client import Client

DOCUMENT = json.loads(openapi_document())
CLOSED = {"components": closed(DOCUMENT["components"])}


def check(answer, path, method="get"):
    """The answer fits the document; return its JSON."""
    described = DOCUMENT["paths"][path][method]["responses"][str(answer.status)]
    schema = {**described["content"]["application/json"]["schema"], **CLOSED}
    jsonschema.Draft202012Validator(schema).validate(answer.json)
    return answer.json


@pytest.fixture(scope="module")
def fleet(tmp_path_factory):
    """Two boards at a broker; only the attic is known to this computer."""
    with fleet_boards.fleet(tmp_path_factory.mktemp("computer")) as made:
        yield made


@pytest.fixture(scope="module")
def server(fleet):
    with fleet_boards.fleet_server(fleet) as made:
        yield made


@pytest.fixture
def client(server):
    return Client(server).pair()


def tiles(client):
    found = check(client("GET", "/fleet"), "/fleet")["tiles"]
    return {one["topic"]: one for one in found}


def wait_tile(client, topic, holds):
    """Wait until the tile of a board holds, as one who looks again and again."""
    end = time.monotonic() + 2 * LIMIT_S
    while not holds(tile := tiles(client).get(topic, {})):
        assert time.monotonic() < end, tile
        time.sleep(0.1)
    return tile


def test_each_board_has_a_tile_with_its_values(client, fleet):
    def is_whole(tile):
        return tile.get("sensors") and tile["status"] == "online" and tile["version"]

    attic = wait_tile(client, "tenner/attic", lambda tile: is_whole(tile) and tile["seen"])
    cellar = wait_tile(client, "tenner/cellar", is_whole)
    assert (attic["name"], cellar["name"]) == ("attic", "cellar")
    assert attic["version"] == tenner_version() and attic["heap_free_kb"] > 100
    assert {"name": "room.temperature", "unit": "°C", "value": 21.5} in cellar["sensors"]
    assert abs(attic["seen"] - time.time()) < LIMIT_S
    assert (attic["page"], cellar["page"]) == (f"boards/{fleet.id('attic')}/", None)
    # Only the board itself tells of its alarms, and only to who has its key.
    assert cellar["alarms"] is None
    assert (
        wait_tile(client, "tenner/attic", lambda tile: tile["alarms"] is not None)["alarms"] == []
    )
    session = check(client("GET", "/session"), "/session")
    assert session["place"].startswith("tenner/ on localhost:") and session["guest"] is False


def test_an_alarm_is_on_its_tile_as_soon_as_the_board_has_told_it(client, fleet, monkeypatch):
    # Without the alert nobody would ask again.
    monkeypatch.setattr(fleet_site, "_FRESH_S", 1e6)
    wait_tile(client, "tenner/attic", lambda tile: tile["alarms"] == [])
    fleet.boards["attic"].board.set("room.temperature", 31.5)
    tile = wait_tile(client, "tenner/attic", lambda tile: tile["alarms"])
    (alarm,) = tile["alarms"]
    assert alarm["state"].startswith("active since") and "in the room" in alarm["text"]
    assert alarm["condition"] == "room.temperature > 30"
    with client.events() as events:
        assert next(one for one in events if one["type"] == "tile")["tile"]["topic"]


def test_a_tile_leads_to_the_page_of_its_board_in_the_same_session(client, fleet):
    page = f"/boards/{fleet.id('attic')}/"
    for name, data in page_files.page().items():
        assert client.get("GET", page + name).body == data
    assert client.get("GET", page).body == page_files.page()["index.html"]
    assert client.get("GET", "/app.js").body == page_files.page("fleet.js")["app.js"]
    found = client.get("GET", f"{page}api/v1/now").json
    assert found["problem"] is None and len(found["agent"]["tasks"]) == 2
    answer = client.get("POST", f"{page}api/v1/alarms", {"action": "why", "id": "line 3"}).json[
        "answer"
    ]
    assert "last told" in answer


def test_nobody_comes_in_by_a_board_and_a_guest_only_looks(server, fleet):
    stranger = Client(server)
    answer = stranger("POST", "/pair", {"code": server.access.code})
    # The pages of the boards are below, and have the same session.
    # A browser keeps the session of another `tenner web` on this port beside it.
    assert answer.headers["set-cookie"].partition("=")[0] != COOKIE
    assert {"Path=/", "HttpOnly", "SameSite=strict"} <= set(
        answer.headers["set-cookie"].split("; ")
    )
    guest = Client(server).pair(server.access.guest_code)
    assert guest("GET", "/session").json["guest"] is True
    assert guest("GET", "/fleet").status == 200
    for path, known_methods in DOCUMENT["paths"].items():
        for method, operation in known_methods.items():
            if operation.get("security") != []:
                assert stranger(method.upper(), path).status == 401, path
    base = f"/boards/{fleet.id('attic')}/api/v1"
    for method, path, changes in operations():
        if path not in ("/pair", "/openapi.json"):
            answer = stranger.get(method, base + path, {} if method != "GET" else None)
            assert answer.status == 401, path
        if changes:
            answer = guest.get(method, base + path, {})
            assert answer.status == 403 and "only look" in answer.json["error"], path
    foreign = guest.get("GET", f"{base}/session", headers={"Origin": "http://evil.example"})
    assert foreign.status == 403
    for path in (
        "/boards/",
        "/boards/x/",
        f"/boards/{fleet.id('attic')}/../../x",
        "/boards/%2e%2e/app.js",
    ):
        assert guest.get("GET", path).status == 404, path


def test_a_board_without_network_is_offline_and_the_broker_may_be_away(client, fleet, capfd):
    fleet.boards["cellar"].board.wifi(False)
    wait_tile(client, "tenner/cellar", lambda tile: tile["status"] == "offline")
    fleet.boards["cellar"].board.wifi(True)
    wait_tile(client, "tenner/cellar", lambda tile: tile["status"] == "online")
    fleet.broker.stop()
    end = time.monotonic() + LIMIT_S
    while client("GET", "/fleet").json["connected"] and time.monotonic() < end:
        time.sleep(0.05)
    assert client("GET", "/fleet").json["connected"] is False
    assert set(tiles(client)) == {"tenner/attic", "tenner/cellar"}
    assert "Traceback" not in "".join(capfd.readouterr())
    fleet.broker.start()
    wait_tile(client, "tenner/attic", lambda tile: client("GET", "/fleet").json["connected"])


def test_what_a_broker_says_is_bounded_and_plain():
    changed = []
    watch = FleetWatch(None, "tenner", changed.append)
    for topic, data in (
        (
            "tenner/a/state",
            b'{"name": "x\\u0007y", "up_s": "long", "heap_free": 1e999, "version": 5}',
        ),
        ("tenner/a/state", b"[1]"),
        ("tenner/a/state", b"{"),
        ("tenner/a/sensor/room", b'{"t": 21.5, "bad": "hot", "nan": NaN, "ok": true}'),
        ("tenner/a/status", b"\xff<b>"),
        ("tenner/b/alert", b"fire"),
    ):
        watch._take(Message(topic, data))
    (found,) = (watch.find(topic).as_json() for topic in watch.topics())
    assert "\x07" not in found["name"] and found["status"] == "unknown"
    assert found["up_s"] is found["heap_free_kb"] is found["version"] is None
    assert found["sensors"] == [
        {"name": "room.ok", "unit": "", "value": 1.0},
        {"name": "room.t", "unit": "", "value": 21.5},
    ]
    for number in range(1000):
        watch._take(Message(f"tenner/n{number}/status", b"online", True))
    assert len(watch.topics()) == 500
    # The last will comes when a board is gone, and an old message says nothing of now.
    assert watch.find("tenner/n1").seen is None


def test_the_longest_pause_is_that_since_the_board_is_online():
    watch = FleetWatch(None, "tenner", lambda topic: None)
    watch._take(Message("tenner/a/status", b"online", True))
    watched = watch.find("tenner/a")
    for now in (1000, 1060, 1180, 1200):
        watched.hear(now)
    assert (watched.as_json()["pause_s"], watched.seen) == (120, 1200)
    watch._take(Message("tenner/a/status", b"offline"))
    watch._take(Message("tenner/a/status", b"online", True))
    # The time without the board is no pause.
    watched.hear(9000)
    watched.hear(9010)
    assert (watched.pause_s, watched.seen) == (10, 9010)


def test_a_page_of_a_fleet_needs_a_broker():
    assert "which broker?" in tenner("fleet", "web", "--listen", "0", code=1)
    said = tenner("fleet", "web", "--host", "localhost", "--port", "1", code=1)
    assert "there is no broker at localhost:1" in said


def test_the_document_names_every_route(server):
    described = {
        (method.upper(), f"/api/v1{path}")
        for path, known_methods in DOCUMENT["paths"].items()
        for method in known_methods
    }
    routes = {
        (method, route.path) for route in server.site.api for method in route.methods - {"HEAD"}
    }
    assert described == routes
    found = Client(server)("GET", "/openapi.json").json
    cookie = found["components"]["securitySchemes"].pop("cookie")
    assert cookie["name"] == f"tenner_fleet_{server.port}"
    assert found["paths"] == DOCUMENT["paths"]


def test_the_owner_sees_the_boards_that_come_later(client, fleet):
    owner = Owner(fleet.broker)
    owner.publish("tenner/loft/status", "online", retain=True)
    tile = wait_tile(client, "tenner/loft", bool)
    assert (tile["status"], tile["page"], tile["sensors"]) == ("online", None, [])
    owner.close()
