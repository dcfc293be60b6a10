"""The wheel and the sdist: installed into a clean environment, in an empty folder, far from any
checkout."""

import json
import os
import ssl
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

from tenner_host import ROOT, interpreters, tenner_version
from tenner_sim.services import Services
from tests.host.e2e import settings

SHIPPED = ("firmware", "boards", "skills")
DATA = "tenner_host/data/"
#: As pip says it when no index can be reached.
NO_NETWORK = ("Retrying (", "No matching distribution found")
#: Every command and every command of a group, each with its module read.
EVERY_HELP = """
import sys
from click.testing import CliRunner
from tenner_host.cli import COMMANDS, main
todo = [([name], main.get_command(None, name)) for name in COMMANDS]
for words, command in todo:
    done = CliRunner().invoke(main, [*words, "--help"], prog_name="tenner")
    assert done.exit_code == 0 and "Usage: tenner " + " ".join(words) in done.output, (words, done.output)
    todo += [([*words, name], one) for name, one in getattr(command, "commands", {}).items()]
print(len(todo))
"""  # noqa: E501


def run(command, **options):
    """Run a command that must succeed, and return its output."""
    done = subprocess.run(
        [str(word) for word in command],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        timeout=120, check=False, **options,
    )  # fmt: skip
    assert done.returncode == 0, f"{command}: {done.stdout}"
    return done.stdout


def build(target, source, folder):
    """The sdist or wheel that the build backend makes of a source tree."""
    run([sys.executable, "-m", "hatchling", "build", "-t", target, "-d", folder], cwd=source)
    (made,) = folder.iterdir()
    return made


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("wheel")


@pytest.fixture(scope="module")
def sdist(folder):
    return build("sdist", ROOT, folder / "sdist")


@pytest.fixture(scope="module")
def wheel(sdist, folder):
    """Made of the sdist, as pip does."""
    with tarfile.open(sdist) as archive:
        archive.extractall(folder / "source")
    (source,) = (folder / "source").iterdir()
    return build("wheel", source, folder / "wheel")


class Installed:
    """A clean environment with the wheel, and a user of it whose folders are empty."""

    def __init__(self, folder, wheel):
        self.place = folder / "environment"
        venv.create(self.place, with_pip=False, symlinks=True)
        self.python = self.place / "bin" / "python"
        self.packages = Path(
            run(
                [self.python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
            ).strip()
        )
        self.home = folder / "home"
        self.work = folder / "work"
        self.home.mkdir()
        self.work.mkdir()
        self.environment = {
            "PATH": f"{self.place / 'bin'}:{os.defpath}", "HOME": str(self.home), "LANG": "C.UTF-8",  # noqa: E501
        }  # fmt: skip
        self._install(wheel)

    def _install(self, wheel):
        pip = [
            sys.executable,
            "-m",
            "pip",
            "--python",
            str(self.python),
            "install",
            "--retries",
            "1",
        ]
        done = subprocess.run([*pip, str(wheel)], capture_output=True, text=True, check=False)
        said = done.stdout + done.stderr
        if done.returncode and all(sign in said for sign in NO_NETWORK):
            # Its dependencies then come from the environment of the tests.
            run([*pip, "--no-deps", wheel])
            (self.packages / "offline.pth").write_text(sysconfig.get_path("purelib"))
            self.environment["MICROPYTHON"] = interpreters.find_micropython().argv[0]
        else:
            assert done.returncode == 0, said

    def __call__(self, *arguments, **environment):
        """Run `tenner` in the empty folder."""
        command = [self.place / "bin" / "tenner", *arguments]
        return run(command, cwd=self.work, env={**self.environment, **environment})

    def files(self):
        """Return everything in the environment, with size and time, except Python's compiled
        files."""
        return {
            path: (path.stat().st_size, path.stat().st_mtime_ns)
            for path in self.packages.rglob("*")
            if path.is_file() and "__pycache__" not in path.parts
        }


@pytest.fixture(scope="module")
def tenner(folder, wheel):
    return Installed(folder, wheel)


def contents(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_the_wheel_has_what_ships_and_claims_two_names(wheel, folder):
    there = contents(wheel)
    assert {name.split("/")[0] for name in there} == {
        "tenner_host", "tenner_sim", f"tenner-{tenner_version()}.dist-info",
    }  # fmt: skip
    listed = run(["git", "ls-files", "-z", *SHIPPED], cwd=ROOT).split("\0")
    wanted = {name for name in listed if name and (ROOT / name).exists()}
    assert {name.removeprefix(DATA) for name in there if name.startswith(DATA)} >= wanted
    for name in wanted:
        assert there[DATA + name] == (ROOT / name).read_bytes(), name
    assert contents(build("wheel", ROOT, folder / "direct")) == there


def test_every_command_has_help_and_the_version_is_that_of_the_metadata(tenner):
    count = run([tenner.python, "-I", "-c", EVERY_HELP], cwd=tenner.work, env=tenner.environment)
    assert int(count) > 40
    assert tenner("--version").split()[-1] == tenner_version()
    code = "import importlib.metadata as m; print(m.version('tenner'))"
    assert run([tenner.python, "-I", "-c", code]).strip() == tenner_version()
    code = "import tenner_host; print(tenner_host.ROOT)"
    assert run([tenner.python, "-I", "-c", code]).strip() == str(
        tenner.packages / "tenner_host/data"
    )


def test_a_virtual_board_from_the_shop_to_a_talk(tenner):
    before = tenner.files()
    with Services() as services:
        (tenner.work / "ca.pem").write_text(ssl.DER_cert_to_PEM_cert(services.ca_der))
        (tenner.work / "given.json").write_text(json.dumps(settings(services)))
        assert "board runs" in tenner("sim", "start", "--erased", "--heap", "512K")
        try:
            assert "written and verified" in tenner("flash", "--sim", "board")
            assert "running: tenner" in tenner("sync", "--sim", "board")
            arguments = ["--ca", "ca.pem", "--from", "given.json"]
            assert "answers the board" in tenner("setup", "--sim", "board", *arguments)
            assert "hello" in tenner("chat", "--sim", "board", "say: hello")
            assert "code" in tenner("doctor", "--sim", "board")
        finally:
            tenner("sim", "stop")
    assert (tenner.work / "workspace" / "HEARTBEAT.md").exists()
    assert "freezer-guard" in tenner("skills", "list")
    assert tenner.files() == before


def test_a_deploy_is_planned(tenner, folder):
    """The stand-in for ssh runs the commands of a dry run, which only look, on this computer."""
    stand_in = folder / "ssh"
    stand_in.write_text('#!/bin/sh\nfor last; do :; done\nexec sh -c "$last"\n')
    stand_in.chmod(0o755)
    before = tenner.files()
    arguments = ["--dry-run", "--runtime", "cpython", "--board", "LICHEERV_NANO"]
    shown = tenner("deploy", "root@board", *arguments, TENNER_SSH=str(stand_in))
    assert "would be written" in shown
    assert tenner.files() == before
