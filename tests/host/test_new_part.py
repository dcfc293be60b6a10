"""`make new-tool` and its like: the files pass their own tests and the checks at once."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from scripts import check_subset, new_part
from tenner_host import ROOT

PARTS = [
    ("tool", "echo_text", "tools"),
    ("driver", "lm92", "sensors"),
    ("channel", "ntfy", "channels"),
]
#: Files of each that are there and change, beside those that `make format` makes.
CHANGED = {
    "tool": ["tests/attacks/attacks.json"],
    "driver": ["firmware/tenner/sensors/chips.tsv", "docs/sensors.md"],
    "channel": [],
}


@pytest.fixture
def house(tmp_path):
    """A copy of the firmware, its tests, and the tables."""
    shutil.copytree(ROOT / "firmware", tmp_path / "firmware")
    (tmp_path / "tests" / "attacks").mkdir(parents=True)
    (tmp_path / "docs").mkdir()
    for path in [*ROOT.glob("tests/*.py"), ROOT / "tests/attacks/attacks.json"]:
        shutil.copy(path, tmp_path / path.relative_to(ROOT))
    shutil.copy(ROOT / "docs" / "sensors.md", tmp_path / "docs")
    return tmp_path


@pytest.mark.parametrize(("kind", "name", "package"), PARTS)
def test_a_new_part_passes_at_once(house, kind, name, package):
    made = new_part.make(kind, name, house)
    assert [path for path in made if (ROOT / path).exists()] == CHANGED[kind]
    source = made[0]
    assert source.startswith(f"firmware/tenner/{package}/{name}")
    done = subprocess.run(
        [sys.executable, f"tests/test_{package}_{name}.py"],
        cwd=house,
        env={"PYTHONPATH": f"{house}/firmware:{house}/tests"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Ran 2 tests" in done.stderr
    for checks in (["format", "--check"], ["check"]):
        ruff = [sys.executable, "-m", "ruff", *checks, "--config", ROOT / "pyproject.toml"]
        paths = [house / path for path in made if path.endswith(".py")]
        ran = subprocess.run([*ruff, *paths], capture_output=True, text=True, check=False)
        assert ran.returncode == 0, ran.stdout
    assert check_subset.check_source(Path(source), (house / source).read_text()) == []
    assert "firmware/layout.toml" not in made and "firmware/layout.json" not in made


@pytest.mark.parametrize(("kind", "name", "_package"), PARTS)
def test_it_writes_over_nothing(house, kind, name, _package):
    new_part.make(kind, name, house)
    files = [path for path in house.rglob("*") if path.is_file()]
    before = [path.read_bytes() for path in files]
    with pytest.raises(SystemExit, match="is there already"):
        new_part.make(kind, name, house)
    assert [path.read_bytes() for path in files] == before


@pytest.mark.parametrize("name", ["", "a", "Dew", "1a", "a-b", "../x", "x" * 25])
def test_a_name_that_cannot_be(house, name):
    with pytest.raises(SystemExit, match="is no name"):
        new_part.make("tool", name, house)
