"""The set-up that every make target starts with: its checks, errors and skips."""

import ast
import io
import subprocess
import sys
from pathlib import Path

import pytest

from scripts import setup_env
from tenner_host import ROOT

SCRIPT = ROOT / "scripts" / "setup_env.py"
HERE = tuple(sys.version_info[:3])


def test_an_old_python_can_read_the_script():
    ast.parse(SCRIPT.read_text(encoding="utf-8"), feature_version=(3, 8))


def test_an_old_python_is_told_so_and_which_one_would_do():
    with pytest.raises(setup_env.SetupError) as caught:
        setup_env.check_version(
            (3, 8, 18), "/opt/python", starts=lambda name: name == "python3.12"
        )
    text = str(caught.value)
    assert text.startswith("tenner needs Python 3.10 or newer; found 3.8.18 (/opt/python).")
    assert text.endswith("make PYTHON=python3.12")


def test_an_old_python_alone():
    with pytest.raises(setup_env.SetupError, match="Install a newer one"):
        setup_env.check_version((3, 9, 1), "/opt/python", starts=lambda name: False)


@pytest.mark.parametrize("version", [(3, 10, 0), (3, 14, 2), (4, 0, 0)])
def test_a_new_enough_python_passes(version):
    setup_env.check_version(version, "/opt/python", starts=lambda name: False)


@pytest.mark.parametrize("absent", ["venv", "ensurepip"])
def test_a_python_without_venv_gets_the_one_command(absent):
    def find(name):
        return None if name == absent else object()

    with pytest.raises(setup_env.SetupError) as caught:
        setup_env.check_venv((3, 11, 2), find=find, which=lambda name: "/usr/bin/apt-get")
    assert "sudo apt install python3.11-venv" in str(caught.value)
    with pytest.raises(setup_env.SetupError) as caught:
        setup_env.check_venv((3, 11, 2), find=find, which=lambda name: None)
    assert "apt" not in str(caught.value)


def test_a_whole_python_passes():
    setup_env.check_venv(HERE, find=lambda name: object())


@pytest.fixture
def venv(tmp_path):
    folder = tmp_path / "venv"
    folder.mkdir()
    return folder


def stamp(venv, extra, text):
    Path(setup_env.stamp_path(str(venv), extra)).write_text(text)


def test_what_is_installed_is_not_installed_again(venv):
    good = setup_env.wanted_stamp(HERE)
    assert not setup_env.is_ready(str(venv), "run", HERE)
    stamp(venv, "run", good)
    assert setup_env.is_ready(str(venv), "run", HERE)
    assert not setup_env.is_ready(str(venv), "test", HERE)
    stamp(venv, "test", good)
    assert setup_env.is_ready(str(venv), "test", HERE)


def test_the_test_set_holds_the_run_set(venv):
    stamp(venv, "test", setup_env.wanted_stamp(HERE))
    assert setup_env.is_ready(str(venv), "run", HERE)


def test_another_python_or_other_packages_install_again(venv, monkeypatch, tmp_path):
    stamp(venv, "run", setup_env.wanted_stamp(HERE))
    assert not setup_env.is_ready(str(venv), "run", (3, 99, 0))
    monkeypatch.setattr(setup_env, "ROOT", str(tmp_path))
    (tmp_path / "pyproject.toml").write_text("[project]\n")
    assert not setup_env.is_ready(str(venv), "run", HERE)


def test_another_version_of_tenner_installs_again(venv, monkeypatch, tmp_path):
    stamp(venv, "run", setup_env.wanted_stamp(HERE))
    source = tmp_path / "__init__.py"
    source.write_text('__version__ = "99.0.0"\n')
    monkeypatch.setattr(setup_env, "VERSION", str(source))
    assert not setup_env.is_ready(str(venv), "run", HERE)


def test_a_failing_step_is_one_sentence_with_the_log(tmp_path):
    log = tmp_path / "setup.log"
    command = [sys.executable, "-c", "print('ERROR: no such package'); print('more'); exit(1)"]
    with pytest.raises(setup_env.SetupError) as caught:
        setup_env.run_logged(command, str(log), "Installing")
    assert str(caught.value) == f"Installing failed: no such package (whole log: {log})"
    assert "more" in log.read_text()


#: Of pip, shortened.
PIP = """\
Obtaining file:///tenner
  Installing build dependencies: started
Collecting certifi>=2024.2.2 (from tenner==0.1.0)
  Downloading certifi-2026.1.1-py3-none-any.whl (151 kB)
Collecting rich<16,>=13 (from tenner==0.1.0)
  Using cached rich-14.0-py3-none-any.whl
Building wheels for collected packages: tenner
Installing collected packages: rich, certifi, tenner
Successfully installed certifi-2026.1.1
"""


class Terminal(io.StringIO):
    def isatty(self):
        return True


def _shown(stream):
    times = iter(range(100))
    progress = setup_env.Progress(stream, now=lambda: next(times))
    for line in PIP.splitlines(keepends=True):
        progress.line(line)
    progress.end()
    return stream.getvalue()


def test_a_terminal_sees_which_package_it_is_at():
    lines = [line.strip() for line in _shown(Terminal()).split("\r\x1b[K") if line]
    assert lines == [
        "1 s", "2 s", "3 s  finding packages 1: certifi", "4 s  downloading certifi-2026.1.1-py3-none-any.whl",  # noqa: E501
        "5 s  finding packages 2: rich", "6 s  finding packages 2: rich",
        "7 s  building tenner", "8 s  installing rich, certifi, tenner",
        "9 s  installing rich, certifi, tenner",
    ]  # fmt: skip


def test_elsewhere_each_phase_is_a_line():
    assert _shown(io.StringIO()).splitlines() == [
        "  finding packages ...",
        "  downloading ...",
        "  building ...",
        "  installing ...",
    ]


def test_a_step_that_is_silent_still_shows_that_it_runs(tmp_path, monkeypatch):
    # It ends once the time beside it has been seen to move.
    flag = tmp_path / "flag"
    code = f"import os, time\nwhile not os.path.exists({str(flag)!r}): time.sleep(0.05)"

    class Watched(Terminal):
        def write(self, text):
            if " s  " in text:
                flag.touch()
            return super().write(text)

    monkeypatch.setattr(sys, "stdout", Watched())
    setup_env.run_logged([sys.executable, "-c", code], str(tmp_path / "log"), "Installing")


def test_an_interrupted_install_is_done_again(venv, monkeypatch, tmp_path):
    stamp(venv, "test", setup_env.wanted_stamp(HERE))
    stamp(venv, "run", "old")
    monkeypatch.setattr(setup_env, "venv_works", lambda *args: True)

    def interrupted(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(setup_env, "run_logged", interrupted)
    with pytest.raises(KeyboardInterrupt):
        setup_env.install(str(venv), "run", HERE)
    assert list(venv.iterdir()) == []
    monkeypatch.setattr(setup_env, "run_logged", lambda *args: None)
    setup_env.install(str(venv), "run", HERE)
    assert setup_env.is_ready(str(venv), "run", HERE)


def test_published_drivers_are_installed_apart_and_without_what_they_ask_for(venv, monkeypatch):
    commands = []
    monkeypatch.setattr(setup_env, "venv_works", lambda *args: True)
    monkeypatch.setattr(setup_env, "run_logged", lambda command, *args: commands.append(command))
    setup_env.install(str(venv), "run", HERE)
    assert not any(setup_env.PUBLISHED in command for command in commands)
    setup_env.install(str(venv), "test", HERE)
    (command,) = [command for command in commands if setup_env.PUBLISHED in command]
    assert "--no-deps" in command
    assert command[command.index("--target") + 1] == str(venv / "published-drivers")


def test_a_broken_venv_is_seen(venv):
    assert not setup_env.venv_works(str(venv), HERE)
    assert setup_env.venv_works(sys.prefix, HERE)
    assert not setup_env.venv_works(sys.prefix, (3, 99, 0))


def test_no_traceback_when_nothing_can_be_written(tmp_path):
    target = tmp_path / "file"
    target.write_text("")
    done = subprocess.run(
        [sys.executable, str(SCRIPT), "--venv", str(target / "venv")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
