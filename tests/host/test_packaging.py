"""The package's metadata, the make targets and the files other tools read."""

import importlib.metadata
import json
import re
import subprocess
import sys

import pytest

from host_tools import FIRMWARE, ROOT, tenner_version
from scripts import package_json

MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")


def test_one_version_everywhere():
    version = tenner_version()
    assert re.fullmatch(r"\d+\.\d+\.\d+", version)
    assert importlib.metadata.version("tenner") == version
    assert json.loads((ROOT / "package.json").read_text())["version"] == version


def test_package_json_lists_files_that_are_there():
    urls = json.loads(package_json.package_json())["urls"]
    assert ["tenner/__init__.py", "firmware/tenner/__init__.py"] in urls
    assert ["tenner/store/config.tsv", "firmware/tenner/store/config.tsv"] in urls
    for target, source in urls:
        assert (ROOT / source).is_file()
        assert source == f"firmware/{target}"


class Manifest:
    """Stands in for the functions that MicroPython's build gives a manifest."""

    def __init__(self):
        self.calls = []

    def __getitem__(self, name):
        if name in ("metadata", "include", "package"):
            return lambda *args, **kwargs: self.calls.append((name, args, kwargs))
        raise KeyError(name)


def test_manifest_freezes_the_package_with_its_version():
    manifest = Manifest()
    exec((FIRMWARE / "manifest.py").read_text(encoding="utf-8"), {}, manifest)
    calls = {name: (args, kwargs) for name, args, kwargs in manifest.calls}
    assert calls["metadata"][1]["version"] == tenner_version()
    assert calls["package"][0] == ("tenner",)


@pytest.mark.parametrize("target", ["help", "run", "test", "lint", "format", "bench", "clean"])
def test_make_help_names_every_target(target):
    assert re.search(rf"^{target}:.*## \S", MAKEFILE, re.MULTILINE)
    done = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert f"make {target}" in done.stdout


def test_the_command_line_needs_no_board():
    command = [sys.executable, "-m", "host_tools.cli"]
    done = subprocess.run([*command, "--version"], capture_output=True, text=True, check=True)
    assert tenner_version() in done.stdout
    done = subprocess.run([*command, "nonsense"], capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
