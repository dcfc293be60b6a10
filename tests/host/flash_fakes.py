"""Helpers for the tests of `tenner flash`: a used board, its owner's files, images, the command in
this process."""

import contextlib
import functools
import random

from click.testing import CliRunner

from tenner_host import build
from tenner_host.cli import main
from tenner_sim.vboard import VirtualBoard, image
from tenner_sim.vboard.chips import MODELS
from tests.host.json_documents import fits

C3 = MODELS["esp32c3"]
#: The files of an owner and an agent on a board.
OWN = {
    "/config.json": b'{"wifi": {"ssid": "s", "password": "secret"}}',
    "/certs/root.der": bytes(range(256)) * 4,
    "/workspace/HEARTBEAT.md": b"# Heartbeat\n\n- (every 1h) Say how it is.\n",
    "/workspace/memory/MEMORY.md": b"The owner likes it warm.\n" * 300,
    "/state/sessions/owner.log": b'["u","hello"]\n' * 400,
    "/lib/mine.py": b"x = 1\n",
}


def noise(seed):
    """Code that does not compress, so that writing it takes a while."""
    return random.Random(seed).randbytes(60000)


#: The same for all tests.
firmware_tree = functools.cache(build.firmware_tree)


def place(folder, monkeypatch):
    """A project, a cache and virtual boards of this test's own, below `folder`."""
    for name in ("project", "cache", "sim"):
        (folder / name).mkdir()
    monkeypatch.chdir(folder / "project")
    monkeypatch.setenv("TENNER_CACHE", str(folder / "cache"))
    monkeypatch.setenv("TENNER_SIM_DIR", str(folder / "sim"))
    monkeypatch.delenv("TENNER_PORT", raising=False)
    monkeypatch.setattr("tenner_host.flash.loader.CONNECT_ATTEMPTS", 1)


def tenner(*arguments, code=0, text=None):
    """Run the command in this process; its result, after a look at the exit status."""
    done = CliRunner().invoke(main, [str(one) for one in arguments], input=text)
    if done.exception and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == code, done.output
    return done


def flashed(*arguments):
    """The report of a flash that is done."""
    return fits("flash", tenner("flash", "--json", *arguments).stdout)


def refused(code, *arguments, text=None):
    """Return the error of a flash that is refused."""
    said = tenner("flash", *arguments, code=code, text=text).stderr
    assert "Traceback" not in said
    return said


def written(folder, name="micropython.bin", model=C3, **what):
    """An image as a file."""
    path = folder / name
    path.write_bytes(image.firmware_image(model, **what))
    return path


def tree():
    """A board with the agent, set up and used."""
    return {**firmware_tree("VIRTUAL", workspace=True), **OWN}


@contextlib.contextmanager
def board(files=None, **options):
    with VirtualBoard(tree() if files is None else files, name="one", **options) as started:
        yield started


def own(board):
    """The owner's files on the board."""
    there = board.read_tree()
    return {path: there.get(path) for path in OWN}
