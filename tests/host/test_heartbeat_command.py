"""`tenner heartbeat --check` and `--replay`: no model, and no board but for its readings."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from tenner.sensors.ring import Ring
from tenner_host.cli import main
from tenner_host.heartbeat.check import readings
from tenner_sim.vboard import VirtualBoard

FILE = """# Freezer
- (every 1m; when freezer.temperature > -12 for 5m reset -15; notify; repeat 1h) Warm: {freezer.temperature}
- (every 5m; when room.temperature > 30) Too hot: what shall I do?
- (daily 09:00; notify) Good morning.
- (evry 10m) Look.
"""  # noqa: E501
#: 2026-11-21 00:00 UTC
START = 1795219200


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "HEARTBEAT.md").write_text(FILE)
    lines = ["time,name,number"]
    for minute in range(0, 1440, 10):
        freezer = -8 if 300 < minute < 400 else -18
        room = 32 if 700 < minute < 900 else 21
        lines.append(f"{START + minute * 60},freezer.temperature,{freezer}")
        lines.append(f"2026-11-21T{minute // 60:02}:{minute % 60:02}:00Z,room.temperature,{room}")
    (tmp_path / "r.csv").write_text("\n".join(lines) + "\n")
    return tmp_path


def keep_readings(path):
    """A freezer that is warm for a while, as a board keeps it every five minutes; return the files
    by their place there."""
    path.mkdir()
    ring = Ring(str(path / "readings"), 32768)
    for minute in range(0, 1440, 5):
        freezer = -8.25 if 300 <= minute < 400 else -18
        ring.keep(
            START + minute * 60, [("freezer.temperature", freezer), ("room.temperature", 21)]
        )
    return {f"/state/{one.name}": one.read_bytes() for one in path.iterdir()}


#: The expected messages, by the file above.
TOLD = [("05:0", "alarm"), ("06:0", "repeat"), ("06:4", "end"), ("09:0", "notice")]


def kinds(output):
    return [(one["time"][11:15], one["kind"]) for one in json.loads(output)["messages"]]


def test_a_replay_takes_a_copy_of_the_state_of_a_board(folder):
    keep_readings(folder / "state")
    for place in (folder / "state", folder):
        output = tell("--replay", folder / "HEARTBEAT.md", "--readings", place, "--json")
        assert kinds(output) == TOLD
    assert json.loads(output)["messages"][0]["text"] == "Warm: -8.25 °C (limit -12)"
    (folder / "empty").mkdir()
    output = tell("--replay", folder / "HEARTBEAT.md", "--readings", folder / "empty", status=1)
    assert "has kept no readings" in output


def test_a_replay_takes_what_the_board_has_kept(folder, monkeypatch):
    monkeypatch.chdir(folder)
    files = keep_readings(folder / "kept")
    with VirtualBoard({**files, "/main.py": b"print('main runs')\nwhile True: pass\n"}) as board:
        board.wait_for("main runs")
        words = ("--replay", folder / "HEARTBEAT.md", "--port", board.pty, "--json")
        assert kinds(tell(*words)) == TOLD
        # It goes on where it was.
        board.wait_for("main runs")


def tell(*words, status=0):
    done = CliRunner().invoke(main, ["heartbeat", *map(str, words)])
    assert done.exit_code == status, done.output
    return done.output


def test_a_check_says_how_it_understands_each_line(folder):
    output = tell("--check", folder / "HEARTBEAT.md", status=1)
    assert 'line 5: off: "evry 10m": is no clause; did you mean "every 10m"?' in output
    assert "right would be: (every 10m) Look." in output
    found = json.loads(tell("--check", folder / "HEARTBEAT.md", "--json", status=1))["lines"]
    assert [(one["line"], one["kind"], one["calls_per_day"]) for one in found] == [
        (2, "alarm", 0),
        (3, "alarm", 0),
        (4, "timed", 0),
        (5, "off", 0),
    ]
    assert found[3]["problem"] and found[3]["suggestion"] == "(every 10m) Look."
    (folder / "HEARTBEAT.md").write_text("# H\n\n- (every 10m) Look.\n- Tidy up.\n  Soon.\n")
    output = tell("--check", folder / "HEARTBEAT.md")
    assert "line 3: every 10 min, asks the model: 144 calls a day." in output
    assert "48 calls a day, for all such lines together, about $0.02." in output
    assert "line 5: goes on with line 4." in output and "is understood" in output


def test_a_check_takes_the_settings_of_the_project(tmp_path):
    path = tmp_path / "workspace" / "HEARTBEAT.md"
    path.parent.mkdir()
    path.write_text("- at sunset - 30m: Close the shutters.\n- Be kind.\n")

    def found():
        return [(one["kind"], one["calls_per_day"]) for one in readings(text, path.parent)]

    text = path.read_text()
    assert found() == [("off", 0), ("beat", 48)]
    config = {"place": {"latitude": 52.5, "longitude": 13.4}, "heartbeat": {"every": "2h"}}
    (tmp_path / "config.json").write_text(json.dumps(config))
    assert found() == [("timed", 1), ("beat", 12)]


@pytest.mark.parametrize("name", ["HEARTBEAT.md", "SENSORS.json", "CRON.json"])
@pytest.mark.parametrize("code", ["utf-16", "utf-16-le", "utf-16-be"])
def test_a_check_refuses_utf_16(folder, name, code):
    (folder / name).write_text('{"jobs": []}', encoding=code)
    output = tell("--check", folder / "HEARTBEAT.md", status=1)
    assert f"{name} is not UTF-8 text, so the board cannot read it: save it as UTF-8" in output
    assert "Notepad" in output


def test_a_check_takes_the_sensors_beside_the_file(folder):
    (folder / "SENSORS.json").write_text('{"room": {"driver": "sht31"}}')
    line = "- (when rom.temperature > 30; notify) Hot: {room.temprature}\n"
    (folder / "HEARTBEAT.md").write_text(line)
    found = json.loads(tell("--check", folder / "HEARTBEAT.md", "--json", status=1))["lines"]
    assert found[0]["kind"] == "off"
    assert "(when room.temperature > 30; notify)" in found[0]["suggestion"]
    (folder / "HEARTBEAT.md").write_text("- When the room is above 86 °F, tell me\n")
    found = json.loads(tell("--check", folder / "HEARTBEAT.md", "--json"))["lines"]
    assert (found[0]["kind"], found[0]["problem"]) == ("alarm", None)
    assert "tells you above 30 °C" in found[0]["text"]


def test_a_replay_tells_every_message_and_what_it_costs(folder):
    words = ("--replay", folder / "HEARTBEAT.md", "--readings", folder / "r.csv", "--json")
    found = json.loads(tell(*words))
    told = [(one["time"][11:13], one["line"], one["kind"]) for one in found["messages"]]
    assert told == [
        ("05", 2, "alarm"),
        ("06", 2, "repeat"),
        ("06", 2, "end"),
        ("09", 4, "notice"),
        ("11", 3, "alarm"),
    ]
    assert found["messages"][0]["text"] == "Warm: -8 °C (limit -12)"
    assert found["model_calls"] == 1 and found["tokens"] > 600 and found["cost_usd"] > 0
    assert [one["line"] for one in found["problems"]] == [5]


def test_a_replay_knows_quiet_hours_and_zones(folder):
    words = ("--replay", folder / "HEARTBEAT.md", "--readings", folder / "r.csv", "--json")
    found = json.loads(tell(*words, "--hours", "08:00-22:00", "--zone", "CET-1"))
    first = found["messages"][0]
    assert first["kind"] == "digest" and first["time"].startswith("2026-11-21T08:00:")
    assert first["time"].endswith("+01:00")
    assert "06:15-07:40 Warm: -8 °C (limit -12); 1 h 25 min, highest -8 °C" in first["text"]


def test_readings_that_are_missing_or_wrong_are_a_sentence(folder):
    file = folder / "HEARTBEAT.md"
    output = tell("--replay", file, "--port", folder / "nowhere", status=1)
    assert "takes the board's own readings where --readings names none" in output
    (folder / "r.csv").write_text("yesterday,room.temperature,5\n")
    output = tell("--replay", file, "--readings", folder / "r.csv", status=1)
    assert "is no reading; expected time,sensor.value,number" in output
    (folder / "r.csv").write_text(
        f"{START},room.temperature,20\n{START + 900},room.temperature,20\n"
    )
    found = json.loads(tell("--replay", file, "--readings", folder / "r.csv", "--json"))
    assert {"line": 2, "text": "there are no readings of freezer.temperature"} in found["problems"]
