"""The skills that ship: their index, and that each works as described on the virtual board."""

import json
import re

import pytest

from tables import Parsed
from tenner_host import ROOT
from tenner_sim.services import Answer, ToolCall
from tests.host.e2e import agent_board

SKILLS = ROOT / "skills"
NAMES = sorted(path.name for path in SKILLS.iterdir() if path.is_dir())

# The rows of docs/skills.md: the seconds between looks, the value, its limit, for how long, and
# its reset.
WATCHES = {
    "energy-meter": (60, "mains.power", ">", 3000, 120, 2500),
    "freezer-guard": (300, "freezer.temperature", ">", -12, 600, -15),
    "plant-watch": (1800, "soil.moisture", "<", 30, None, 45),
}

# (signal, a value when all is well, one when not, the sensor that the model reads, its reading)
ALERTS = [
    ("gpio0.volts", 1.6, 2.4, "soil", "14.6"),
    ("room.temperature", -18.0, -6.5, "freezer", "-6.5"),
    ("gpio1.volts", 0.2, 1.4, "mains", "3220"),
]


def test_the_index_is_what_is_there():
    index = json.loads((SKILLS / "index.json").read_text())
    assert [one["name"] for one in index["skills"]] == NAMES
    for one in index["skills"]:
        folder = SKILLS / one["name"]
        assert sorted(one["files"]) == sorted(path.name for path in folder.iterdir())
        front = f"---\nname: {one['name']}\ndescription: {one['description']}\n---\n"
        assert (folder / "SKILL.md").read_text().startswith(front)
        assert len(one["description"]) <= 160


@pytest.mark.parametrize("name", NAMES)
def test_a_task_is_what_the_docs_say(name):
    found = Parsed((SKILLS / name / "HEARTBEAT.md").read_text())
    (item,) = found.items
    when = item["when"]
    place = f"{when['sensor']}.{when['value']}"
    told = (item["every_s"], place, when["op"], when["number"], when.get("for_s"), when["reset"])
    assert (told, found.problems) == (WATCHES[name], [])
    (line,) = re.findall(
        rf"^\| `{name}` .*", (ROOT / "docs" / "skills.md").read_text(), re.MULTILINE
    )
    assert f"{when['number']:,} " in line and f"again after {when['reset']:,} " in line


def test_each_skill_raises_its_alert_once():
    """All three on one board, as they ship, only that nobody waits for minutes here."""
    tasks, sensors = "# Heartbeat\n\n", {}
    for name in NAMES:
        task = (SKILLS / name / "HEARTBEAT.md").read_text()
        tasks += re.sub(r" for \d+m", "", re.sub(r"every \d+m", "every 1s", task))
        sensors |= json.loads((SKILLS / name / "SENSORS.json").read_text())
    files = {"/workspace/SENSORS.json": json.dumps(sensors)}
    with agent_board(tasks, files=files, tls=False) as bench:
        # Long before the first beat: the board is still booting.
        for value, well, *_ in ALERTS:
            bench.board.set(value, well)
        bench.wait_for("no condition met")
        assert bench.told() == []
        for count, (value, _, ill, sensor, reading) in enumerate(ALERTS, 1):
            read = ToolCall("sensor", {"action": "read", "name": sensor})
            bench.model.script = [Answer("", [read]), f"Look at the {sensor}."]
            bench.board.set(value, ill)
            bench.wait_told(f"^Look at the {sensor}")
            assert len(bench.told()) == count
            request = json.dumps(bench.model.requests[-1].json["messages"])
            assert "due now" in request and reading in request
