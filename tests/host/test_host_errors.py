"""Commands whose own computer fails: a full disk, a folder nobody may write, Ctrl-C at any write,
a reader that goes away. One sentence each, and a file is the old one or the new one."""

import builtins
import errno
import io
import json
import math
import os
import socket
import subprocess
import sys
import time
import urllib.error
from contextlib import contextmanager

import pytest
from click.testing import CliRunner

from tenner.sensors.ring import Ring
from tenner_host import ROOT
from tenner_host.board.board import Entry
from tenner_host.board.info import Info
from tenner_host.board.transfer import short_hash
from tenner_host.cli import main as tenner
from tenner_host.errors import reason
from tenner_host.project import Project
from tenner_host.sync import copies
from tenner_host.sync.backup import Backup

FAULTS = [
    OSError(errno.ENOSPC, "No space left on device"),
    OSError(errno.EACCES, "Permission denied"),
    OSError(errno.EROFS, "Read-only file system"),
    KeyboardInterrupt(),
]
_MOST_STEPS = 60


class Strike:
    """Raise `fault` at the n-th write, rename or new folder below `root`; a file gets half of the
    data first."""

    def __init__(self, monkeypatch, root, fault, at):
        self.fault, self.left, self.struck = fault, at, False
        self._root = str(root)
        for module, name in ((os, "open"), (os, "replace"), (os, "rename"), (os, "mkdir")):
            self._watch(monkeypatch, module, name)
        self._open, self._fdopen = builtins.open, os.fdopen
        for module in (builtins, io):
            monkeypatch.setattr(module, "open", self._opened)
        monkeypatch.setattr(
            os, "fdopen", lambda fd, *args, **more: Watched(self, self._fdopen(fd, *args, **more))
        )

    def step(self):
        self.left -= 1
        if not self.left:
            self.struck = True
            raise self.fault

    def _watch(self, monkeypatch, module, name):
        real = getattr(module, name)

        def watched(path, *args, **more):
            reads = name == "open" and not (args and args[0] & (os.O_WRONLY | os.O_RDWR))
            if not reads and str(path).startswith(self._root):
                self.step()
            return real(path, *args, **more)

        monkeypatch.setattr(module, name, watched)

    def _opened(self, path, mode="r", *args, **more):
        if "r" in mode or not str(path).startswith(self._root):
            return self._open(path, mode, *args, **more)
        self.step()
        return Watched(self, self._open(path, mode, *args, **more))


class Watched:
    """A file whose writes may fail in the middle."""

    def __init__(self, strike, file):
        self._strike, self._file = strike, file

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self._file.close()

    def __getattr__(self, name):
        return getattr(self._file, name)

    def write(self, data):
        try:
            self._strike.step()
        except BaseException:
            self._file.write(data[: len(data) // 2])
            raise
        return self._file.write(data)


class FakeBoard:
    """The files of a board, and nothing more."""

    def __init__(self, files):
        self.files, self.was = dict(files), []

    def survey(self, roots):
        found = {
            path: Entry(len(data), short_hash(data))
            for path, data in self.files.items()
            if path.startswith(tuple(roots))
        }
        return self.info(), found, []

    def info(self):
        return Info(
            **{name: NOTHING.get(kind, None) for name, kind in Info.__annotations__.items()}
        )

    def read_files(self, paths, progress=None):
        return {path: self.files[path] for path in paths if path in self.files}

    def write_files(self, files, progress=None):
        self.files.update(files)

    def guard(self):
        pass


NOTHING = {"int": 0, "str": "x", "bool": False, "str | None": None, "int | None": None}


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A project folder; the disk fails below it and nowhere else."""
    root = tmp_path / "home"
    (root / "workspace").mkdir(parents=True)
    monkeypatch.chdir(root)
    for name in ("HOME", "TENNER_CONFIG", "TENNER_CACHE", "XDG_DATA_HOME", "ZDOTDIR"):
        monkeypatch.setenv(name, str(root / name.lower()))
    return root


@pytest.fixture
def ring(tmp_path):
    made = Ring(str(tmp_path / "readings"), 4096)
    for step in range(20):
        made.keep(int(time.time()) - 6000 + step * 300, [("room.temperature", math.sin(step))])
    return {f"/state/{path.name}": path.read_bytes() for path in tmp_path.glob("readings*")}


@pytest.fixture
def board(ring, monkeypatch):
    from tenner_host.sensors import command

    made = FakeBoard(
        {"/workspace/a.md": b"new a\n" * 300, "/workspace/sub/b.md": b"new b\n"} | ring
    )

    @contextmanager
    def opened(*_, **__):
        yield made

    monkeypatch.setattr(copies, "open_board", opened)
    monkeypatch.setattr(command, "open_board", opened)
    return made


# (arguments, the files it replaces)
WRITERS = {
    "backup": (["backup", "out.zip", "--force"], ["out.zip"]),
    "backup of its own name": (["backup"], []),
    "pull": (["pull"], ["workspace/a.md"]),
    "png": (["sensors", "--png", "out.png"], ["out.png"]),
    "svg": (["sensors", "--svg", "out.svg"], ["out.svg"]),
    "completion": (["completion", "bash", "--install"], []),
    "skills": (["skills", "install", "freezer-guard", "--force"], []),
    "sd-card": (
        ["sd-card", "card", "--ssid", "net", "--password-file", "password", "--force"],
        [],
    ),
    "new key": (["release", "--new-key"], []),
}


def snapshot(root):
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }


def prepare(root, replaced):
    """Make the folder as it was before the command."""
    import shutil

    for path in root.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    (root / "workspace").mkdir()
    (root / "card").mkdir()
    (root / "password").write_text("secret12\n")
    for name in replaced:
        (root / name).write_bytes(b"the old file\n" * 50)
    if "workspace/a.md" in replaced:
        Project(root).write(
            "synced.json", json.dumps({"board": {"a.md": short_hash(b"the old file\n" * 50)}})
        )


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: str(fault) or "Ctrl-C")
@pytest.mark.parametrize("name", WRITERS)
def test_a_write_that_fails_leaves_the_old_file_or_the_new(name, fault, home, board, monkeypatch):
    arguments, replaced = WRITERS[name]
    prepare(home, replaced)
    before = snapshot(home)
    done = CliRunner().invoke(tenner, arguments)
    assert done.exit_code == 0, done.output
    after = snapshot(home)
    assert after != before
    for at in range(1, _MOST_STEPS):
        prepare(home, replaced)
        with monkeypatch.context() as patched:
            strike = Strike(patched, home, fault, at)
            done = CliRunner().invoke(tenner, arguments)
        found = snapshot(home)
        if not strike.struck:
            assert at > 2, "nothing was written"
            break
        stopped = isinstance(fault, KeyboardInterrupt)
        if done.exit_code != 0:
            assert done.exit_code == (130 if stopped else 1), done.output
            lines = done.stderr.strip().splitlines()
            assert len(lines) == 1 and lines[0].startswith("tenner: "), done.output
            assert stopped or fault.strerror in lines[0], lines
        assert "Traceback" not in done.output and isinstance(
            done.exception, SystemExit | type(None)
        ), (at, done.exception)
        assert [path for path in found if ".tmp" in path or ".new" in path] == [], at
        for path, data in found.items():
            same = name in ("new key", "backup", "backup of its own name", "png", "svg")
            whole = (before.get(path), after.get(path))
            # A key, a time and a picture of now differ in each run.
            assert data in whole or (same and is_whole(home / path)), (at, path)
    else:
        raise AssertionError("it writes without an end")


def is_whole(path):
    if path.suffix == ".zip":
        return bool(Backup.load(path).files)
    if path.suffix in (".png", ".svg"):
        return path.read_bytes().rstrip().endswith((b"IEND\xaeB`\x82", b"</svg>"))
    if path.suffix == ".pem":
        # Boards take no release of a key without its other half.
        return path.with_suffix(".pub").exists() and path.read_bytes().endswith(b"KEY-----\n")
    return path.suffix == ".pub" and path.read_text().startswith("rsa ")


@pytest.mark.parametrize("fault", FAULTS[:3], ids=str)
def test_a_restore_saves_what_it_replaces_or_writes_nothing(fault, home, board, monkeypatch):
    board.files["/config.json"] = b"mine"
    Backup({"/config.json": b"other"}, {"device_id": None}).save(home / "b.zip")
    monkeypatch.setattr(copies, "check_space", lambda *_: None, raising=False)
    monkeypatch.setattr("tenner_host.sync.backup.check_space", lambda *_: None)
    monkeypatch.setattr(copies, "leave_as_it_was", lambda board: board.was.append(True))
    with monkeypatch.context() as patched:
        Strike(patched, home, fault, 3)
        done = CliRunner().invoke(tenner, ["restore", "b.zip", "--yes"])
    assert (done.exit_code, fault.strerror in done.stderr) == (1, True), done.output
    assert board.files["/config.json"] == b"mine" and board.was


def test_an_existing_backup_stays(home, board):
    (home / "b.zip").write_bytes(b"old")
    done = CliRunner().invoke(tenner, ["backup", "b.zip"])
    assert (done.exit_code, "--force writes over it" in done.stderr) == (1, True)
    assert (home / "b.zip").read_bytes() == b"old"
    assert CliRunner().invoke(tenner, ["backup", "b.zip", "--force"]).exit_code == 0


def test_a_link_and_a_device_stay_what_they_are(home, board):
    (home / "real.png").write_bytes(b"")
    (home / "out.png").symlink_to("real.png")
    assert CliRunner().invoke(tenner, ["sensors", "--png", "out.png"]).exit_code == 0
    assert (home / "out.png").is_symlink() and (home / "real.png").read_bytes()[1:4] == b"PNG"
    assert CliRunner().invoke(tenner, ["sensors", "--png", os.devnull]).exit_code == 0
    assert not os.path.isfile(os.devnull)


# (an error from inside of the command, the sentence, the exit status)
RAISED = [
    (OSError(errno.EROFS, "Read-only file system", "/x/.tenner"), "/x/.tenner: Read-only", 1),
    (PermissionError(errno.EACCES, "Permission denied"), "this computer: Permission denied", 1),
    (OSError("an error of a library"), "this computer: an error of a library", 1),
    (TimeoutError("timed out"), "this computer: timed out", 1),
    (KeyboardInterrupt(), "stopped", 130),
]


@pytest.mark.parametrize(("exc", "sentence", "status"), RAISED, ids=lambda one: str(one)[:20])
@pytest.mark.parametrize("as_json", [False, True])
def test_what_no_part_explains_is_one_sentence(exc, sentence, status, as_json, home, monkeypatch):
    def fail(*_, **__):
        raise exc

    monkeypatch.setattr(copies, "open_board", fail)
    done = CliRunner().invoke(tenner, ["pull", *(["--json"] if as_json else [])])
    assert done.exit_code == status, done.output
    (line,) = done.stderr.strip().splitlines()
    assert line.startswith(f"tenner: {sentence}")
    if as_json:
        found = json.loads(done.stdout)["error"]
        assert found["exit"] == status and found["message"] == line.removeprefix("tenner: ")
    else:
        assert done.stdout == ""


def command_line(shell, cwd=ROOT):
    return subprocess.run(
        ["bash", "-c", shell.replace("tenner ", f"{sys.executable} -m tenner_host.cli ")],
        cwd=cwd, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip


@pytest.mark.parametrize(
    "command", ["tenner setup --keys", "tenner setup --keys --json", "tenner --help"]
)
def test_a_reader_that_goes_away_is_no_traceback(command):
    done = command_line(f"set -o pipefail; {command} | true")
    assert done.stderr == "", done.stderr


@pytest.mark.parametrize("command", ["tenner setup --keys", "tenner skills list --json"])
def test_a_full_disk_behind_the_output_is_a_sentence(command):
    done = command_line(f"{command} > /dev/full")
    (line,) = done.stderr.splitlines()
    assert done.returncode == 1 and line.startswith("tenner: this computer: No space left")


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (OSError(errno.ECONNREFUSED, "Connection refused"), "Connection refused"),
        (FileNotFoundError(errno.ENOENT, "No such file", "x.txt"), "No such file"),
        (socket.gaierror(-2, "Name or service not known"), "Name or service not known"),
        (urllib.error.URLError(OSError(111, "Connection refused")), "Connection refused"),
        (UnicodeDecodeError("utf-8", b"\xe9", 0, 1, "invalid"), "it isn't UTF-8 text"),
        (TimeoutError(), "TimeoutError"),
        (ValueError("no JSON"), "no JSON"),
    ],
    ids=lambda one: type(one).__name__,
)
def test_an_error_is_told_without_its_number(error, words):
    assert reason(error) == words
