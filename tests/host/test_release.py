"""`tenner release`: the key, the file, a board that checks it, and the sync that brings the
key."""

import hashlib
import json
import os
import shutil
import stat

import pytest
from click.testing import CliRunner

from tenner.update.manifest import Manifest, Refused
from tenner_host import tenner_version
from tenner_host.cli import main as tenner
from tenner_host.project import Project
from tenner_host.release import keys
from tenner_sim.vboard import VirtualBoard, image
from tests.host.releases import code, key, public, release
from tests.host.test_sync import agent, code_of, run


@pytest.fixture
def project(folder, monkeypatch):
    monkeypatch.setenv("TENNER_SIM_DIR", str(folder / "sim"))
    (folder / "workspace").mkdir()
    return Project(folder)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("TENNER_CONFIG", str(tmp_path / "config"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def call(*arguments):
    return CliRunner().invoke(tenner, ["release", *arguments])


def board_of(folder, line):
    (folder / "lib").mkdir(exist_ok=True)
    (folder / "lib" / "release.keys").write_bytes(line)
    return str(folder)


def head(data):
    return data[: data.index(b"\n", data.index(b"\nsignature ") + 1) + 1]


@pytest.mark.parametrize("bits", ["2048", "3072"])
def test_a_new_key_signs_a_release_that_a_board_takes(folder, bits):
    done = call("--new-key", "--bits", bits, "--json")
    private = folder / "config" / "release-key.pem"
    assert json.loads(done.output)["key"] == str(private)
    if os.name == "posix":
        assert stat.S_IMODE(private.stat().st_mode) == 0o600
    done = call("--version", "9.1.0", "--notes", "Two\nlines.", "--json")
    assert done.exit_code == 0, done.output
    data = (folder / "tenner-9.1.0-esp32.release").read_bytes()
    assert json.loads(done.output)["bytes"] == len(data)
    board = board_of(folder, keys.board_files()[keys.ON_BOARD])
    found = Manifest(head(data), board)
    found.check("esp32", tenner_version())
    assert (found.version, found.notes) == ("9.1.0", "Two lines.")
    # This board has no page, and needs none of its files, which are the last ones.
    of_page = [line.split() for line in head(data).decode().splitlines() if " page/" in line]
    assert {path for *_, path in of_page} == {"page/data.pack", "page/page.pack"}
    rest = sum(int(size) for _, size, *_ in of_page)
    assert found.total() == len(data) - len(head(data)) - rest
    assert b'__version__ = "9.1.0"' in data
    # Pins are the board's own, and nothing of the owner is in it.
    assert b" pins.csv\n" not in head(data)
    assert private.read_bytes() not in data


def test_the_project_signs_with_a_key_of_its_own(folder, monkeypatch):
    """The file in the tree has comments until there is a key; a test has a key of its own."""
    for line in keys.PROJECT.read_text().splitlines():
        assert line.startswith(("# ", "rsa "))
    private = keys.new_key().rename(folder / "project.pem")
    public_half = (folder / "config" / "release-key.pub").read_text()
    (folder / "config" / "release-key.pub").unlink()
    both = folder / "project.keys"
    both.write_text(keys.PROJECT.read_text() + public_half)
    monkeypatch.setattr(keys, "PROJECT", both)
    assert call("--key", str(private), "--version", "9.1.0", "project.release").exit_code == 0
    data = (folder / "project.release").read_bytes()
    # With and without a key of the owner.
    for owner in (False, True):
        if owner:
            call("--new-key")
        board = board_of(folder, keys.board_files()[keys.ON_BOARD])
        Manifest(head(data), board).check("esp32", tenner_version())


def test_the_first_setup_makes_the_owners_key(folder):
    with VirtualBoard(agent(1) | {"/config.json": b"{}"}) as board:
        command = ["setup", "--port", board.pty, "--no-test", "--set", "name=hall"]
        assert CliRunner().invoke(tenner, command).exit_code == 0
        private = folder / "config" / "release-key.pem"
        made = private.read_bytes()
        there = board.read_tree()
        line = (folder / "config" / "release-key.pub").read_bytes()
        assert there[keys.ON_BOARD] == keys.PROJECT.read_bytes() + line
        # Never on the board.
        secret = made.split(b"\n")[1]
        assert not any(b"PRIVATE KEY" in data or secret in data for data in there.values())
        assert CliRunner().invoke(tenner, command).exit_code == 0
        assert private.read_bytes() == made


def test_a_board_refuses_the_release_of_another_key(folder):
    data = release({"app.mpy": b"M\x06x"}, signer="stranger")
    with pytest.raises(Refused, match=f"key {keys.key_id(keys.public_line(key('stranger')))}"):
        Manifest(head(data), board_of(folder, public()))


def test_owners_mistakes_are_sentences(folder):
    assert "`tenner release --new-key` makes one" in call().output
    call("--new-key")
    assert "boards that know it would refuse" in call("--new-key").output
    assert "three numbers, such as 0.2.0, not '9'" in call("--version", "9").output
    assert "no chip family 'rp2'; available: esp32" in call("--family", "rp2").output
    assert "over 300 bytes" in call("--notes", "x" * 301).output
    private = folder / "config" / "release-key.pem"
    if os.name == "posix":
        private.chmod(0o644)
        assert "others may read" in call().output
        private.chmod(0o600)
    private.write_text("nothing")
    assert "isn't a private key in PEM form" in call().output
    for words in ([], ["--new-key"]):
        assert call(*words).exit_code == 1


@pytest.mark.parametrize("whole", [True, False])
def test_a_release_has_the_micropython_of_an_image(folder, whole):
    call("--new-key")
    made = image.firmware_image(version="1.29.1", code=b"new" * 400)
    # A ROMFS partition behind it, as in the project's own images, is no part of it.
    path = folder / "image.bin"
    path.write_bytes(made + b"\xff" * 5000 if whole else made[image.APP_OFFSET :])
    done = call("x.release", "--version", "9.1.0", "--micropython", str(path))
    assert "with MicroPython 1.29.1 for the ESP32-C3" in done.output
    data = (folder / "x.release").read_bytes()
    found = Manifest(head(data), board_of(folder, keys.board_files()[keys.ON_BOARD]))
    assert found.micropython == ["5", "ESP32-C3", "1.29.1"]
    assert data.endswith(made[image.APP_OFFSET :])
    assert found.files[-1][2] == hashlib.sha256(made[image.APP_OFFSET :]).digest()


def test_no_release_has_a_micropython_that_would_not_start(folder):
    call("--new-key")
    path = folder / "image.bin"
    for data, said in (
        (image.firmware_image()[:-100], "is damaged"),
        (image.firmware_image(version="1.21.0"), "the agent needs 1.22 or newer"),
        (image.firmware_image(version="mine"), "does not say which MicroPython it is"),
        (b"<html>", "is a web page"),
    ):
        path.write_bytes(data)
        done = call("x.release", "--micropython", str(path))
        assert done.exit_code == 6
        assert said in done.output


def test_two_releases_of_the_same_code_are_the_same_file():
    assert release(code("9.1.0")) == release(code("9.1.0"))


def test_a_sync_brings_the_key_and_ends_the_trial_of_an_update(project):
    left = {
        "/lib/trial": b"1 9.0.0 0.2.0\n",
        "/lib/trial.log": b"log",
        "/lib/tenner.old/app.mpy": b"old",
        "/lib/tenner.new/port/x.mpy": b"new",
    }
    call("--new-key")
    tree = agent(1) | keys.board_files()
    with VirtualBoard(agent(1) | left) as board:
        run(board, project, tree)
        assert code_of(board) == tree
        folders = {path.split("/")[2] for path in board.read_tree() if path.startswith("/lib/")}
        assert folders == {"release.keys", "tenner"}
        # A computer without a key leaves it, and brings a new board the project's.
        run(board, project, agent(2))
        assert code_of(board)[keys.ON_BOARD] == tree[keys.ON_BOARD]
    shutil.rmtree(keys.place().parent)
    assert keys.board_files(tree) == {}
    assert keys.board_files() == {keys.ON_BOARD: keys.PROJECT.read_bytes()}
