"""`tenner web` on a virtual board with the whole agent: the API as a script uses it."""

import json
import re

import jsonschema
import pytest
from click.testing import CliRunner

from tenner_host import tenner_version
from tenner_host.cli import main
from tenner_host.web.access import COOKIE
from tenner_host.web.api import openapi_document
from tenner_host.web.door import PREFIX
from tests.host.e2e import agent_board
from tests.host.web_client import Client, served

HEARTBEAT = (
    "# Heartbeat\n\n- (every 1s; when room.temperature > 30 reset 28; notify) It is "
    "{room.temperature} in the room.\n- (daily 07:30) Say: good morning.\n"
)
DOCUMENT = json.loads(openapi_document())


class Checked(Client):
    """Every answer fits the document that describes the API."""

    def __call__(self, method, path, body=None, **headers):
        answer = super().__call__(method, path, body, **headers)
        operation = DOCUMENT["paths"][path.partition("?")[0]][method.lower()]
        described = operation["responses"][str(answer.status)].get("content", {})
        if "application/json" in described:
            schema = {**described["application/json"]["schema"], **_CLOSED}
            jsonschema.Draft202012Validator(schema).validate(answer.json)
        return answer


def closed(schema):
    """No field may come that is not described."""
    if isinstance(schema, dict):
        found = {key: closed(value) for key, value in schema.items()}
        if "properties" in schema:
            found.setdefault("additionalProperties", False)
        return found
    return [closed(one) for one in schema] if isinstance(schema, list) else schema


_CLOSED = {"components": closed(DOCUMENT["components"])}


@pytest.fixture(scope="module")
def bench():
    with agent_board(heartbeat=HEARTBEAT) as made:
        yield made.ready()


@pytest.fixture(scope="module")
def server(bench):
    with served(bench.board.pty) as made:
        yield made


@pytest.fixture(scope="module")
def client(server):
    return Checked(server).pair()


def test_the_document_names_every_route(server):
    described = {
        (method.upper(), PREFIX + path)
        for path, operations in DOCUMENT["paths"].items()
        for method in operations
    }
    routes = {
        (method, route.path) for route in server.site.api for method in route.methods - {"HEAD"}
    }
    assert described == routes
    found = Client(server)("GET", "/openapi.json").json
    cookie = found["components"]["securitySchemes"]["cookie"]
    assert cookie["name"] == f"tenner_session_{server.port}"
    cookie["name"] = COOKIE
    assert found == DOCUMENT


def test_now_has_the_state_and_the_tasks(client):
    found = client("GET", "/now").json
    assert found["problem"] is None and found["board"]["state"] == "connected", found
    agent = found["agent"]
    assert agent["status"]["version"] == tenner_version() and agent["status"]["network"] == "up"
    assert [(one["line"], one.get("condition")) for one in agent["tasks"]] == [
        (3, "room.temperature > 30"),
        (4, None),
    ]


def test_the_port_is_busy_for_other_commands(client, bench):
    assert client("GET", "/now").json["problem"] is None
    done = CliRunner().invoke(main, ["status", "--port", bench.board.pty])
    assert done.exit_code == 3 and "another program" in done.output, done.output


def test_a_log_line_is_an_event(client):
    with client.events() as events:
        line = next(one for one in events if one["type"] == "log" and one["area"])
    assert re.fullmatch(r"[\w.+:]+", line["when"]) and line["text"]
    # A reader that comes back gets those behind its last one.
    with client.events(line["id"] - 1) as events:
        assert next(events)["id"] == line["id"]
    assert line["id"] in [one["id"] for one in client("GET", "/log").json["lines"]]


def test_a_chat_is_answered_and_outlives_a_reload(client):
    before = client("GET", "/log").json["last_event"]
    answer = client("POST", "/chat", {"text": "say: hello\nthere"})
    assert answer.status == 202
    with client.events(before) as events:
        said = next(
            one["message"]
            for one in events
            if one["type"] == "chat" and one["message"]["who"] == "agent"
        )
    assert said["text"].startswith("hello there") and not said["failed"]
    # A page that is loaded now knows the whole conversation.
    found = client("GET", "/chat").json
    assert [one["who"] for one in found["messages"]][-2:] == ["you", "agent"]
    assert not found["waiting"]


def test_a_question_before_a_restart_is_lost_at_once(client, bench):
    before = client("GET", "/log").json["last_event"]
    assert client("POST", "/chat", {"text": "say: hello"}).status == 202
    client.server.state.chat.asked("say: hello once more")
    bench.board.reset()
    with client.events(before) as events:
        said = next(one["message"] for one in events if "restarted" in str(one.get("message")))
    assert said["who"] == "tenner" and said["failed"]
    assert not client("GET", "/chat").json["waiting"]
    bench.ready()


def test_a_line_cannot_hold_a_key_that_stops_the_agent(client, bench):
    boots = bench.board.status()["boots"]
    assert client("POST", "/chat", {"text": "hello\x03"}).status == 400
    answer = client("POST", "/alarms", {"action": "why", "id": "line 3\x03"})
    assert answer.status == 400
    assert client("POST", "/alarms", {"action": "why; rm", "id": "3"}).status == 400
    assert bench.board.status()["boots"] == boots


def test_an_alarm_is_seen_acknowledged_muted_and_explained(client, bench):
    bench.board.set("room.temperature", 31.5)
    bench.wait_told("in the room")
    client.server.state.agent = None
    (task, _) = client("GET", "/now").json["agent"]["tasks"]
    assert task["state"].startswith("active since") and task["alarm"] is not None
    act = {"id": str(task["alarm"])}
    answer = client("POST", "/alarms", {"action": "ack", **act}).json["answer"]
    assert "; room.temperature 31.5 °C (limit " in answer and answer.startswith("Acknowledged: ")
    found = client("GET", "/now").json
    assert found["agent"]["tasks"][0]["state"].startswith("acknowledged")
    assert found["sensors"][0]["name"] == "room.temperature"
    assert found["sensors"][0]["value"] == pytest.approx(31.5, abs=0.1)
    mute = {"action": "mute", "id": "line 3", "duration": "2h"}
    assert client("POST", "/alarms", mute).json["answer"].startswith("Muted for 2 h")
    assert client("GET", "/now").json["agent"]["tasks"][0]["state"].startswith("muted until")
    why = client("POST", "/alarms", {"action": "why", "id": "line 3"}).json["answer"]
    assert "last told" in why
    unmute = {"action": "unmute", "id": "line 3"}
    assert "Not muted" in client("POST", "/alarms", unmute).json["answer"]


def test_a_chip_is_found_and_becomes_a_sensor(client):
    found = client("POST", "/sensors/find", {}).json
    chips = {one["address"]: one for one in found["found"]}
    assert chips["0x48"]["sensor"] == "room" and "tmp102" in chips["0x48"]["drivers"]
    other = chips["0x44"]
    assert other["sensor"] is None and other["drivers"][0] in found["drivers"]
    settings = {"bus": other["bus"], "address": other["address"]}
    asked = {"name": "desk", "driver": "sht3x", "settings": settings}
    answer = client("POST", "/sensors", asked)
    assert answer.status == 200, answer.body
    assert answer.json["answer"].startswith("desk is a sensor now: humidity ")
    again = client("POST", "/sensors", {**asked, "driver": "sht31"})
    assert again.status == 400 and "there is a sensor desk already" in again.json["error"]
    silent = client("POST", "/sensors", {**asked, "name": "x", "settings": {"address": "0x77"}})
    assert silent.status == 400 and "no answer at 0x77" in silent.json["error"]
    for wrong in ({"settings": []}, {"name": "a b"}, {"settings": {"bus": "i2c0 x"}}):
        assert client("POST", "/sensors", {**asked, **wrong}).status == 400
    chips = {one["address"]: one for one in client("POST", "/sensors/find", {}).json["found"]}
    assert chips["0x44"]["sensor"] == "desk"
