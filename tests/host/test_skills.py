"""The skills that ship: their index, and that each does on the virtual board what it says."""

import json
import re

import pytest

from host_tools import ROOT
from tests.host.e2e import agent_board

SKILLS = ROOT / "skills"
NAMES = sorted(path.name for path in SKILLS.iterdir() if path.is_dir())

# (skill, what the world is like, all is well, not any more, what the owner is told)
ALERTS = [
    ("plant-watch", "gpio0.volts", 1.6, 2.4, r"soil.*14\.6"),
    ("freezer-guard", "room.temperature", -18.0, -6.5, r"freezer.*-6\.5"),
    ("energy-meter", "gpio1.volts", 0.2, 1.4, r"mains.*3220"),
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


@pytest.mark.parametrize(("name", "value", "well", "ill", "told"), ALERTS)
def test_a_skill_raises_its_alert(name, value, well, ill, told):
    folder = SKILLS / name
    # The same task, only that nobody waits for minutes here.
    task = re.sub(r"every \d+m", "every 1s", (folder / "HEARTBEAT.md").read_text())
    task = re.sub(r" for \d+m", "", task)
    files = {"/workspace/SENSORS.json": (folder / "SENSORS.json").read_text()}
    with agent_board("# Heartbeat\n\n" + task, files=files, tls=False) as bench:
        # Long before the first beat: the board is still booting.
        bench.board.set(value, well)
        bench.wait_for("no gate is true (1 checked)")
        assert bench.told() == []
        bench.board.set(value, ill)
        bench.wait_told(told)
