"""Boards without a cable: sync, settings, logs and answers through a real broker that is not
trusted, and in a network that is not trusted either."""

import contextlib
import hashlib
import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from tenner_host.board.ports import Port
from tenner_host.board.remote_board import RemoteBoard
from tenner_host.errors import BoardSilent, CommandError, Conflict
from tenner_host.project import Project
from tenner_host.remote import known
from tenner_host.remote.link import Link
from tenner_sim.services.authority import Authority
from tenner_sim.vboard.wifi import ADDRESS
from tests.host import lan_board
from tests.host.broker import Broker, Owner
from tests.host.remote_board import KEY, own_key, remote_board, tenner

VIA = ("--via", "mqtt")
WAYS = ("mqtt", *(f"lan-{kind}" for kind in lan_board.KINDS))


@pytest.fixture
def home(tmp_path, monkeypatch):
    """The owner's computer: its keys, and a project's folder."""
    own_key(tmp_path / "config")
    monkeypatch.setenv("TENNER_CONFIG", str(tmp_path / "config"))
    project = tmp_path / "project"
    (project / ".tenner").mkdir(parents=True)
    (project / "workspace").mkdir()
    monkeypatch.chdir(project)
    return project


@pytest.fixture
def broker(tmp_path):
    folder = tmp_path / "broker"
    folder.mkdir()
    with Broker(folder, Authority(), more="log_type all\n") as running:
        yield running


class ChipAtBroker:
    """A chip behind a broker."""

    via = VIA
    scheme = known.MQTT
    lifeline = "mqtt"

    def __init__(self, bench):
        self.bench = bench
        self.wait_for = bench.wait_for
        self.device = known.find("attic").device

    def read(self, path):
        return on_board(self.bench, path)

    def paths(self):
        return set(self.bench.board.read_tree())

    def ready(self):
        self.bench.wait_for("connected as attic", 60)


@pytest.fixture(scope="module")
def libs(tmp_path_factory):
    return tmp_path_factory.mktemp("lib")


@pytest.fixture(params=WAYS)
def board(request, home, tmp_path, libs):
    """A board and the way to it."""
    with contextlib.ExitStack() as stack:
        if request.param == "mqtt":
            broker = request.getfixturevalue("broker")
            yield ChipAtBroker(stack.enter_context(remote_board(broker)))
            return
        kind = request.param.partition("-")[2]
        yield stack.enter_context(lan_board.board(request, kind, tmp_path / "home", libs))


def on_board(bench, path):
    return bench.board.read_tree()[path]


def test_the_commands_work_without_a_cable(board, home):
    via = board.via
    assert "tenner 0." in tenner("status", *via)
    assert "next_in_s" in json.loads(tenner("why", *via, "--json"))
    assert json.loads(tenner("status", *via, "--json"))["services"]

    # Both directions, then nothing to do, then a change here.
    (home / "workspace" / "NOTE.md").write_text("from here\n" * 300)
    said = tenner("sync", *via)
    assert "NOTE.md: here -> board" in said
    assert "HEARTBEAT.md: board -> here" in said
    assert "it comes by `tenner update`" in said
    assert board.read("/workspace/NOTE.md") == b"from here\n" * 300
    assert (home / "workspace" / "SENSORS.json").is_file()
    assert "nothing to do" in tenner("sync", *via)
    (home / "workspace" / "NOTE.md").unlink()
    assert "kept on the other side" in tenner("sync", *via)
    assert "deleted here" in tenner("sync", *via, "--delete")
    assert "/workspace/NOTE.md" not in board.paths()

    # Settings: set and shown; secrets travel sealed.
    tenner("setup", "--set", "name=Attic board", *via)
    board.ready()
    assert '"Attic board"' in tenner("setup", "--show", *via)
    assert json.loads(board.read("/config.json"))["name"] == "Attic board"

    made = home / "made.zip"
    assert "files (" in tenner("backup", made, *via)
    assert made.stat().st_size > 1000
    assert "heartbeat" in tenner("logs", *via)


def test_a_file_is_written_twice_in_one_session(board, home):
    """The agent may change the file between a sync and the next; here nobody does."""
    port = Port(board.scheme + "attic")
    with RemoteBoard.open(port) as there:
        there.manifest(["/workspace"])
        for text in (b"one", b"two"):
            there.write_files({"/workspace/NOTE.md": text})
            assert board.read("/workspace/NOTE.md") == text
        there.remove(["/workspace/NOTE.md"])
        there.write_files({"/workspace/NOTE.md": b"three"})
        # In place of the agent, which has no reason to change it.
        there.link.ask("write", b"agent", path="/workspace/NOTE.md", at=0, size=5)
        digest = hashlib.sha256(b"agent").hexdigest()
        there.link.ask("commit", path="/workspace/NOTE.md", sha256=digest, old="*")
        with pytest.raises(Conflict, match="the agent has just changed /workspace/NOTE.md"):
            there.write_files({"/workspace/NOTE.md": b"four"})


def test_what_would_cut_the_board_off_is_refused(board):
    before = board.read("/config.json")
    for setting, section in (
        ("mqtt.every=30s", "mqtt"),
        ("web.port=9000", "web"),
        ("wifi.ssid=elsewhere", "wifi"),
        ("power.mode=sleep", "power"),
    ):
        if section in (board.lifeline, "wifi", "power"):
            said = tenner("setup", "--set", setting, *board.via, code=1)
            assert f"{section}.* cannot be changed over the air" in said, said
    assert board.read("/config.json") == before
    for arguments, word in (
        (("flash",), "`tenner flash` needs the cable"),
        (("repl",), "a console needs the cable"),
        (("chat", "hello"), "a console needs the cable"),
        (("doctor",), "`tenner doctor` needs the cable"),
    ):
        assert word in tenner(*arguments, *board.via, code=1)


def test_another_owner_gets_nothing(board, tmp_path, monkeypatch):
    mine = known.find("attic", None, board.scheme)
    # Another owner's key, with the key of the board; and for another board.
    own_key(tmp_path / "other", "somebody")
    monkeypatch.setenv("TENNER_CONFIG", str(tmp_path / "other"))
    with contextlib.closing(Link(mine, board.scheme)) as stranger:
        with pytest.raises(CommandError, match="not signed by a key that this board knows"):
            stranger.open()
    monkeypatch.setenv("TENNER_CONFIG", str(tmp_path / "config"))
    other = known.Known(**{**vars(mine), "device": "feed"})
    with contextlib.closing(Link(other, board.scheme)) as link:
        with pytest.raises(CommandError, match="for the board feed, this one is"):
            link.open()
    # Without the board's own key there is no answer at all.
    lost = known.Known(**{**vars(mine), "key": "00" * 32})
    with contextlib.closing(Link(lost, board.scheme)) as link:
        with pytest.raises(BoardSilent, match="gave no answer in 3 s|no request of this board's"):
            link.open(3)
    # The owner gets in all the same.
    assert "tenner 0." in tenner("status", *board.via)


def test_nothing_gets_in_twice(broker, home):
    with remote_board(broker) as bench:
        mine = known.find("attic")
        spy = Owner(broker, ["attic/#"], binary=True)
        link = Link(mine)
        link.open()
        about = link.ask("info")[0]
        assert (about["trial"], about["slots"]) == ("", 1)
        secret = link.ask("read", path="/config.json", at=0)[1]
        assert b'"token"' in secret

        def heard_on(way):
            return [data for topic, data in list(spy.heard) if topic == f"attic/remote/{way}"]

        # The last part of the last reply may come to the spy a moment later.
        spy.wait("/remote/out", lambda _: len(heard_on("out")) >= 4)
        heard = {way: heard_on(way) for way in ("in", "out")}
        assert len(heard["in"]) == 3
        assert not any(b"token" in data for data in heard["in"] + heard["out"])

        # Replayed: the opening is older than the last, the frames are no next ones.
        before = on_board(bench, "/lib/remote.a")
        for data, said in (
            (heard["in"][0], "came before"),
            (heard["in"][1], "dropped request 1: 3 is next"),
            (heard["out"][1], "not from the computer of this board's owner"),
            (b"\x00" + bytes(60), "not from the computer of this board's owner"),
            (b"tenner-request 1\nboard x\nmac 00\n", "not from the computer of this"),
            (heard["in"][2][:-1], "not from the computer of this board's owner"),
        ):
            spy.publish("attic/remote/in", data)
            bench.wait_for(said)
        # Too long: not even looked at.
        spy.publish("attic/remote/in", b"x" * 3000)
        assert on_board(bench, "/lib/remote.a") == before
        # The session goes on all the same.
        assert link.ask("info")[0]["trial"] == ""

        # A broker that lies: old replies, and parts of them.
        for data in (heard["out"][1], heard["out"][2][:-3], b"", b"\x00" * 40, b"x" * 2000):
            spy.publish("attic/remote/out", data)
        assert link.ask("info")[0]["trial"] == ""
        assert link.forged >= 5
        link.close()

        spy.close()


def test_a_broker_cannot_answer_for_a_board(broker, home):
    """The board is away, and the broker answers in its place."""
    key = {known.ON_BOARD: KEY.encode()}
    mqtt = {name.partition(".")[2]: value for name, value in broker.settings().items()}
    known.learn("feed", key, {"mqtt": {**mqtt, "topic": "attic"}}, [broker.authority.der])
    liar = Owner(broker, ["attic/remote/in"], binary=True)
    liar.publish("attic/status", "online", retain=True)
    link = Link(known.find("feed"))

    def lie():
        liar.wait("/remote/in")
        for answer in (b"open " + b"00" * 16, b"no way"):
            liar.publish("attic/remote/out", b"ab" * 32 + b" " + answer)

    with ThreadPoolExecutor() as pool:
        lying = pool.submit(lie)
        with pytest.raises(BoardSilent, match="2 messages came that it did not send"):
            link.open(5)
        lying.result()
    link.close()
    liar.close()


def test_a_sync_over_the_cable_makes_the_link(broker, home):
    with remote_board(broker) as bench:
        (known_file,) = (home.parent / "config" / "boards").glob("*.json")
        known_file.unlink()
        assert "no board is known" in tenner("status", *VIA, code=1)
        tenner("sync", "--port", bench.board.pty)
        # Another key than that of before, which this computer does not know.
        key = known.find("", Project.find()).key
        assert on_board(bench, known.ON_BOARD) == key.encode() != KEY.encode()
        assert known_file.stat().st_mode & 0o077 == 0
        bench.wait_for("connected as attic")
        assert "telegram: " in tenner("status", *VIA)


def test_a_sync_over_the_cable_notes_a_chips_address(home):
    with lan_board.chip() as chip:
        (known_file,) = (home.parent / "config" / "boards").glob("*.json")
        known_file.unlink()
        assert "this computer knows no board" in tenner("status", *chip.via, code=1)
        tenner("sync", "--port", chip.bench.board.pty)
        found = known.find("", Project.find(), known.LAN)
        assert (found.address, found.web_port) == (ADDRESS[0], chip.port)
        assert chip.read(known.ON_BOARD) == found.key.encode() != KEY.encode()
        chip.ready()
        # The page of a virtual board is at the loopback address of this computer.
        assert "tenner 0." in tenner("status", "--via", "lan:127.0.0.1")
        assert "tenner 0." in tenner("status", *chip.via)
