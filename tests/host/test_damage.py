"""An alarm arrives and the page is served, although the files of the state are damaged."""

import json
import os
import resource
import shutil
import stat

import pytest

from tenner.store import config
from tenner_sim.services import OWNER
from tenner_sim.services.telegram_people import TOKEN
from tests.host import page_home
from tests.setting_values import wrong_json

pytestmark = pytest.mark.long

#: Every file that an agent may keep in /state.
NAMES = (
    "heartbeat.json", "cron.json", "browsers.json", "cooldown.json", "runs.jsonl", "said.jsonl",
    "held.jsonl", "outbox.jsonl", "failed.jsonl", "page.jsonl", "episodes.jsonl", "sending.a",
    "sending.b", "telegram.a", "telegram.b", "owner.a", "owner.b", "budget.a", "budget.b",
    "update.a", "update.b", "update.run",
    "readings", "tls", "starts", "again", "config.wrong", "config.good",
    f"sessions/telegram_{OWNER}.jsonl", "sessions", "mcp", "mcp/home.json", "outgoing",
    "tails.part", "../workspace/AGENTS.md", "../workspace/memory", "../workspace/tools",
    "../workspace/skills",
)  # fmt: skip
MEGABYTES = 3


def _folder(path):
    path.mkdir()
    (path / "inside").write_bytes(b"x")


def _forbidden(path):
    path.write_bytes(b"{}")
    path.chmod(0)


def _socket(path):
    os.mknod(path, stat.S_IFSOCK | 0o600)


def _link(path):
    """To a file of another: of the test's, for the agent may write there."""
    others = path.parent / "others.bad"
    others.write_text("the file of another")
    path.symlink_to(others)


KINDS = {
    "empty": lambda path: path.write_bytes(b""),
    "random": lambda path: path.write_bytes(os.urandom(700)),
    "nul": lambda path: path.write_bytes(bytes(700)),
    "deep": lambda path: path.write_bytes(b"[" * 3000 + b"]" * 3000),
    "megabytes": lambda path: path.write_bytes(os.urandom(MEGABYTES << 20)),
    "half": lambda path: path.write_bytes(b'{"a": [1, 2, {"b": "'),
    "folder": _folder,
    "link": _link,
    "endless": lambda path: path.symlink_to("/dev/zero"),
    "nowhere": lambda path: path.symlink_to("/nowhere/at/all"),
    "loop": lambda path: path.symlink_to(path.name),
    "socket": _socket,
    "forbidden": _forbidden,
}


def damage(root, kind):
    """Put a thing of this kind in the place of each file and folder of the state."""
    for name in NAMES:
        path = root / "state" / name
        if not path.parent.is_dir() or path.parent.is_symlink():
            continue
        if path.is_dir() and not path.is_symlink() and (kind == "folder" or name == "sessions"):
            continue
        while True:
            _remove(path)
            try:
                KINDS[kind](path)
                break
            except FileExistsError:
                # The running agent has just written it.
                continue


def _remove(path):
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def is_told(home, value):
    """The alarm of this value reaches the owner on Telegram, and ends."""
    telegram = home.services.telegram
    before = len(telegram.sent)
    home.set(value)
    arrives(telegram, before, f"It is {value} °C in the room")
    home.set(20)
    arrives(telegram, before, "back to normal")


def arrives(telegram, before, text):
    count = before
    while not any(text in message.text for message in telegram.sent[before:]):
        count += 1
        telegram.wait_sent(count, chat_id=OWNER)


@pytest.fixture
def home(request, tmp_path):
    argv = page_home.argv_of(request, request.param)
    lib = page_home.lib_of(tmp_path, request.param)
    owner = {"telegram.token": TOKEN, "telegram.owner": str(OWNER)}
    with page_home.home(tmp_path, argv, lib, changes=owner) as made:
        made.open()
        is_told(made, 31)
        yield made
        assert made.process.poll() is None


on_each = pytest.mark.parametrize("home", ["cpython", "micropython32"], indirect=True)


@on_each
def test_a_start_with_damaged_state(home):
    for number, kind in enumerate(KINDS):
        home.stop()
        damage(home.root, kind)
        home.start().open()
        is_told(home, 31 + number)
    assert not [line for line in home.lines if "Traceback" in line], home.lines


@on_each
def test_state_that_is_damaged_while_the_agent_runs(home):
    for number, kind in enumerate(one for one in KINDS if one != "endless"):
        damage(home.root, kind)
        is_told(home, 31.5 + number)
    home.reset()
    home.open()
    is_told(home, 50)


@on_each
def test_a_start_with_wrong_settings(home):
    path = home.root / "config.json"
    right = json.loads(path.read_text())
    for turn in range(3):
        home.stop()
        wrong = {}
        for row in config.rows():
            key = row[0].replace("*", "0")
            if key.split(".")[0] not in right and key.split(".")[0] != "llm":
                found = [one for one in wrong_json(row[1]) if len(one) < 100]
                wrong[key] = found[turn * 7 % len(found)]
        text = ",\n".join(f'"{key}": {value}' for key, value in wrong.items())
        path.write_text(json.dumps(right)[:-1] + ",\n" + text + "}")
        before = len(home.services.telegram.sent)
        home.start().open()
        arrives(home.services.telegram, before, "Settings that are wrong, and not used:")
        for key in wrong:
            assert any(f": {key}" in line and "; until then it is" in line for line in home.lines)
        is_told(home, 31 + turn)
    path.write_text(json.dumps(right))


@on_each
def test_a_start_with_settings_that_cannot_be_read(home):
    """Those of the last start hold, and the owner is told once."""
    path = home.root / "config.json"
    right = path.read_bytes()
    for number, damaged in enumerate(
        (b"", b"[]", right[:-3], right.decode().encode("utf-16"), right[:-1] + b', "x": NaN}')
    ):
        home.stop()
        path.write_bytes(damaged)
        before = len(home.services.telegram.sent)
        home.start().open()
        arrives(home.services.telegram, before, "Settings that are wrong, and not used:")
        told = home.services.telegram.sent[-1].text
        assert "config.json: " in told and "the settings of the last start are used" in told
        is_told(home, 31 + number)
    home.stop()
    path.unlink()
    path.mkdir()
    before = len(home.services.telegram.sent)
    home.start().open()
    arrives(home.services.telegram, before, "config.json is not a file")
    is_told(home, 37)
    home.stop()
    path.rmdir()
    os.mkfifo(path)
    home.start().open()
    is_told(home, 38)
    path.unlink()
    path.write_bytes(right)


@on_each
def test_a_start_without_a_folder_for_the_state(home):
    home.stop()
    shutil.rmtree(home.root / "state")
    (home.root / "state").write_bytes(b"x")
    home.start().open()
    is_told(home, 31)
    assert (home.root / "state.bad").read_bytes() == b"x"


@pytest.mark.parametrize("name", ["cpython", "micropython32"])
def test_a_disk_that_takes_nothing_holds_no_message_back(request, tmp_path, name):
    # A limit on the size of a file, whose signal is ignored, is a full disk for one process.
    argv = ("sh", "-c", 'trap "" XFSZ; exec "$@"', "sh", *page_home.argv_of(request, name))
    lib = page_home.lib_of(tmp_path, name)
    owner = {"telegram.token": TOKEN, "telegram.owner": str(OWNER)}
    with page_home.home(tmp_path, argv, lib, changes=owner) as home:
        home.open()
        is_told(home, 31)
        telegram = home.services.telegram
        before = len(telegram.sent)
        resource.prlimit(home.process.pid, resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
        is_told(home, 32)
        telegram.say(OWNER, "say: I am here")
        arrives(telegram, before, "I am here")
        is_told(home, 33)
        resource.prlimit(home.process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
        is_told(home, 34)
        told = [message.text for message in telegram.sent[before:]]
        for notice in ("I cannot write to my files", "I can write to my files again"):
            assert len([text for text in told if notice in text]) == 1, told
        assert not [line for line in home.lines if "Traceback" in line], home.lines


@on_each
def test_files_of_megabytes_hold_nothing_up(home):
    text = (home.root / "workspace" / "HEARTBEAT.md").read_text()
    rest = "- (daily 03:00) Say: this line is one of very many.\n" * 60_000
    (home.root / "workspace" / "HEARTBEAT.md").write_text(text + rest)
    jobs = [{"id": str(number), "message": "x" * 50} for number in range(40_000)]
    (home.root / "workspace" / "CRON.json").write_text(json.dumps({"jobs": jobs}))
    home.wait_for("HEARTBEAT.md is over 32 KB: its end is not read")
    is_told(home, 35)
