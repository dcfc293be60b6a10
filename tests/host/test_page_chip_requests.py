"""Requests that a chip refuses, and those that change its files, in the heap of a chip; answers
fit the document that describes the API."""

import pytest

from tests.host import page_home, test_web_page
from tests.host.chip_home import Client, chip_home
from tests.host.e2e import PASSWORD

BETTER = "# Heartbeat\n\n- (every 1s; when room.temperature > 10; notify) It is warm.\n"


class Checked(test_web_page.Checked, Client):
    """A client of a chip that compares each answer with the document."""


@pytest.fixture(scope="module")
def home(micropython32):
    with chip_home(
        interpreter=micropython32,
        heartbeat=page_home.HEARTBEAT,
        changes={"name": "kitchen"},
    ) as made:
        yield made


@pytest.fixture(scope="module")
def client(home):
    return Checked(home).pair()


#: (method, path, body, status of the answer, words of its sentence)
REFUSED = [
    ("POST", "/chat", b"{", 400, "must be JSON"),
    ("POST", "/chat", {"text": " "}, 400, "text is empty"),
    ("POST", "/chat", {"text": 5}, 400, "text must be a text"),
    ("POST", "/chat", {"text": "hello\x03"}, 400, "control character"),
    ("POST", "/chat/answer", {"yes": "true"}, 400, "yes must be true or false"),
    ("POST", "/alarms", {"action": "dance", "id": "line 3"}, 400, "action must be one of"),
    ("POST", "/tasks/run", {"line": "4"}, 400, "line must be the number"),
    ("GET", "/readings?hours=nan", None, 400, "hours"),
    ("GET", "/readings?hours=x", None, 400, "hours"),
    ("POST", "/heartbeat/check", {"text": "x" * 9000}, 413, "8 KB"),
    ("PUT", "/heartbeat", {"text": ""}, 400, "version must be a text"),
    ("PUT", "/heartbeat", {"text": BETTER, "version": "0" * 32}, 409, "meanwhile"),
    ("POST", "/chat/answer", {"yes": True}, 409, "asks nothing now"),
    ("POST", "/heartbeat/replay", {"text": BETTER}, 404, "tenner web"),
    ("PATCH", "/settings", {"changes": {}}, 400, "changes must be an object"),
    ("PATCH", "/settings", {"changes": {"name": 5}}, 400, "every value must be a text"),
    ("PATCH", "/settings", {"changes": {"llm.api_key": "x"}}, 422, "is a secret"),
    ("PATCH", "/settings", {"changes": {"nmae": "x"}}, 422, "did you mean name?"),
    ("PATCH", "/settings", {"changes": {"llm.timeout_s": "1"}}, 422, "llm.timeout_s: must be"),
    ("POST", "/pair", {"code": "AAAA"}, 403, "this is not the code"),
]


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "words"), REFUSED, ids=range(len(REFUSED))
)
def test_a_refused_request_is_a_sentence(client, method, path, body, status, words):
    answer = client(method, path, body)
    assert answer.status == status, answer.body
    assert set(answer.json) == {"error"} and words in answer.json["error"]


def test_unknown_paths_and_methods_are_sentences(home, client):
    for method, path, status in (("GET", "/nothing", 404), ("PUT", "/now", 405)):
        answer = Client.__call__(client, method, path)
        assert answer.status == status and set(answer.json) == {"error"}
    answer = Checked(home)("GET", "/now")
    assert answer.status == 401 and "/web" in answer.json["error"]


def test_a_text_is_written_and_read_by_the_agent(home, client):
    found = client("GET", "/heartbeat").json
    assert found["text"] == page_home.HEARTBEAT and found["problems"] == []
    kinds = [(one["line"], one["kind"]) for one in found["readings"]]
    assert kinds in ([(3, "alarm"), (4, "timed")], [])
    answer = client("PUT", "/heartbeat", {"text": BETTER, "version": found["version"]})
    assert answer.status == 200 and answer.json["text"] == BETTER, answer.body
    home.bench.wait_told("It is warm.")
    assert client("GET", "/heartbeat").json["text"] == BETTER


def test_settings_are_shown_without_secrets_and_changed(home, client):
    rows = {one["key"]: one for one in client("GET", "/settings").json["settings"]}
    assert rows["name"]["value"] == '"kitchen"' and rows["llm.api_key"]["value"] == "***"
    assert rows["wifi.password"]["value"] == "***"
    changes = {"name": "cellar", "heartbeat.active_hours": "", "budget.tokens_per_day": "5000"}
    answer = client("PATCH", "/settings", {"changes": changes})
    assert answer.status == 200 and answer.json["agent"]["running"]
    home.bench.wait_for("is open")
    # The session outlives the reset of the board.
    answer = client("GET", "/settings")
    assert PASSWORD.encode() not in answer.body
    after = {one["key"]: one["value"] for one in answer.json["settings"]}
    before = {key: one["value"] for key, one in rows.items()}
    assert after == {**before, "name": '"cellar"', "budget.tokens_per_day": "5000"}
    assert client("GET", "/session").json["board"]["name"] == "cellar"


def test_the_agent_has_no_complaints(home):
    assert "Traceback" not in home.bench.log and "failed" not in home.bench.log


def test_a_folder_in_place_of_the_chats_file_keeps_nobody_from_the_chat(micropython32):
    files = {"/state/page.jsonl/x": b""}
    with chip_home(interpreter=micropython32, files=files) as home:
        assert Client(home).pair()("GET", "/chat").status == 200
        said = "state/page.jsonl was not a file: I saved it as page.jsonl.bad."
        assert said in home.bench.log
        home.bench.echo("still here")
