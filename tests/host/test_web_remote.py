"""`tenner web` for boards without a cable: a chip behind a real broker, and Linux boards in the
network. Each part that the way lacks is a sentence."""

import contextlib
import socket
import time
from concurrent.futures import ThreadPoolExecutor, wait

import pytest

from tenner.sensors.ring import Ring
from tenner_host.board.ports import Port
from tenner_host.remote import known
from tenner_host.remote.link import Link as Sealed
from tenner_host.web import remote_link
from tenner_sim import LIMIT_S
from tenner_sim.services.authority import Authority
from tests.host import lan_board, page_home
from tests.host.broker import Broker
from tests.host.remote_board import own_key, remote_board, tenner
from tests.host.test_web_page import Checked
from tests.host.web_client import Client, served

HEARTBEAT = page_home.HEARTBEAT
BETTER = HEARTBEAT.replace("30 reset 28", "29 reset 27")
WAYS = ("mqtt", *(f"lan-{name}" for name in page_home.INTERPRETERS))


class ChipAtBroker:
    """A chip behind a broker."""

    scheme = known.MQTT
    lifeline = "mqtt.every"

    def __init__(self, bench, broker):
        self._bench = bench
        self._broker = broker
        self.wait_for = bench.wait_for

    def warm(self):
        self._bench.board.set("room.temperature", 31.5)
        self._bench.wait_told("in the room")

    def read(self, path):
        return self._bench.board.read_tree()[path]

    def lose(self):
        """Take the way away."""
        self._broker.stop()

    def find_again(self):
        self._broker.start()
        self._bench.wait_for("connected as attic", 90)


class LinuxInNetwork:
    """A Linux board that takes sealed requests."""

    scheme = known.LAN
    lifeline = "web.port"

    def __init__(self, board):
        self._board = board
        self._home = board.home
        self.wait_for = board.wait_for
        self.read = board.read

    def warm(self):
        self._home.set(31.5)
        self._home.wait_for("in the room")

    def lose(self):
        self._home.starts_again = False
        self._home.process.kill()
        self._home.process.wait(LIMIT_S)

    def find_again(self):
        self._home.start()
        self._board.ready()


@pytest.fixture(scope="module", params=WAYS)
def board(request, tmp_path_factory):
    """A board and the way to it, which this computer knows."""
    folder = tmp_path_factory.mktemp("computer")
    own_key(folder / "config")
    (folder / "project" / ".tenner").mkdir(parents=True)
    (folder / "ring").mkdir()
    ring = Ring(str(folder / "ring" / "readings"), 8192)
    for minute in range(180, 0, -5):
        ring.keep(int(time.time()) - minute * 60, [("room.temperature", 20 + minute / 64)])
    files = {f"/state/{one.name}": one.read_bytes() for one in (folder / "ring").iterdir()}
    with contextlib.ExitStack() as stack:
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        patch.setenv("TENNER_CONFIG", str(folder / "config"))
        patch.chdir(folder / "project")
        if request.param == "mqtt":
            (folder / "broker").mkdir()
            broker = stack.enter_context(
                Broker(folder / "broker", Authority(), more="log_type all\n")
            )
            bench = stack.enter_context(remote_board(broker, files=files, heartbeat=HEARTBEAT))
            yield ChipAtBroker(bench, broker)
            return
        name = request.param.partition("-")[2]
        argv = page_home.argv_of(request, name)
        lib = page_home.lib_of(tmp_path_factory.getbasetemp(), name)
        files = {path[1:]: data for path, data in files.items()}
        yield LinuxInNetwork(
            stack.enter_context(
                lan_board.linux_home(folder / "home", argv, lib, files=files, heartbeat=HEARTBEAT)
            )
        )


@pytest.fixture(scope="module")
def client(board):
    with served(Port(f"{board.scheme}attic")) as server:
        yield Checked(server).pair()


def test_the_session_names_what_the_way_does_not_have(client, board):
    found = client("GET", "/session").json
    assert set(found["missing"]) == {"chat", "lines"} and found["offers"] == ["replay"]
    assert found["board"]["label"].startswith("attic over ")
    assert not found["board"]["restarts_for_files"]
    assert found["board"].get("slow", False) == (board.scheme == known.MQTT)
    answer = client("POST", "/chat", {"text": "say: hello"})
    assert (answer.status, answer.json["error"]) == (422, found["missing"]["chat"])
    assert client("POST", "/chat/answer", {"yes": True}).status == 409
    assert client("GET", "/chat").json["messages"] == []
    assert client("GET", "/log").json["lines"] == []


def test_an_alarm_is_seen_acknowledged_muted_and_explained(client, board):
    board.warm()
    found = client("GET", "/now").json
    assert found["problem"] is None and found["board"]["state"] == "connected", found
    assert found["agent"]["status"]["version"]
    task = found["agent"]["tasks"][0]
    assert task["state"].startswith("active since") and task["alarm"] is not None
    act = {"action": "ack", "id": str(task["alarm"])}
    answer = client("POST", "/alarms", act).json["answer"]
    # Where it has a name, a board says it.
    answer = answer.removeprefix("kitchen: ")
    assert answer.startswith("Acknowledged: ") and "; room.temperature " in answer
    assert client("GET", "/now").json["agent"]["tasks"][0]["state"].startswith("acknowledged")
    why = client("POST", "/alarms", {"action": "why", "id": "line 3"}).json["answer"]
    assert "last told" in why
    assert "Running" in client("POST", "/tasks/run", {"line": 4}).json["answer"]
    assert client("POST", "/update", {}).json["answer"]


def test_files_are_read_checked_replayed_and_written(client, board):
    assert client("GET", "/heartbeat").status == 422
    assert client("POST", "/files/read", {}).json["files_at"]
    (series,) = client("GET", "/readings?hours=2").json["series"]
    assert series["name"] == "room.temperature" and len(series["points"]) > 15
    assert client("GET", "/log").json["runs"]
    found = client("GET", "/heartbeat").json
    assert found["text"] == HEARTBEAT
    assert client("POST", "/heartbeat/replay", {"text": BETTER}).json["model_calls"] >= 0
    stale = {"text": BETTER, "version": "0" * 32}
    assert "meanwhile" in client("PUT", "/heartbeat", stale).json["error"]
    # Twice in one session.
    for text in (HEARTBEAT + "\n", BETTER):
        answer = client("PUT", "/heartbeat", {"text": text, "version": found["version"]})
        assert answer.status == 200, answer.body
        found = answer.json
        assert board.read("/workspace/HEARTBEAT.md").decode() == text


def test_a_file_is_written_twice_without_a_look_in_between(client, board):
    def work(there):
        there.manifest(["/workspace/HEARTBEAT.md"])
        for text in (HEARTBEAT + "- Look.\n", BETTER):
            there.write_files({"/workspace/HEARTBEAT.md": text.encode()})

    client.server.site.link.files(work).result(LIMIT_S)
    assert board.read("/workspace/HEARTBEAT.md").decode() == BETTER


def test_settings_are_changed_but_for_those_that_would_cut_it_off(client, board):
    client("POST", "/files/read", {})
    rows = {one["key"]: one for one in client("GET", "/settings").json["settings"]}
    assert rows["llm.api_key"]["value"] == "***"
    key = board.lifeline
    answer = client("PATCH", "/settings", {"changes": {key: "9000" if "port" in key else "30s"}})
    assert answer.status == 422 and "cannot be changed over the air" in answer.json["error"]
    answer = client("PATCH", "/settings", {"changes": {"name": "Attic board"}})
    assert answer.json["agent"]["running"], answer.body
    client("POST", "/files/read", {})
    assert client("GET", "/session").json["board"]["name"] == "Attic board"


def test_a_board_that_is_away_is_a_sentence_and_comes_back(client, board, monkeypatch):
    # A minute, otherwise.
    monkeypatch.setitem(Sealed.ask.__kwdefaults__, "limit_s", 3.0)
    monkeypatch.setattr(remote_link, "_OPEN_S", 3.0)
    board.lose()
    client.server.state.agent = None
    problem = client("GET", "/now").json["problem"]
    assert problem and "\n" not in problem
    assert client("GET", "/session").json["board"]["state"] == "lost"
    board.find_again()
    end = time.monotonic() + 2 * LIMIT_S
    while client("GET", "/now").json["problem"] and time.monotonic() < end:
        pass
    assert client("GET", "/session").json["board"]["state"] == "connected"


def test_another_command_takes_the_session_over_and_the_page_takes_it_back(
    client, board, monkeypatch
):
    # An old session's request is in vain for a minute, otherwise.
    monkeypatch.setitem(Sealed.ask.__kwdefaults__, "limit_s", 10.0)
    client.server.state.agent = None
    assert client("GET", "/now").json["problem"] is None
    if board.scheme == known.MQTT:
        # The broker brings the other command's answers here, too.
        monkeypatch.setattr(remote_link, "_SURE_S", 600.0)
        assert "tenner 0." in tenner("status", "--via", "mqtt:attic")
    else:
        monkeypatch.setattr(remote_link, "_SURE_S", 0.0)
        monkeypatch.setattr(remote_link, "_ALIVE_S", 2.0)
    client.server.state.agent = None
    assert client("GET", "/now").json["problem"] is None


def test_a_silent_board_does_not_hold_the_end_up(tmp_path, monkeypatch):
    own_key(tmp_path / "config")
    monkeypatch.setenv("TENNER_CONFIG", str(tmp_path / "config"))
    with socket.create_server(("127.0.0.1", 0)) as silent, ThreadPoolExecutor() as pool:
        lan_board.learn("feed", "attic", silent.getsockname()[1])
        with served(Port(f"{known.LAN}attic")) as server:
            asking = pool.submit(Client(server).pair(), "GET", "/now")
            line, _ = silent.accept()
            line.recv(1)
        # The server has ended, and its browser with it, while the board still says nothing.
        assert server.site.link.state == "connecting"
        assert wait([asking], LIMIT_S).done
        line.close()


def test_an_unknown_board_is_a_sentence_at_once(board):
    way = board.scheme.removesuffix("://")
    said = tenner("web", "--listen", "0", "--via", f"{way}:nobody.invalid:x", code=1)
    assert "known" in said or "neither a known board" in said
