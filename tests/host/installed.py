"""The wheel, installed into a clean environment, and a user of it in an empty folder."""

import os
import subprocess
import sys
import sysconfig
import tarfile
import venv
from pathlib import Path

import pytest

from tenner_host import ROOT, interpreters

#: As pip says it when no index can be reached.
NO_NETWORK = ("Retrying (", "No matching distribution found")


def run(command, **options):
    """Run a command that must succeed, and return its output."""
    done = subprocess.run(
        [str(word) for word in command],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        timeout=600, check=False, **options,
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
