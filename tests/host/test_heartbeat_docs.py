"""Every example in docs/heartbeat.md and docs/cookbook.md is understood, every complete file of
docs/cookbook/ matches its row of the table."""

from __future__ import annotations

import re

import pytest

from tenner_host import FIRMWARE, ROOT
from tenner_host.heartbeat.check import firmware, problems, readings
from tenner_host.heartbeat.replay import Readings, replay

PAGE = "".join(
    (ROOT / "docs" / name).read_text("utf-8") for name in ("heartbeat.md", "cookbook.md")
)
COOKBOOK = sorted((ROOT / "docs" / "cookbook").glob("*.md"))
#: 2026-11-23, a Monday, in UTC.
MONDAY = 1795392000

# The readings of the sensors: by hours of that Monday, until the last of them.
DAYS = {
    "aquarium": {"water.temperature": [(0, 25), (3, 24.5), (3.4, 23.2), (8, 25), (20, 25)]},
    "baby-room": {"baby.temperature": [(0, 19), (4, 15), (5, 19), (13, 24), (19.5, 18), (24, 18)]},
    "beehive": {
        "hive.weight": [(0, 32), (14, 32), (14.2, 29), (24, 29)],
        "brood.temperature": [(0, 35), (24, 35)],
    },
    "co2": {"air.co2": [(7, 500), (9, 1100), (10, 700), (15, 2300), (15.5, 600), (18, 500)]},
    "door": {"door.open": [(1, 0), (2, 1), (2.05, 0), (4, 0), (5.8, 1), (6.5, 0), (7, 0)]},
    "freezer": {
        "freezer.temperature": [(0, -18), (8, -10), (8.1, -18), (12, -9), (17, -18), (20, -18)]
    },
    "greenhouse": {
        "air.temperature": [(0, 12), (5, 2), (8, 12), (13, 34), (15, 25), (22, 12)],
        "soil.moisture": [(0, 25), (22, 24)],
    },
    "home-office": {"desk.light": [(8, 400), (15.2, 120), (18, 100)]},
    "leak": {"leak.wet": [(1, 0), (2, 1), (2.7, 0), (4, 0)]},
    "mailbox": {"mailbox.flap": [(9, 0), (10, 1), (10.01, 0), (11, 1), (11.01, 0), (12, 0)]},
    "printer": {
        "bed.temperature": [(10, 22), (10.1, 60), (12.5, 58), (12.8, 35), (13, 25)],
        "plug.current": [(10, 0.1), (10.05, 1.2), (12.4, 0.1), (13, 0.1)],
    },
    "server-rack": {
        "rack.temperature": [(7, 24), (8, 37), (10.5, 30), (12, 24), (13, 24)],
        "rack.humidity": [(7, 40), (13, 40)],
    },
    "solar-battery": {"battery.voltage": [(0, 12.6), (5, 11.7), (8, 12.8), (12, 14.2), (20, 13)]},
    "water-tank": {
        "tank.level": [(8, 60), (9, 40), (10, 22), (11, 18), (12, 24), (13, 80), (14, 80)]
    },
    "wine-cellar": {
        "cellar.temperature": [(0, 12), (6, 16), (9, 12), (24, 12)],
        "cellar.humidity": [(0, 70), (24, 70)],
    },
}


def blocks(kind: str) -> list[str]:
    return re.findall(rf"```{kind}\n(.*?)```", PAGE, re.DOTALL)


def day(name: str) -> Readings:
    found = Readings()
    for value, steps in DAYS[name].items():
        for hour, number in steps:
            found.add(MONDAY + hour * 3600, value, number)
    return found


def test_there_are_fifteen_files_and_a_row_for_each():
    assert len(COOKBOOK) == 15
    assert [path.stem for path in COOKBOOK] == sorted(DAYS)


@pytest.mark.parametrize("text", blocks("heartbeat"))
def test_every_example_is_understood(text):
    assert problems(text) == []
    parser = firmware("schedule.heartbeat_parser")
    found = list(parser.read(iter(enumerate(text.split("\n"), 1))))
    assert [one for one in found if one[0] == parser.TASK]


def test_every_mistake_of_the_page_gets_the_sentence_it_names():
    rows = re.findall(r"^\| `(\(.*?\))` \| (.*?) \|$", PAGE, re.MULTILINE)
    assert len(rows) >= 8
    for clause, sentence in rows:
        found = problems(f"- {clause} Do it.")
        assert found and sentence in found[0]["text"], (clause, found)


@pytest.mark.parametrize("path", COOKBOOK, ids=lambda path: path.stem)
def test_a_cookbook_file_does_what_its_row_says(path):
    found = replay(path.read_text(encoding="utf-8"), day(path.stem))
    assert found["problems"] == []
    kinds = [one["kind"] for one in found["messages"]]
    counts = [kinds.count(kind) for kind in ("alarm", "end", "repeat", "notice")]
    row = f"| [{path.stem}](cookbook/{path.name}) | " + " | ".join(
        str(count) for count in [*counts, found["model_calls"], found["tokens"]]
    )
    assert f"{row} |" in PAGE, (row, found["messages"])


def test_the_line_that_the_agent_is_shown_is_a_rule():
    text = (FIRMWARE / "workspace" / "AGENTS.md").read_text(encoding="utf-8")
    (line,) = [piece for piece in text.split("`") if piece.startswith("- (")]
    (reading,) = readings(line)
    assert (reading["kind"], reading["calls_per_day"], reading["problem"]) == ("alarm", 0, None)
