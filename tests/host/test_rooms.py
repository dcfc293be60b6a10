"""CONTRIBUTING.md says truly which files a first change takes."""

import shutil
import subprocess
import sys

from scripts import rooms
from tenner_host import ROOT


def test_the_table_is_of_todays_tree():
    assert rooms.page() == rooms.TARGET.read_text(), "run `python scripts/rooms.py --write`"


def test_the_setting_works(tmp_path):
    for folder in ("firmware", "tests"):
        skipped = shutil.ignore_patterns("__pycache__", "host")
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=skipped)
    rooms.setting(tmp_path)
    done = subprocess.run(
        [sys.executable, "tests/test_channels_webhook.py"],
        cwd=tmp_path,
        env={"PYTHONPATH": f"{tmp_path}/firmware:{tmp_path}/tests"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
