"""`tenner update`: boards behind a broker that is not trusted fetch a release from this computer,
try it, and no more are started after one fails."""

import contextlib
import http.client
import socket
import ssl
import threading
import time
from types import SimpleNamespace

import pytest

from tenner_host import FIRMWARE, tenner_version
from tenner_host.errors import CommandError
from tenner_host.release.micropython import MicroPython
from tenner_host.release.release import about
from tenner_host.remote import known
from tenner_host.remote.known import Known
from tenner_host.remote.link import Link
from tenner_host.update import one, staged
from tenner_host.update.command import _report
from tenner_host.update.one import End, Result, misfit
from tenner_host.update.server import NAME, ReleaseServer, address_towards
from tenner_sim import LIMIT_S
from tenner_sim.services.authority import Authority
from tenner_sim.vboard import image
from tests.host.broker import Broker, Owner
from tests.host.json_documents import printed
from tests.host.releases import SHORT_TRIAL, code, micropython_of, release
from tests.host.remote_board import own_key, remote_board, tenner
from tests.host.test_update import TRIAL_MS
from tests.ports import free_port

pytestmark = pytest.mark.long

OLD = tenner_version()
HERE = ("--address", "127.0.0.1")
BOARDS = tuple("attic barn cellar den foyer garage hall kitchen loft porch".split())
#: A version that renames a setting does not start on a board that has set it.
RENAMES = ("tools/settings.tsv", "skills.index\t", "skills.list\t")
SETS_IT = {"skills.index": "https://skills.example/index.json"}


@pytest.fixture
def home(tmp_path, monkeypatch):
    """The owner's computer: its keys, and a project's folder."""
    own_key(tmp_path / "config")
    monkeypatch.setenv("TENNER_CONFIG", str(tmp_path / "config"))
    monkeypatch.setenv("TENNER_SIM_DIR", str(tmp_path / "sim"))
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    return project


@pytest.fixture
def broker(tmp_path):
    folder = tmp_path / "broker"
    folder.mkdir()
    with Broker(folder, Authority(), more="log_type all\n") as running:
        yield running


def short_trials(is_bad):
    """The file that lets a watchdog end a trial sooner, and soon for a version that is bad."""
    script = (FIRMWARE / "boot_trial.py").read_text()
    assert TRIAL_MS in script
    return {"/boot_trial.py": script.replace(TRIAL_MS, f"TRIAL_MS = {12000 if is_bad else 60000}")}


def board(broker, name="attic", rows=image.PARTITIONS, **changes):
    """A board whose watchdog ends a trial soon, if the new version does not fit its settings."""
    return remote_board(broker, name, short_trials(bool(changes)), changes, name=name, rows=rows)


def made(home, *changes, version="0.9.0", micropython=None):
    """A file with a release of the changed firmware, whose trial is short."""
    place = home / f"{version}.release"
    files = code("0.9.0", SHORT_TRIAL, *changes)
    place.write_bytes(release(files, version, micropython=micropython))
    return place


def test_a_board_fetches_a_release_and_keeps_it(broker, home):
    with board(broker) as bench:
        said = tenner("update", "--file", made(home), *HERE)
        assert f"attic: fetches 0.9.0 in place of {OLD}\n" in said
        assert said.endswith("attic: healthy, runs 0.9.0\n")
        # The owner hears of it as of any other update.
        bench.wait_told(f"I run version 0.9.0 now, in place of {OLD}")
        assert "attic: runs 0.9.0 already" in tenner("update", "attic", "--file", made(home))
        older = made(home, version="0.8.0")
        said = tenner("update", "attic", "--file", older, *HERE, code=1)
        assert "it runs 0.9.0, and only a newer version is installed" in said


def test_micropython_comes_from_the_computer_too(broker, home):
    data = made(home, micropython=micropython_of())
    with board(broker, rows=image.SLOTS) as bench:
        said = printed("update", tenner("update", "--file", data, *HERE, "--json"))["boards"]
        assert [(one["board"], one["end"], one["version"]) for one in said] == [
            ("attic", "healthy", "0.9.0")
        ]
        bench.wait_told("I run version 0.9.0 on MicroPython")


def test_a_board_with_one_slot_says_what_it_needs(broker, home):
    data = made(home, micropython=micropython_of())
    with board(broker):
        said = tenner("update", "--file", data, *HERE, code=1)
        assert "attic: unfit: the release has MicroPython, for which this board has no" in said
        assert "run `tenner flash --layout ota` over the cable" in said


class Restless:
    """A way to a board that starts again and again, and never says more."""

    is_off = False
    most_s = 60.0

    def __init__(self, clock):
        self.clock = clock

    def hear(self, limit_s):
        self.clock[0] += 60
        return True


def test_an_update_of_a_board_that_starts_again_and_again_ends(monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(one, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    monkeypatch.setattr(one.Update, "_ask", lambda *_: None)
    server = SimpleNamespace(fetched=lambda path: 0)
    offer = SimpleNamespace(version="0.9.0")
    board = SimpleNamespace(label="attic")
    update = one.Update(board, offer, server, "", None, threading.Event(), "mqtt")
    found = update._wait(SimpleNamespace(way=Restless(clock)))
    assert found.end is End.SILENT and "has been stuck for 30 minutes" in found.why
    assert clock[0] < 3600


def test_a_version_that_fails_is_rolled_back_with_its_last_lines(broker, home):
    with board(broker, **SETS_IT) as bench:
        said = tenner("update", "attic", "--file", made(home, RENAMES), *HERE, code=1)
        assert f"attic: rolled back, runs {OLD} again: it did not come up." in said
        assert "skills.index" in said.partition("Its last log lines:")[2]
        assert "\ntenner: attic rolled back: it did not come up\n" in said
        bench.wait_told("Version 0.9.0 failed its trial: it did not come up")
        assert f"tenner {OLD}," in tenner("status", "--via", "mqtt:attic")


class Asked:
    """Asks a board for one update after the other, and waits until it has refused it."""

    def __init__(self, bench, scheme=known.MQTT):
        self.bench = bench
        self.link = Link(known.find("attic", None, scheme), scheme)

    def update(self, server, version="0.9.0", **changes):
        where = {
            "version": version,
            "address": "127.0.0.1",
            "port": server.port,
            "path": server.path(),
        }
        certificate = changes.pop("certificate", server.certificate)
        self.link.ask("update", certificate, **{**where, **changes})

    def refused(self, sentence, server, version="0.9.0", **changes):
        self.update(server, version, **changes)
        self.bench.wait_for(sentence, 60)
        # The log's line comes before the note for the computer.
        while (found := self.link.ask("read", path="/state/update.txt", at=0))[0]:
            pass
        assert found[1].decode().startswith("No update: ")
        assert sentence in found[1].decode()


def test_only_the_owners_release_from_the_owners_computer_is_installed(broker, home):
    files = code("0.9.0", SHORT_TRIAL)
    good = release(files)
    changed = bytearray(good)
    # The last files are for boards with a page.
    changed[len(changed) // 2] ^= 1
    with contextlib.ExitStack() as stack:
        bench = stack.enter_context(board(broker))
        asked = Asked(bench)
        stack.callback(asked.link.close)

        def serve(data):
            return stack.enter_context(ReleaseServer(bytes(data), "127.0.0.1"))

        mine, other = serve(good), serve(good)
        # Somebody else at the address, who has the release too.
        asked.refused(
            "shows another certificate than your computer named",
            other,
            certificate=mine.certificate,
        )
        assert other.fetched(next(iter(other._fetched))) == 0
        asked.refused("answers with HTTP 404", mine, path="0" * 32)
        asked.refused("broke off", mine, port=free_port())
        asked.refused("No update: ", mine, certificate=b"no certificate")
        # The right computer, with another release than the owner's.
        for data, version, sentence in (
            (release(files, signer="somebody"), "0.9.0", "which this board does not know"),
            (release(files, "0.1.0"), "0.1.0", "only a newer one is installed"),
            (release(files, "0.8.0"), "0.9.0", "the release is version 0.8.0 now"),
            (good.replace(b"notes Tested", b"notes Wasted"), "0.9.0", "its signature is wrong"),
            (changed, "0.9.0", "is not as the release's manifest says"),
            (b"x" * 5000, "0.9.0", "no signed release of tenner"),
        ):
            asked.refused(sentence, serve(data), version)
        assert f"tenner {OLD}" in tenner("status", "--via", "mqtt:attic")


def test_a_broker_that_lies_starts_no_update(broker, home):
    """It repeats the request, changes it, and moves it into another session."""
    good = release(code("0.9.0", SHORT_TRIAL))
    with board(broker) as bench, ReleaseServer(good, "127.0.0.1") as server:
        liar = Owner(broker, ["attic/remote/in"], binary=True)
        asked = Asked(bench)
        asked.link.open()
        asked.refused("answers with HTTP 404", server, path="0" * 32)
        liar.wait("/remote/in", lambda data: len(data) > 300 and data[:1] == b"\x00")
        frame = next(data for _, data in liar.heard if len(data) > 300 and data[:1] == b"\x00")
        assert server.certificate not in frame and b"127.0.0.1" not in frame
        number = int.from_bytes(frame[1:5], "big")
        liar.publish("attic/remote/in", frame)
        bench.wait_for(f"dropped request {number}: ")
        for at in range(0, len(frame), len(frame) // 9):
            liar.publish("attic/remote/in", frame[:at] + bytes([frame[at] ^ 1]) + frame[at + 1 :])
            bench.wait_for("dropped a request: it is not from the computer of this board's owner")
        # In a new session its number would be next, but not its keys.
        asked.link.open()
        liar.publish("attic/remote/in", frame)
        bench.wait_for("dropped a request: it is not from the computer of this board's owner")
        assert asked.link.ask("info")[0]["updating"] is False
        asked.link.close()
        liar.close()


def test_ten_boards_of_which_the_third_is_bad(broker, home):
    file = made(home, RENAMES)
    with contextlib.ExitStack() as stack:
        for name in BOARDS:
            stack.enter_context(board(broker, name, **(SETS_IT if name == "cellar" else {})))
        one = ("--at-once", 1, "--file", file, *HERE)
        said = tenner("update", "--fleet", *one, code=1)
        print(said)
        assert "healthy       2  attic, barn\n" in said
        assert "rolled back   1  cellar\n" in said
        assert f"untouched     7  {', '.join(BOARDS[3:])}\n" in said
        assert said.endswith("cellar rolled back: it did not come up; 7 untouched\n")
        for name in BOARDS:
            version = "0.9.0" if name in BOARDS[:2] else OLD
            assert f"tenner {version}," in tenner("status", "--via", f"mqtt:{name}")

        # The rest goes on where the owner wants it to, a few at a time.
        said = tenner("update", "attic", "den", "foyer", "garage", "--file", file, *HERE)
        assert "healthy       3  den, foyer, garage\n" in said
        assert "had it        1  attic\n" in said


def about_of(**changes):
    made = release({"app.mpy": b"M\x06x"}, "0.9.0", **changes)
    return about(made)


@pytest.mark.parametrize(
    ("offer", "state", "sentence"),
    [
        ({}, {}, ""),
        ({}, {"machine": "linux [GCC 12.2.0] version"}, ""),
        ({"micropython": "ESP32-C3"}, {}, ""),
        ({"micropython": "ESP32-S3"}, {}, "for the ESP32-S3, this board is an ESP32-C3"),
        ({"micropython": "ESP32-C3"}, {"slots": 2}, ""),
        ({"micropython": "ESP32-C3"}, {"slots": 1}, "no second slot: run `tenner flash --layout"),
        ({}, {"slots": 1}, ""),
        # Its own MicroPython loads its code.
        ({"micropython": "ESP32-C3"}, {"mpy": 5}, ""),
        ({}, {"mpy": 0x2C05}, "has .mpy version 6, its MicroPython loads 5"),
        ({"oldest": "0.3.0"}, {}, "replaces 0.3.0 and newer, and it runs 0.2.0"),
    ],
    ids=range(10),
)
def test_boards_that_a_release_is_not_for(offer, state, sentence):
    if "micropython" in offer:
        offer = {"micropython": MicroPython(b"x", 5, offer["micropython"], "1.27.0")}
    here = {"machine": "ESP32C3 module with ESP32C3", "mpy": 0x2C06, "agent": "0.2.0", **state}
    found = misfit(about_of(**offer), here)
    assert (sentence in found) if sentence else found == ""


def test_a_fleet_goes_on_past_a_board_that_the_release_is_not_for(broker, home):
    data = release(code("0.9.0", SHORT_TRIAL), "0.9.0", oldest="0.8.0")
    file = home / "0.9.0.release"
    file.write_bytes(data)
    with board(broker), board(broker, "barn"):
        said = tenner("update", "--fleet", "--file", file, *HERE, code=1)
        assert f"attic: unfit: the release replaces 0.8.0 and newer, and it runs {OLD}" in said
        assert "unfit         2  attic, barn\n" in said
    # With one that it is for, all that could be done is done.
    _report([Result("attic", End.UNFIT, why="-"), Result("barn", End.HEALTHY)], True)
    together, ends = order("a b c", {"a": End.UNFIT}, 2)
    assert together[0] == ["a"]
    assert list(ends.values()) == [End.UNFIT, End.HEALTHY, End.HEALTHY]


def test_a_board_that_is_away_is_passed_over(broker, home):
    owner = Owner(broker, ["attic/status"])
    with board(broker) as bench:
        bench.board.wifi(False)
        owner.wait("attic/status", lambda text: text == "offline")
        said = tenner("update", "--fleet", "--file", made(home), "--json", code=4)
        said = printed("update", said)["boards"]
        assert [(one["board"], one["end"], one["why"]) for one in said] == [
            ("attic", "away", "it is offline")
        ]
    owner.close()


# --- the order


def names(text):
    return [Known(name, "", topic=name, host="broker") for name in text.split()]


def order(text, ends, at_once):
    """Run updates that end so; (the boards that ran together at the end of each, the ends)."""
    together = []
    running = set()
    lock = threading.Lock()

    def update(one):
        with lock:
            running.add(one.device)
        with lock:
            together.append(sorted(running))
            running.remove(one.device)
        return Result(one.label, ends.get(one.device, End.HEALTHY))

    found = staged.run(names(text), update, at_once, threading.Event())
    return together, {one.board: one.end for one in found}


def test_the_first_board_is_alone_and_a_bad_one_is_the_last():
    together, ends = order("a b c d e", {"a": End.ROLLED_BACK}, 3)
    assert together == [["a"]]
    assert list(ends.values()) == [End.ROLLED_BACK] + 4 * [End.UNTOUCHED]
    together, ends = order("a b c d e", {}, 2)
    assert together[0] == ["a"] and max(map(len, together)) <= 2
    assert set(ends.values()) == {End.HEALTHY}


@pytest.mark.parametrize("bad", [End.ROLLED_BACK, End.REFUSED, End.SILENT])
def test_each_kind_of_failure_stops_the_rest(bad):
    _, ends = order("a b c d", {"b": bad}, 1)
    assert list(ends.values()) == [End.HEALTHY, bad, End.UNTOUCHED, End.UNTOUCHED]


def test_a_board_that_is_away_does_not_make_the_next_ones_several():
    together, ends = order("a b c d", {"a": End.AWAY, "b": End.REFUSED}, 3)
    assert together == [["a"], ["b"]]
    assert list(ends.values()) == [End.AWAY, End.REFUSED, End.UNTOUCHED, End.UNTOUCHED]


def test_boards_that_run_beside_a_bad_one_are_waited_for():
    """The bad one ends first; the good one beside it is not lost."""
    bad_is_over = threading.Event()

    def update(one):
        if one.device == "b":
            bad_is_over.set()
            return Result("b", End.ROLLED_BACK)
        if one.device == "c":
            assert bad_is_over.wait(20)
        return Result(one.label, End.HEALTHY)

    found = staged.run(names("a b c d"), update, 2, threading.Event())
    assert [one.end for one in found] == [End.HEALTHY, End.ROLLED_BACK, End.HEALTHY, End.UNTOUCHED]


def test_an_interruption_ends_what_runs():
    stopped = threading.Event()

    def update(one):
        if one.device == "b":
            raise KeyboardInterrupt
        if one.device == "c":
            assert stopped.wait(20)
        return Result(one.label, End.HEALTHY)

    with pytest.raises(KeyboardInterrupt):
        staged.run(names("a b c d"), update, 2, stopped)


# --- the server


def fetch(server, path, headers=None, certificate=None):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.load_verify_locations(cadata=certificate or server.certificate)
    raw = socket.create_connection(("127.0.0.1", server.port), 20)
    with context.wrap_socket(raw, server_hostname=NAME) as link:
        asked = http.client.HTTPConnection("127.0.0.1")
        asked.sock = link
        asked.request("GET", path, headers=headers or {})
        answer = asked.getresponse()
        return answer.status, answer.read()


def test_the_release_is_behind_a_secret_path():
    body = bytes(range(256)) * 100
    with ReleaseServer(body, "127.0.0.1") as server, ReleaseServer(body, "127.0.0.1") as other:
        path = server.path()
        assert path != server.path()
        assert fetch(server, "/" + path) == (200, body)
        deadline = time.monotonic() + LIMIT_S
        # The server counts a piece after the client may have it.
        while server.fetched(path) != len(body):
            assert time.monotonic() < deadline, server.fetched(path)
        assert fetch(server, "/" + path, {"Range": "bytes=25000-"}) == (206, body[25000:])
        for odd in ("bytes=99999999-", "bytes=-5", "bytes=1-2", "x"):
            assert fetch(server, "/" + path, {"Range": odd}) == (200, body)
        for wrong in ("/", "/" + "0" * 32, "/" + path[:-1]):
            assert fetch(server, wrong)[0] == 404
        with pytest.raises(ssl.SSLError):
            fetch(server, "/" + path, certificate=other.certificate)
        # A client without TLS gets nothing, and the server goes on.
        with socket.create_connection(("127.0.0.1", server.port), 20) as raw:
            raw.sendall(b"GET / HTTP/1.0\r\n\r\n")
            with contextlib.suppress(ConnectionError):
                while raw.recv(100):
                    pass
        assert fetch(server, "/" + path)[0] == 200
        with pytest.raises(CommandError, match="cannot serve the release at 127.0.0.1"):
            ReleaseServer(body, "127.0.0.1", server.port)


def test_the_address_for_boards_is_no_loopback_where_there_is_another():
    assert address_towards("127.0.0.1") == address_towards("192.0.2.1")


def test_mistakes_are_sentences(home, tmp_path):
    odd = tmp_path / "odd"
    odd.write_bytes(b"no release")
    mqtt = {"host": "localhost", "topic": "attic"}
    key = {known.ON_BOARD: b"00" * 32}
    assert "no board is known" in tenner("update", "--fleet", "--file", odd, code=1)
    known.learn("feed", key, {"mqtt": mqtt}, [])
    for arguments, words, status in (
        (("attic", "--file", odd), "this is no file of `tenner release`", 1),
        (("nobody", "--file", odd), "no board 'nobody' is known at a broker", 1),
        (("attic", "--fleet"), "--fleet means every board", 2),
    ):
        assert words in tenner("update", *arguments, code=status)
