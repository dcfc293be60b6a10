"""The package's metadata, the make targets and the files other tools read."""

import ast
import importlib.metadata
import json
import os
import re
import subprocess
import sys

import pytest
import yaml

from scripts import package_json
from tenner_host import FIRMWARE, ROOT, image, tenner_version

MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")


def test_one_version_everywhere():
    version = tenner_version()
    assert re.fullmatch(r"\d+\.\d+\.\d+", version)
    assert importlib.metadata.version("tenner") == version
    assert json.loads((ROOT / "package.json").read_text())["version"] == version
    assert f"**Status:** version {version}. " in (ROOT / "README.md").read_text(encoding="utf-8")
    newest = re.search(
        r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert newest[1] == version


@pytest.mark.parametrize("target", re.findall(r"^([a-z0-9-]+):", MAKEFILE, re.MULTILINE))
def test_a_shell_can_read_each_recipe(target):
    """make takes a recipe apart by its own rules: a comma or a quote in a text ends it early."""
    for given in ([], ["CHANGED=1"], ["NAME=x", "PORT=/dev/ttyUSB0", "K=a or b", "T=tests/host"]):
        recipe = subprocess.run(
            ["make", "-n", target, *given], cwd=ROOT, capture_output=True, text=True, timeout=60
        )
        read = subprocess.run(["sh", "-n"], input=recipe.stdout, capture_output=True, text=True)
        assert (recipe.returncode, read.stderr) == (0, "")


def test_package_json_lists_files_that_are_there():
    urls = json.loads(package_json.package_json())["urls"]
    assert ["tenner/__init__.py", "firmware/tenner/__init__.py"] in urls
    assert ["tenner/store/config.tsv", "firmware/tenner/store/config.tsv"] in urls
    for target, source in urls:
        assert (ROOT / source).is_file()
        assert source == f"firmware/{target}"


def imported_modules():
    """(module, file) of everything tenner_host imports from outside, at any depth."""
    for path in sorted((ROOT / "host_tools" / "tenner_host").rglob("*.py")):
        if {"chip", "onboard"} & set(path.parts):
            continue  # code for MicroPython
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and not node.level:
                names = [node.module or ""]
            for name in names:
                module = name.split(".", maxsplit=1)[0]
                if module not in sys.stdlib_module_names | {"mpy_linker", "tenner_host", "tenner"}:
                    yield module, path.relative_to(ROOT)


def test_what_the_tenner_host_import_is_declared():
    declared = {
        re.split(r"[<>=;\[ ]", requirement)[0].lower().replace("_", "-")
        for requirement in importlib.metadata.requires("tenner")
        if "extra == 'test'" not in requirement and 'extra == "test"' not in requirement
    }
    # One that only older Pythons need is not installed on others: its own name must do.
    owners = importlib.metadata.packages_distributions()
    for module, path in imported_modules():
        names = {name.lower().replace("_", "-") for name in owners.get(module, [module])}
        assert names & declared, f"{path} imports {module}, which pyproject.toml does not declare"


class Manifest:
    """Stands in for the functions that MicroPython's build gives a manifest."""

    def __init__(self):
        self.calls = []

    def __getitem__(self, name):
        if name in ("metadata", "include", "freeze"):
            return lambda *args, **kwargs: self.calls.append((name, args, kwargs))
        raise KeyError(name)


def test_manifest_freezes_the_package():
    manifest = Manifest()
    exec((FIRMWARE / "manifest.py").read_text(encoding="utf-8"), {}, manifest)
    calls = {name: (args, kwargs) for name, args, kwargs in manifest.calls}
    # The output of `python -m tenner_host.image BOARD`, from the manifest's own folder.
    assert (FIRMWARE / calls["freeze"][0][0]).resolve() == image.OUTPUT / "frozen"


def test_the_workflows_name_what_is_there():
    texts = {
        path.name: path.read_text() for path in (ROOT / ".github" / "workflows").glob("*.yml")
    }
    assert sorted(texts) == ["images.yml", "release.yml", "tests.yml"]
    release = yaml.safe_load(texts["release.yml"])["jobs"]
    assert (ROOT / release["images"]["uses"]).is_file()
    assert set(release["publish"]["needs"]) == {"wheel", "images"}
    everything = "\n".join(texts.values())
    for path in re.findall(r"\b(?:tests|scripts)/[\w/.]+|\.ci/\w+", everything):
        assert (ROOT / path).exists(), path
    for target in re.findall(r"run: make (\w+)", everything):
        assert re.search(rf"^{target}:", MAKEFILE, re.MULTILINE), target


def test_the_notes_of_a_release_are_the_part_of_its_version():
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text())
    script = workflow["jobs"]["publish"]["steps"][-1]["run"]
    (notes,) = [line for line in script.splitlines() if line.startswith("awk ")]
    done = subprocess.run(
        ["bash", "-c", notes.replace("> notes.md", "")],
        cwd=ROOT,
        env={**os.environ, "GITHUB_REF_NAME": f"v{tenner_version()}"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "### Added\n\n- " in done.stdout and "The first version" not in done.stdout


@pytest.mark.parametrize(
    "target", ["help", "run", "test", "lint", "format", "picture", "bench", "clean"]
)
def test_make_help_names_every_target(target):
    assert re.search(rf"^{target}:.*## \S", MAKEFILE, re.MULTILINE)
    done = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert f"make {target}" in done.stdout


def test_the_command_line_needs_no_board():
    command = [sys.executable, "-m", "tenner_host.cli"]
    done = subprocess.run([*command, "--version"], capture_output=True, text=True, check=True)
    assert tenner_version() in done.stdout
    done = subprocess.run([*command, "nonsense"], capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
