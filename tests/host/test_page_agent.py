"""An agent of Linux that serves its own page: each request of the API on each interpreter. The
answers fit the document that describes them, and those of `tenner web`."""

import csv
import gzip
import http.client
import io
import json
import time

import pytest

from tenner.sensors.ring import Ring
from tenner_host import page_files, tenner_version
from tenner_sim import LIMIT_S
from tenner_sim.services import Step
from tests.host import page_home
from tests.host.e2e import agent_board
from tests.host.guests import check_guest
from tests.host.test_web_page import DOCUMENT, Checked
from tests.host.web_client import Client, served

BETTER = "# Heartbeat\n\n- (every 1s; when room.temperature > 10; notify) It is warm.\n"


def ring_files(folder):
    ring = Ring(str(folder / "readings"), 32768)
    for minute in range(180, 0, -5):
        ring.keep(int(time.time()) - minute * 60, [("room.temperature", 20 + minute / 64)])
    return {f"state/{one.name}": one.read_bytes() for one in folder.iterdir()}


@pytest.fixture(scope="module")
def libs(tmp_path_factory):
    return tmp_path_factory.mktemp("lib")


@pytest.fixture(scope="module", params=page_home.INTERPRETERS)
def home(request, tmp_path_factory, libs):
    argv = page_home.argv_of(request, request.param)
    lib = page_home.lib_of(libs, request.param)
    files = ring_files(tmp_path_factory.mktemp("ring"))
    with page_home.home(tmp_path_factory.mktemp("home"), argv, lib, files=files) as made:
        made.interpreter = request.param
        yield made.open()


@pytest.fixture(scope="module")
def client(home):
    return Checked(home).pair()


def raw(home, method, path, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", home.port, timeout=LIMIT_S)
    connection.request(method, path, headers=headers)
    answer = connection.getresponse()
    data = answer.read()
    connection.close()
    return answer, data


def test_the_page_comes_whole_compressed_and_once(home):
    for name, expected in {**page_files.page(), "": page_files.page()["index.html"]}.items():
        answer, data = raw(home, "GET", f"/{name}", **{"Accept-Encoding": "gzip"})
        assert answer.status == 200 and gzip.decompress(data) == expected, name
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        again = {"If-None-Match": answer.headers["etag"], "Accept-Encoding": "gzip"}
        answer, data = raw(home, "GET", f"/{name}", **again)
        assert (answer.status, data) == (304, b"")
    assert raw(home, "GET", "/app.js")[0].status == 406
    assert raw(home, "POST", "/app.js")[0].status == 405
    answer, data = raw(home, "GET", "/api/v1/openapi.json", **{"Accept-Encoding": "gzip"})
    assert json.loads(gzip.decompress(data)) == DOCUMENT


@pytest.mark.parametrize(
    "path",
    [
        "/../config.json",
        "/%2e%2e/config.json",
        "/..%2fconfig.json",
        "/config.json",
        "/openapi.json",
        "/app.js/",
        "/app.js%00",
        "/./app.js",
        "/.app.js",
        "//app.js",
        "/\\..\\config.json",
        "/etc/passwd",
        "/page/app.js",
        "/app.js.gz",
        "/data.pack",
        "/store/config.tsv",
    ],
)
def test_no_path_leads_out_of_the_page(home, path):
    answer, data = raw(home, "GET", path, **{"Accept-Encoding": "gzip"})
    assert answer.status == 404 and set(json.loads(data)) == {"error"}


def test_every_route_of_the_document_is_there_and_closed(home):
    stranger = Client(home)
    for path, operations in DOCUMENT["paths"].items():
        for method, operation in operations.items():
            if operation.get("security") != []:
                answer = stranger(method.upper(), path, {} if method != "get" else None)
                assert answer.status == 401, (method, path, answer.body)
    assert stranger("GET", "/nothing").status == 404
    assert stranger("PUT", "/now").status == 405


def test_the_cookie_is_for_browsers_of_this_page_only(home):
    answer = Client(home)("POST", "/pair", {"code": home.access.code})
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie and "SameSite=strict" in cookie and "Path=/api/v1" in cookie


def test_foreign_pages_get_nothing_even_with_a_session(client):
    for headers, status in (
        ({"Host": "evil.example"}, 421),
        ({"Host": f"rebound.example:{client.port}"}, 421),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "http://127.0.0.1:1"}, 403),
        ({"Sec_Fetch_Site": "same-site"}, 403),
    ):
        for path in ("/session", "/openapi.json"):
            answer = Client.__call__(client, "GET", path, **headers)
            assert answer.status == status and set(answer.json) == {"error"}, headers
    assert client("GET", "/session").status == 200


def test_now_has_the_state_the_tasks_and_the_sensors(client):
    found = client("GET", "/now").json
    assert found["agent"]["status"]["failing"] == []
    assert found["problem"] is None and found["board"]["name"] == "kitchen"
    agent = found["agent"]
    assert agent["status"]["version"] == tenner_version()
    assert [(one["line"], one.get("condition")) for one in agent["tasks"]] == [
        (3, "room.temperature > 30"),
        (4, None),
    ]
    (sensor,) = found["sensors"]
    assert (sensor["name"], sensor["unit"]) == ("room.temperature", "°C")
    # The readings are of three hours, and a day has 34 points.
    assert 4 < len(sensor["points"]) <= 36


def test_a_log_line_is_an_event(client, home):
    last = client("GET", "/log").json["last_event"]
    home.set(22)
    client("POST", "/tasks/run", {"line": 4})
    with client.events(last) as events:
        line = next(one for one in events if one["type"] == "log" and one["area"] == "heartbeat")
    assert line["when"] and line["text"]
    with client.events(line["id"] - 1) as events:
        assert next(events)["id"] == line["id"]


def test_a_chat_is_answered_and_outlives_a_reload(client):
    before = client("GET", "/log").json["last_event"]
    assert client("POST", "/chat", {"text": "say: hello\nthere"}).status == 202
    with client.events(before) as events:
        # The answer of a test before may come yet.
        said = next(
            one["message"]
            for one in events
            if one["type"] == "chat" and one["message"]["text"].startswith("hello there")
        )
    assert said["who"] == "agent" and not said["failed"], said
    found = client("GET", "/chat").json
    assert [one["who"] for one in found["messages"]][-2:] == ["you", "agent"]
    assert not found["waiting"]
    assert client("POST", "/chat", {"text": "hello\x03"}).status == 400


def test_an_answer_is_seen_while_it_is_written(client, home):
    home.services.model.plan([Step(piece_delay_ms=60)])
    before = client("GET", "/log").json["last_event"]
    story = "one more line of a long story, " * 12
    client("POST", "/chat", {"text": "say: " + story})
    drafts = []
    with client.events(before) as events:
        for one in events:
            if one["type"] == "draft":
                drafts.append(one["text"])
            elif one["type"] == "chat" and one["message"]["who"] == "agent":
                answer = one["message"]["text"]
            if drafts and drafts[-1] == "":
                # It is over, and the answer is there.
                break
    assert answer.startswith(story.strip())
    assert len(drafts) > 3 and sorted(drafts[:-1], key=len) == drafts[:-1]
    assert [text for text in drafts if not answer.startswith(text)] == []


def test_the_tools_of_a_turn_are_in_its_message(client):
    before = client("GET", "/log").json["last_event"]
    client("POST", "/chat", {"text": 'call sensor {"action": "read", "name": "room"}'})
    with client.events(before) as events:
        said = next(
            one["message"]
            for one in events
            if one["type"] == "chat" and one["message"]["who"] == "agent"
        )
    (tool,) = said["tools"]
    assert tool["call"].startswith("sensor read,") and "temperature" in tool["result"]
    assert client("GET", "/chat").json["messages"][-1]["tools"] == [tool]
    client("POST", "/chat", {"text": "say: without"})
    with client.events(client("GET", "/log").json["last_event"] - 1) as events:
        said = next(
            one["message"]
            for one in events
            if one["type"] == "chat" and one["message"]["text"].startswith("without")
        )
    assert "tools" not in said


def test_a_question_of_the_agent_is_answered_here(client):
    before = client("GET", "/log").json["last_event"]
    client("POST", "/chat", {"text": 'call write_file {"path": "tools/x.py", "content": "1"}'})
    with client.events(before) as events:
        next(one for one in events if one["type"] == "question")
        assert client("POST", "/chat", {"text": "and?"}).status == 409
        assert "tools/x.py" in client("GET", "/chat").json["question"]
        assert client("POST", "/chat/answer", {"yes": False}).status == 202
        said = next(
            one["message"]["text"]
            for one in events
            if one["type"] == "chat" and one["message"]["who"] == "agent"
        )
    assert "not approved" in said
    assert client("POST", "/chat/answer", {"yes": True}).status == 409


def test_an_alarm_is_seen_acknowledged_muted_and_explained(client, home):
    last = client("GET", "/log").json["last_event"]
    home.set(31.5)
    with client.events(last) as events:
        told = next(one for one in events if one["type"] == "chat")
    assert told["message"]["text"] == "kitchen: It is 31.5 °C in the room. (limit 30)"
    task = client("GET", "/now").json["agent"]["tasks"][0]
    assert task["state"].startswith("active since") and task["alarm"] is not None
    act = {"id": str(task["alarm"])}
    answer = client("POST", "/alarms", {"action": "ack", **act}).json["answer"]
    assert answer.startswith(
        'kitchen: Acknowledged: "It is 31.5 °C in the room."; room.temperature'
    )
    found = client("GET", "/now").json
    assert found["agent"]["tasks"][0]["state"].startswith("acknowledged")
    assert found["sensors"][0]["value"] == 31.5
    mute = {"action": "mute", "id": "line 3", "duration": "2h"}
    assert client("POST", "/alarms", mute).json["answer"].startswith("kitchen: Muted for 2 h")
    why = client("POST", "/alarms", {"action": "why", "id": "line 3"}).json["answer"]
    assert "last told" in why
    unmute = {"action": "unmute", "id": "line 3"}
    assert "Not muted" in client("POST", "/alarms", unmute).json["answer"]
    assert client("POST", "/alarms", {"action": "why; rm", "id": "3"}).status == 400


def test_readings_come_as_points_and_as_csv(client):
    (series,) = client("GET", "/readings?hours=1").json["series"]
    assert (series["name"], series["unit"]) == ("room.temperature", "°C")
    assert 5 < len(series["points"]) < 30
    rows = list(csv.reader(io.StringIO(client("GET", "/readings.csv?name=room").body.decode())))
    assert rows[0] == ["time", "name", "value"] and len(rows) > len(series["points"])
    assert rows[1][1] == "room.temperature" and float(rows[1][2]) == 20 + 180 / 64
    at = time.strptime(rows[1][0], "%Y-%m-%dT%H:%M:%SZ")
    assert abs(time.mktime(at) - time.mktime(time.gmtime()) + 180 * 60) < 600
    assert client("GET", "/readings?name=cellar").json["series"] == []
    for hours in ("0", "-1", "nan", "x", "1e9"):
        assert client("GET", f"/readings?hours={hours}").status == 400


def test_a_text_is_checked_and_written_unless_the_agent_changed_it(client, home):
    found = client("POST", "/heartbeat/check", {"text": "- (evry 5m) Look.\n"}).json
    assert [one["line"] for one in found["problems"]] == [1]
    (reading,) = found["readings"]
    assert reading["kind"] == "off" and "evry" in reading["text"]
    found = client("POST", "/heartbeat/check", {"text": "- (every 5m) Look.\n"}).json
    assert found["readings"][0]["calls_per_day"] == 288
    found = client("GET", "/heartbeat").json
    assert found["text"] == page_home.HEARTBEAT and found["problems"] == []
    stale = {"text": BETTER, "version": "0" * 32}
    assert "meanwhile" in client("PUT", "/heartbeat", stale).json["error"]
    answer = client("PUT", "/heartbeat", {"text": BETTER, "version": found["version"]})
    assert answer.status == 200 and answer.json["text"] == BETTER
    assert (home.root / "workspace" / "HEARTBEAT.md").read_text() == BETTER
    home.wait_for(r"HEARTBEAT.md: 1 tasks")
    answer = client("POST", "/heartbeat/replay", {"text": BETTER})
    assert answer.status == 404 and "tenner web" in answer.json["error"]
    assert client("GET", "/session").json["offers"] == ["sensors"]


def test_settings_are_shown_without_secrets_and_changed(client, home):
    answer = client("GET", "/settings")
    rows = {one["key"]: one for one in answer.json["settings"]}
    assert rows["name"]["value"] == '"kitchen"' and rows["name"]["about"] == "name of the agent"
    assert rows["llm.api_key"]["secret"] and rows["llm.api_key"]["value"] == "***"
    before = json.loads((home.root / "config.json").read_text())
    assert before["llm"]["api_key"].encode() not in answer.body
    for changes, words in (
        ({"llm.api_key": "x"}, "is a secret"),
        ({"nmae": "x"}, "did you mean name?"),
        ({"llm.timeout_s": "1"}, "llm.timeout_s: must be"),
        ({"power.mode": "sleep"}, "deep sleep"),
        ({"name": "x", "i2c.a.scl": "1"}, "device tree"),
    ):
        answer = client("PATCH", "/settings", {"changes": changes})
        assert answer.status == 422 and words in answer.json["error"], answer.body
    assert json.loads((home.root / "config.json").read_text()) == before
    assert not (home.root / "config.json.new").exists()
    (home.root / "config.json").chmod(0o600)
    changes = {"name": "cellar", "heartbeat.active_hours": "", "budget.tokens_per_day": "5000"}
    answer = client("PATCH", "/settings", {"changes": changes})
    assert answer.json["agent"]["running"], answer.body
    # As under an init system, the agent ends and is started again.
    assert home.process.wait(LIMIT_S) == 0
    found = json.loads((home.root / "config.json").read_text())
    assert found == {**before, "name": "cellar", "budget": {"tokens_per_day": 5000}}
    if home.interpreter == "cpython":
        # Under MicroPython the umask of the service decides.
        assert (home.root / "config.json").stat().st_mode & 0o777 == 0o600
    home.process.stdin.close()
    home.start().open()
    # The session outlives it.
    assert client("GET", "/session").json["board"]["name"] == "cellar"


def test_a_guest_looks_and_does_nothing(client, home):
    before = {one: one.read_bytes() for one in home.root.rglob("*.*") if one.is_file()}
    guest = Checked(home).pair(home.guest_code)
    check_guest(guest, client)
    for name in ("config.json", "workspace/HEARTBEAT.md"):
        assert (home.root / name).read_bytes() == before[home.root / name]
    # No code for others in a chat that guests read.
    last = client("GET", "/log").json["last_event"]
    client("POST", "/chat", {"text": "/web"})
    with client.events(last) as events:
        said = next(
            one["message"]["text"]
            for one in events
            if one["type"] == "chat" and one["message"]["who"] == "agent"
        )
    assert said == "Guests read this chat: send it on the console or on Telegram."
    assert guest("DELETE", "/session").status == 204
    assert guest("GET", "/session").status == 401


def test_the_update_is_the_business_of_a_computer(client):
    found = client("GET", "/update").json
    assert found == {"board_version": tenner_version(), "computer_version": None}
    assert "tenner deploy" in client("POST", "/update", {}).json["answer"]


def test_an_ended_session_ends_its_stream(home):
    other = Checked(home).pair()
    with other.events() as events:
        assert other("DELETE", "/session").status == 204
        home.type("say: goodbye")
        for _ in events:
            pass
    assert other("GET", "/session").status == 401


def shape(value):
    """The kinds of a JSON value's parts; lists are those of all entries together."""
    if isinstance(value, dict):
        return {key: shape(one) for key, one in value.items()}
    if isinstance(value, list):
        return [merged([shape(one) for one in value])] if value else []
    return (
        "number"
        if isinstance(value, int | float) and not isinstance(value, bool)
        else type(value).__name__
    )


def merged(shapes):
    if all(isinstance(one, dict) for one in shapes):
        keys = {key for one in shapes for key in one}
        return {key: merged([one[key] for one in shapes if key in one]) for key in keys}
    if all(isinstance(one, list) for one in shapes):
        inner = [one[0] for one in shapes if one]
        return [merged(inner)] if inner else []
    return sorted({str(one) for one in shapes})


#: (method, path, body): in this order both servers answer them.
ASKED = [
    ("POST", "/files/read", {}),
    ("GET", "/session", None),
    ("GET", "/now", None),
    ("GET", "/update", None),
    ("GET", "/chat", None),
    ("POST", "/alarms", {"action": "why", "id": "line 3"}),
    ("POST", "/alarms", {"action": "dance", "id": "line 3"}),
    ("POST", "/tasks/run", {"line": 4}),
    ("POST", "/tasks/run", {"line": "4"}),
    ("POST", "/chat", {"text": " "}),
    ("POST", "/chat", {"text": 5}),
    ("POST", "/chat", b"{"),
    ("POST", "/chat/answer", {"yes": True}),
    ("POST", "/chat/answer", {"yes": "true"}),
    ("GET", "/log", None),
    ("GET", "/readings?hours=2", None),
    ("GET", "/readings?hours=x", None),
    ("GET", "/heartbeat", None),
    ("PUT", "/heartbeat", {"text": "", "version": "1"}),
    ("POST", "/heartbeat/check", {"text": "- (evry 5m) Look."}),
    ("POST", "/heartbeat/check", {"text": "x" * 20000}),
    ("POST", "/heartbeat/check", b"x" * 70000),
    ("GET", "/settings", None),
    ("PATCH", "/settings", {"changes": {"nmae": "x"}}),
    ("PATCH", "/settings", {"changes": {}}),
    ("POST", "/pair", {"code": "AAAA"}),
    ("DELETE", "/session", None),
    ("GET", "/now", None),
]
#: Parts that the two homes have differently, as the document says; the computer knows the runs
#: of its last reading of the files.
OWN = {"computer_version", "offers", "telegram", "label", "names", "runs"}


def without(value):
    if isinstance(value, dict):
        return {key: without(one) for key, one in value.items() if key not in OWN}
    return [without(one) for one in value] if isinstance(value, list) else value


def same_answers(clients, method, path, body):
    """Ask both, and once more while one of them has too little state yet."""
    until_s = time.monotonic() + LIMIT_S
    while True:
        answers = [client(method, path, body) for client in clients]
        assert answers[0].status == answers[1].status, (path, [one.body for one in answers])
        shapes = [without(shape(one.json)) if one.body else None for one in answers]
        if shapes[0] == shapes[1]:
            return
        assert method == "GET" and time.monotonic() < until_s, (path, shapes)


def test_both_servers_of_the_page_answer_alike(tmp_path, libs):
    (tmp_path / "ring").mkdir()
    files = ring_files(tmp_path / "ring")
    heartbeat = page_home.HEARTBEAT
    argv = (page_home.sys.executable,)
    changes = {"telegram.token": None, "telegram.owner": None, "name": "kitchen"}
    with (
        agent_board(
            heartbeat=heartbeat, files={f"/{k}": v for k, v in files.items()}, changes=changes
        ) as bench,
        page_home.home(
            tmp_path / "home", argv, page_home.lib_of(libs, "cpython"), files=files
        ) as home,
    ):
        bench.ready()
        home.open()
        with served(bench.board.pty) as server:
            clients = Checked(server).pair(), Checked(home).pair()
            for method, path, body in ASKED:
                if path == "/session" and method == "GET":
                    # A board that starts again has no values yet.
                    bench.wait_for("condition met")
                same_answers(clients, method, path, body)
