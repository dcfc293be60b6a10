"""`tenner web` and the files of a board: readings, HEARTBEAT.md, settings."""

import csv
import io
import time

import pytest

from tenner.sensors.ring import Ring
from tenner_host.sensors.ring import Series
from tenner_host.setup import settings
from tenner_host.web.now import in_owners_order, sparks
from tests.host.e2e import QUIET, agent_board
from tests.host.test_web_page import Checked
from tests.host.web_client import served

BETTER = "# Heartbeat\n\n- (every 1s; when room.temperature > 10; notify) It is warm.\n"


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    folder = tmp_path_factory.mktemp("state")
    ring = Ring(str(folder / "readings"), 32768)
    for minute in range(180, 0, -5):
        ring.keep(int(time.time()) - minute * 60, [("room.temperature", 20 + minute / 64)])
    files = {f"/state/{one.name}": one.read_bytes() for one in folder.iterdir()}
    with agent_board(heartbeat=QUIET, files=files, changes={"name": "kitchen"}) as made:
        yield made.ready()


@pytest.fixture(scope="module")
def client(bench):
    with served(bench.board.pty) as server:
        yield Checked(server).pair()


@pytest.fixture
def read(client):
    """The client, after it has read the board's files."""
    if client("GET", "/readings").status == 422:
        client("POST", "/files/read", {})
    return client


def test_files_are_read_on_request_only(client, bench):
    boots = bench.board.status()["boots"]
    for path in ("/readings", "/readings.csv", "/heartbeat", "/settings"):
        answer = client("GET", path)
        assert answer.status == 422 and "not read yet" in answer.json["error"]
    assert bench.board.status()["boots"] == boots
    found = client("POST", "/files/read", {}).json
    assert found["files_at"] and found["board"]["name"] == "kitchen"
    bench.ready()
    now = client("GET", "/now").json
    assert now["problem"] is None and now["files_at"] == found["files_at"]


def test_values_come_in_the_owners_order_and_old_ones_are_marked():
    series = [Series(name, [1000], [1.0]) for name in ("a.b", "job.x", "z.y", "z.a")]
    ordered = in_owners_order(series, b'{"z": {}, "a": {}}')
    assert [one.name for one in ordered] == ["z.a", "z.y", "a.b", "job.x"]
    assert [one.name for one in in_owners_order(series, b"{")] == ["a.b", "job.x", "z.a", "z.y"]
    (fresh,) = sparks(series[:1], 1600, 300)
    (old,) = sparks(series[:1], 1601, 300)
    assert "old" not in fresh and old["old"] is True
    for value, wanted in (("10m", 600), (15, 900), ("x", 300)):
        assert settings.seconds({"sensors": {"every": value}}, "sensors.every") == wanted
    assert settings.seconds({}, "sensors.every") == 300


def test_readings_come_as_points_and_as_csv(read):
    (series,) = read("GET", "/readings?hours=1").json["series"]
    assert (series["name"], series["unit"]) == ("room.temperature", "°C")
    assert 0 < len(series["points"]) < 30
    rows = list(csv.reader(io.StringIO(read("GET", "/readings.csv?name=room").body.decode())))
    assert rows[0] == ["time", "name", "value"] and len(rows) > len(series["points"])
    assert rows[1][1] == "room.temperature" and float(rows[1][2]) == 20 + 180 / 64
    assert read("GET", "/readings?name=cellar").json["series"] == []
    for hours in ("0", "-1", "nan", "x", "1e9"):
        assert read("GET", f"/readings?hours={hours}").status == 400


def test_a_text_is_checked_by_the_firmware_as_it_is_typed(client):
    found = client("POST", "/heartbeat/check", {"text": "- (evry 5m) Look.\n"}).json
    assert [one["line"] for one in found["problems"]] == [1]
    (reading,) = found["readings"]
    assert reading["kind"] == "off" and "evry" in reading["text"]
    assert client("POST", "/heartbeat/check", {"text": BETTER}).json["problems"] == []


def test_a_wrong_name_is_told_by_the_sensors_of_the_board(read):
    text = (
        "- (when rom.temperature > 30; notify) Hot.\n- (when room.temperature > 30; notify) Hot."
    )
    found = read("POST", "/heartbeat/check", {"text": text}).json
    assert [one["line"] for one in found["problems"]] == [1]
    assert 'did you mean "room.temperature"' in found["problems"][0]["text"]
    assert [one["kind"] for one in found["readings"]] == ["off", "alarm"]
    assert "room.temperature" in found["names"]
    assert "room.temperature" in read("GET", "/heartbeat").json["names"]
    (reading,) = read("POST", "/heartbeat/check", {"text": "- (every 5m) Look."}).json["readings"]
    assert reading["calls_per_day"] == 288


def test_a_replay_says_what_a_text_would_do(read):
    found = read("POST", "/heartbeat/replay", {"text": BETTER}).json
    assert [(one["kind"], one["text"]) for one in found["messages"]][:1] == [
        ("alarm", "It is warm. room.temperature 22.81 °C (limit 10)")
    ]
    assert found["model_calls"] == 0


def test_settings_are_shown_without_secrets_and_changed(read, bench):
    answer = read("GET", "/settings")
    rows = {one["key"]: one for one in answer.json["settings"]}
    assert rows["name"]["value"] == '"kitchen"'
    for key in ("llm.api_key", "telegram.token", "wifi.password"):
        assert rows[key]["secret"] and rows[key]["value"] in ("***", None)
    answer = read("PATCH", "/settings", {"changes": {"name": "cellar"}})
    assert answer.json["agent"]["running"], answer.body
    bench.ready()
    read("POST", "/files/read", {})
    rows = {one["key"]: one for one in read("GET", "/settings").json["settings"]}
    assert rows["name"]["value"] == '"cellar"'
    # The other settings stay, secrets too.
    assert rows["telegram.token"]["value"] == "***"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"llm.api_key": "x"}, "is a secret"),
        ({"nmae": "x"}, "did you mean name?"),
        ({"llm.timeout_s": "1"}, "llm.timeout_s: must be"),
    ],
)
def test_a_wrong_setting_changes_nothing(client, changes, words):
    answer = client("PATCH", "/settings", {"changes": changes})
    assert answer.status == 422 and words in answer.json["error"], answer.body


def test_a_file_is_written_unless_the_agent_changed_it(client, bench):
    client("POST", "/files/read", {})
    found = client("GET", "/heartbeat").json
    assert found["text"] == QUIET and found["problems"] == []
    stale = {"text": BETTER, "version": "0" * 32}
    assert "meanwhile" in client("PUT", "/heartbeat", stale).json["error"]
    answer = client("PUT", "/heartbeat", {"text": BETTER, "version": found["version"]})
    assert answer.status == 200 and answer.json["text"] == BETTER
    bench.wait_told("It is warm")


def test_a_board_at_its_prompt_is_a_sentence_and_its_files_are_read(client, bench):
    bench.board.type("\x03")
    bench.wait_for(">>> ")
    client.server.state.agent = None
    problem = client("GET", "/now").json["problem"]
    assert "the agent does not run" in problem, problem
    assert client("POST", "/files/read", {}).status == 200
