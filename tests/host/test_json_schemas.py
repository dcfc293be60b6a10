"""Every document of `--json` fits its schema, on a running board, a silent one, without one."""

import json
import subprocess
import sys
import time

import jsonschema
import pytest
from click.testing import CliRunner

from tenner_host import ROOT
from tenner_host.cli import main as tenner
from tenner_sim import LIMIT_S
from tenner_sim.services import McpTools, Step
from tenner_sim.vboard import VirtualBoard
from tests.host.e2e import agent_board
from tests.host.json_documents import SCHEMAS, fits
from tests.host.test_cli import ALL

HEARTBEAT = (
    "- (every 5s; when room.temperature > 30; notify) It is hot.\n- (every 1h) Say: hello.\n"
)
READINGS = "2026-11-21T08:00:00Z,room.temperature,21.5\n2026-11-21T09:00:00Z,room.temperature,31\n"
READINGS += "2026-11-21T10:00:00Z,room.temperature,31\n"


@pytest.fixture(scope="module")
def bench():
    with agent_board(heartbeat=HEARTBEAT, changes={"sensors.every": "10s"}) as made:
        yield made.ready()


@pytest.fixture(scope="module")
def idle():
    """A board at its REPL: no agent runs."""
    with VirtualBoard({"/main.py": b"print('idle')\n"}) as board:
        board.wait_for("idle")
        yield board


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TENNER_SIM_DIR", str(tmp_path / "sim"))
    monkeypatch.setenv("TENNER_CONFIG", str(tmp_path / "config"))
    (tmp_path / "HEARTBEAT.md").write_text(HEARTBEAT)
    (tmp_path / "bad.md").write_text("- (evry 5s) Nonsense.\n")
    (tmp_path / "r.csv").write_text(READINGS)
    return tmp_path


def ask(name, *words, status=0):
    done = CliRunner().invoke(tenner, [*map(str, words), "--json"])
    assert done.exit_code == status, done.output
    found = fits(name, done.stdout)
    assert ("error" in found) == (status != 0), found
    if status:
        assert found["error"]["exit"] == status
    return found


def test_every_command_with_json_has_a_schema():
    named = {name.partition(" --")[0] for name in SCHEMAS}
    with_json = {
        " ".join(words)
        for words, one in ALL.items()
        if any("--json" in each.opts for each in one.params)
    }
    assert with_json == named
    for schema in SCHEMAS.values():
        jsonschema.Draft202012Validator.check_schema(schema)


def test_the_published_schemas_are_those_of_the_types():
    published = json.loads((ROOT / "docs" / "json-schemas.json").read_text())
    assert published["$defs"] == SCHEMAS


@pytest.mark.parametrize(
    "document",
    [
        {},
        [],
        {"tasks": None},
        {"tasks": [{}]},
        {"tasks": [], "more": 1},
        {"error": "a text"},
        {"error": {"message": "-", "exit": 0}},
        {"tasks": [], "error": {"message": "-"}},
    ],
    ids=str,
)
def test_a_document_that_does_not_fit_is_noticed(document):
    with pytest.raises(AssertionError):
        fits("heartbeat", json.dumps(document))


@pytest.mark.parametrize("moment", ["2026-11-21 08:30", 1790000000, "2026-11-21T08:30:00"])
def test_a_time_without_its_zone_is_noticed(moment):
    run = dict.fromkeys(("uptime_s", "due_at", "task", "job", "line", "reason", "sent"))
    run |= {"tokens": None, "tokens_estimated": False, "duration_ms": None, "result": "ran"}
    fits("logs", json.dumps({"runs": [{**run, "at": "2026-11-21T08:30:00Z"}]}))
    with pytest.raises(AssertionError):
        fits("logs", json.dumps({"runs": [{**run, "at": moment}]}))


# On a board.


def test_the_status_has_numbers_with_their_units(bench):
    deadline = time.monotonic() + LIMIT_S
    while not (found := ask("status", "status", "--port", bench.board.pty))["sensors"]:
        assert time.monotonic() < deadline, found
    assert 0 < found["heap"]["free_bytes"] < 1 << 20 and found["heap"]["used_bytes"] > 10000
    assert found["uptime_s"] > 0 and found["network_up"] is True and found["at"]
    assert found["versions"]["runtime"] == "micropython"
    states = {one["name"]: one["state"] for one in found["services"]}
    assert states["heartbeat"] == "running" and "telegram" in states, states
    (room,) = found["sensors"]
    assert (room["name"], room["value"], room["unit"]) == ("room.temperature", 21.5, "°C")
    assert 0 <= room["age_s"] < 3600


#: (schema, words, exit status), on the running agent; later ones may stop and start it.
ON_A_BOARD = [
    ("heartbeat", ["heartbeat"], 0),
    ("alarms", ["alarms"], 0),
    ("alarms", ["alarms", "mute", "line", "1"], 0),
    ("heartbeat --now", ["heartbeat", "--now"], 0),
    ("why", ["why"], 0),
    ("chat", ["chat", "say: one"], 0),
    ("logs", ["logs"], 0),
    ("sensors", ["sensors", "room"], 0),
    ("sensors", ["sensors", "nothing"], 1),
    ("setup --show", ["setup", "--show"], 0),
    ("boards", ["boards"], 0),
    ("sync", ["sync", "--dry-run"], 0),
    ("pull", ["pull"], 0),
    ("backup", ["backup", "b.zip"], 0),
    ("setup", ["setup", "--set", "name=x", "--no-test"], 0),
    ("setup", ["setup", "--set", "nonsense=1"], 1),
]


@pytest.mark.parametrize(("name", "words", "status"), ON_A_BOARD, ids=lambda one: str(one))
def test_a_board_s_documents(bench, name, words, status):
    found = ask(name, *words, "--port", bench.board.pty, status=status)
    if words == ["heartbeat"]:
        assert [one["line"] for one in found["tasks"]] == [1, 2]
        assert found["tasks"][0]["condition"].startswith("room.temperature")
    elif words == ["heartbeat", "--now"]:
        assert [one["line"] for one in found["conditions"]] == [1] and found["outcome"]
    elif words == ["why"] or name == "logs":
        assert found.get("decisions") or found.get("runs")
    elif words[-1] == "room":
        assert found["series"][0]["unit"] == "°C" and found["series"][0]["readings"]
    elif name == "setup --show":
        assert found["settings"]["sensors.every"] == "10s"
        assert "llm.api_key" in found["secrets"] and "llm.api_key" not in found["settings"]
    if name in ("logs", "sensors", "setup --show", "pull", "backup", "setup", "sync"):
        bench.board.wait_for("(pool.ntp.org)")


def test_a_backup_is_restored(bench, home):
    ask("backup", "backup", "b.zip", "--port", bench.board.pty)
    ask("restore", "restore", "b.zip", "--port", bench.board.pty)
    ask("backup", "backup", "b.zip", "--port", bench.board.pty, status=1)
    bench.ready()


def test_no_answer_of_a_model_is_an_error(bench):
    bench.model.plan([Step(status=401, times=9)])
    found = ask("chat", "chat", "say: one", "--port", bench.board.pty, status=1)
    bench.model.plan([])
    assert set(found) == {"error"}


def test_the_doctor_s_checks(bench):
    done = CliRunner().invoke(
        tenner, ["doctor", "--no-loader", "--port", bench.board.pty, "--json"]
    )
    found = fits("doctor", done.stdout)
    assert done.exit_code in (0, 7) and ("error" in found) == (done.exit_code == 7)
    bench.ready()


def test_the_live_log_is_a_document_a_line(bench):
    command = [sys.executable, "-m", "tenner_host.cli", "logs", "-f", "--json"]
    with subprocess.Popen(
        [*command, "--port", bench.board.pty],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    ) as follower:
        # A line from before it listens is nobody's: a busy machine starts it after the alarm.
        assert follower.stderr.readline().startswith("listening")
        bench.ask("say: a line for the log")
        line = follower.stdout.readline()
        follower.kill()
    assert fits("logs --follow", line)["text"]


# Without an agent, and without a board.

ASKED = [
    ("status", ["status"]),
    ("why", ["why"]),
    ("alarms", ["alarms"]),
    ("heartbeat", ["heartbeat"]),
    ("heartbeat --now", ["heartbeat", "--now"]),
    ("chat", ["chat", "say: one"]),
]


@pytest.mark.parametrize(("name", "words"), ASKED, ids=lambda one: str(one))
def test_a_dead_agent_is_an_error(idle, name, words):
    found = ask(name, *words, "--port", idle.pty, status=1)
    assert set(found) == {"error"} and "the agent does not run" in found["error"]["message"]


#: (schema, words, exit status) where no board is.
WITHOUT_A_BOARD = [
    *((name, [*words, "--sim", "nobody"], 3) for name, words in ASKED),
    ("logs", ["logs", "--sim", "nobody"], 3),
    ("logs --follow", ["logs", "-f", "--sim", "nobody"], 3),
    ("sensors", ["sensors", "--sim", "nobody"], 3),
    ("setup --show", ["setup", "--show", "--sim", "nobody"], 3),
    ("setup", ["setup", "--sim", "nobody"], 1),
    ("sync", ["sync", "--sim", "nobody"], 3),
    ("pull", ["pull", "--sim", "nobody"], 3),
    ("backup", ["backup", "--sim", "nobody"], 3),
    ("restore", ["restore", "r.csv", "--sim", "nobody"], 1),
    ("flash", ["flash", "--sim", "nobody"], 3),
    ("doctor", ["doctor", "--port", "/dev/ttyNOPE"], 7),
    ("deploy", ["deploy"], 2),
    ("deploy", ["deploy", "nobody@localhost.invalid"], 4),
    ("deploy --back", ["deploy", "--back"], 2),
    ("sd-card", ["sd-card", "r.csv"], 2),
    ("update", ["update"], 1),
    ("update", ["update", "--fleet", "x"], 2),
    ("release", ["release", "--key", "nowhere"], 2),
    ("release", ["release"], 1),
    ("release --new-key", ["release", "--new-key", "--bits", "1"], 2),
    ("fleet status", ["fleet", "status"], 1),
    ("fleet status", ["fleet", "status", "--host", "127.0.0.1", "--port", "1"], 1),
    ("mcp test", ["mcp", "test", "http://127.0.0.1:1/mcp"], 1),
    ("heartbeat --check", ["heartbeat", "--check", "bad.md"], 1),
    ("heartbeat --check", ["heartbeat", "--check", "nowhere.md"], 1),
    ("heartbeat --check", ["heartbeat", "--check", "HEARTBEAT.md"], 0),
    ("heartbeat --compile", ["heartbeat", "--compile", "nowhere.md"], 1),
    ("heartbeat --compile", ["heartbeat", "--compile", "HEARTBEAT.md"], 0),
    ("heartbeat --replay", ["heartbeat", "--replay", "HEARTBEAT.md", "--readings", "r.csv"], 0),
    ("heartbeat --replay", ["heartbeat", "--replay", "HEARTBEAT.md", "--readings", "x.csv"], 1),
    ("heartbeat", ["heartbeat", "--now", "--check"], 2),
    ("boards", ["boards"], 0),
    ("setup --keys", ["setup", "--keys"], 0),
    ("skills list", ["skills", "list"], 0),
    ("sim list", ["sim", "list"], 0),
    ("sim list", ["sim", "list", "--sim", "nobody"], 1),
]


@pytest.mark.parametrize(("name", "words", "status"), WITHOUT_A_BOARD, ids=lambda one: str(one))
def test_documents_without_a_board(name, words, status):
    found = ask(name, *words, status=status)
    if words[:2] == ["heartbeat", "--replay"] and not status:
        assert [one["kind"] for one in found["messages"]] == ["alarm"]


def test_a_release_and_its_key():
    key = ask("release --new-key", "release", "--new-key", "--bits", "2048")
    made = ask("release", "release", "x.release")
    assert made["key"] == key["id"] and made["bytes"] > 1000


def test_an_sd_card(home):
    (home / "card").mkdir()
    (home / "key.pub").write_text("ssh-ed25519 AAAA me\n")
    (home / "password").write_text("secret-word")
    words = ["sd-card", home / "card", "--key", home / "key.pub", "--force", "--ssid", "home"]
    words += ["--password-file", home / "password"]
    assert ask("sd-card", *words)["key"] is True


def test_an_mcp_server():
    with McpTools({"news": "none"}) as server:
        found = ask("mcp test", "mcp", "test", server.mcp_url)
        assert found["called"]["text"] == "none"
        ask("mcp test", "mcp", "test", server.mcp_url, "--call", "rain", status=1)


def test_a_virtual_board_of_the_simulator(idle, home, monkeypatch):
    monkeypatch.setenv("TENNER_SIM_DIR", str(idle.folder.parent))
    found = ask("sim list", "sim", "list", "--sim", idle.folder.name)
    assert found["boards"][0]["heap_free_bytes"] > 0
