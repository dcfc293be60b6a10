"""`tenner update --via lan`: chips fetch a release from this computer, straight over a network
that is not trusted."""

import contextlib
import mmap
import socket
import threading

import pytest

from tenner_host import tenner_version
from tenner_host.remote import known
from tenner_host.update.server import ReleaseServer
from tests.host import lan_board
from tests.host.chip_home import Client, Home
from tests.host.json_documents import printed
from tests.host.releases import SHORT_TRIAL, code, release
from tests.host.remote_board import own_key, tenner
from tests.host.test_lan import Middle, link_to, post
from tests.host.test_update_command import HERE, RENAMES, SETS_IT, Asked, made, short_trials
from tests.ports import free_port

OLD = tenner_version()
VIA = ("--via", "lan")
BOARDS = ("attic", "barn", "cellar", "den")


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


def board(name="attic", *, heap="512K", **options):
    """A board whose watchdog ends a trial soon, if the new version does not fit its settings."""
    changes = options.pop("changes", {})
    files = short_trials(bool(changes))
    return lan_board.chip(name, files=files, changes=changes, heap=heap, **options)


def test_a_board_fetches_a_release_and_keeps_it(home, micropython32):
    with board(heap=lan_board.HEAP, interpreter=micropython32) as chip:
        said = tenner("update", *VIA, "--file", made(home), *HERE)
        assert f"attic: fetches 0.9.0 in place of {OLD}\n" in said
        assert said.endswith("attic: healthy, runs 0.9.0\n")
        chip.bench.wait_told(f"I run version 0.9.0 now, in place of {OLD}")
        # The page is that of the new version.
        client = Client(Home(chip.bench, chip.port)).pair()
        assert client("GET", "//", **{"Accept-Encoding": "gzip"}).status == 200
        assert client("GET", "/session").status == 200
        assert "/lib/tenner/page.pack" in chip.paths()
        assert not [path for path in chip.paths() if "/page/" in path]
        assert "attic: runs 0.9.0 already" in tenner("update", *VIA, "--file", made(home))
        older = made(home, version="0.8.0")
        said = tenner("update", "attic", *VIA, "--file", older, *HERE, code=1)
        assert "it runs 0.9.0, and only a newer version is installed" in said


def test_a_version_that_fails_is_rolled_back_with_its_last_lines(home):
    with board(changes=SETS_IT) as chip:
        said = tenner("update", "attic", *VIA, "--file", made(home, RENAMES), *HERE, code=1)
        assert f"attic: rolled back, runs {OLD} again: it did not come up." in said
        assert "skills.index" in said.partition("Its last log lines:")[2]
        chip.bench.wait_told("Version 0.9.0 failed its trial: it did not come up")
        assert f"tenner {OLD}," in tenner("status", *VIA)
        assert "/lib/tenner/page.pack" in chip.paths()


def test_a_version_whose_page_does_not_open_is_rolled_back(home):
    """The page is the only channel of this board, and its owner would not reach it any more."""
    deaf = ("page/chip.py", "page.listening = await", "await")
    alone = {"telegram.token": None, "telegram.owner": None}
    with board(changes=alone) as chip:
        said = tenner("update", *VIA, "--file", made(home, deaf), *HERE, code=1)
        assert "it came up and connected, but did not hear from its channel" in said
        assert f"tenner {OLD}," in tenner("status", *VIA)
        assert chip.read("/lib/tenner/__init__.py")


def test_four_boards_of_which_the_third_is_bad(home):
    file = made(home, RENAMES)
    with contextlib.ExitStack() as stack:
        for name in BOARDS:
            changes = SETS_IT if name == "cellar" else {}
            stack.enter_context(board(name, changes=changes))
        one = ("--at-once", 1, "--file", file, *HERE)
        said = tenner("update", "--fleet", *VIA, *one, code=1)
        assert "healthy       2  attic, barn\n" in said
        assert "rolled back   1  cellar\n" in said
        assert "untouched     1  den\n" in said
        for name in BOARDS:
            version = "0.9.0" if name in BOARDS[:2] else OLD
            assert f"tenner {version}," in tenner("status", "--via", f"lan:{name}")


class CutLine:
    """Passes connections to a port on, and cuts the first ones after so many bytes."""

    def __init__(self, port, cuts):
        self._port = port
        self._cuts = list(cuts)
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port = self._server.getsockname()[1]
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self):
        while True:
            try:
                client, _ = self._server.accept()
            except OSError:
                return
            limit = self._cuts.pop(0) if self._cuts else None
            server = socket.create_connection(("127.0.0.1", self._port))
            threading.Thread(target=self._copy, args=[client, server, None], daemon=True).start()
            self._copy(server, client, limit)

    def _copy(self, source, target, limit):
        with contextlib.suppress(OSError):
            while block := source.recv(4096):
                block = block[:limit]
                if limit is not None:
                    limit -= len(block)
                target.sendall(block)
                if limit == 0:
                    break
        for one in (source, target):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._server.close()


def test_a_cut_download_goes_on_and_an_endless_one_ends(home):
    good = release(code("0.9.0", SHORT_TRIAL))
    file = home / "endless"
    with file.open("w+b") as whole:
        whole.write(good)
        # The computer goes on sending behind the release: more than a minute of it, and more
        # than the kernel's buffers hold, which may be 33 MB.
        whole.truncate(1_000_000_000)
        endless = mmap.mmap(whole.fileno(), 0, access=mmap.ACCESS_READ)
    with endless, board() as chip, ReleaseServer(endless, "127.0.0.1") as server:
        asked = Asked(chip.bench, known.LAN)
        with CutLine(server.port, (60_000, 150_000)) as line, contextlib.closing(asked.link):
            asked.update(server, port=line.port)
            chip.wait_for("broke off", 60)
            chip.wait_for("KB are here", 60)
            chip.wait_for("0.9.0 is in place: restarting", 60)


def test_only_the_owners_release_from_the_owners_computer_is_installed(home):
    good = release(code("0.9.0", SHORT_TRIAL))
    changed = bytearray(good)
    changed[len(changed) // 2] ^= 1
    with contextlib.ExitStack() as stack:
        chip = stack.enter_context(board())
        asked = Asked(chip.bench, known.LAN)
        stack.callback(asked.link.close)

        def serve(data):
            return stack.enter_context(ReleaseServer(bytes(data), "127.0.0.1"))

        mine, other = serve(good), serve(good)
        # Somebody else at the address, who has the release too.
        sentence = "shows another certificate than your computer named"
        asked.refused(sentence, other, certificate=mine.certificate)
        assert other.fetched(next(iter(other._fetched))) == 0
        asked.refused("answers with HTTP 404", mine, path="0" * 32)
        asked.refused("broke off", mine, port=free_port())
        files = code("0.9.0", SHORT_TRIAL)
        for data, version, sentence in (
            (release(files, signer="somebody"), "0.9.0", "which this board does not know"),
            (release(files, "0.1.0"), "0.1.0", "only a newer one is installed"),
            (changed, "0.9.0", "is not as the release's manifest says"),
        ):
            asked.refused(sentence, serve(data), version)
        assert f"tenner {OLD}," in tenner("status", *VIA)


def test_a_network_that_lies_starts_no_update(home):
    """Somebody in it repeats the request, changes it, and moves it into another session."""
    good = release(code("0.9.0", SHORT_TRIAL))
    with (
        board() as chip,
        ReleaseServer(good, "127.0.0.1") as server,
        Middle(chip.port) as middle,
        link_to(middle.port, chip) as link,
    ):
        link.open()
        asked = Asked(chip.bench, known.LAN)
        asked.link.close()
        asked.link = link
        asked.refused("answers with HTTP 404", server, path="0" * 32)
        frame = next(one for one in middle.asked if len(one) > 300 and one[:1] == b"\x00")
        assert server.certificate not in frame and b"127.0.0.1" not in frame

        def forged(data):
            while (answer := post(chip.port, data))[0] in (429, 503):
                pass
            assert answer[0] == 403, answer

        forged(frame)
        for at in range(0, len(frame), len(frame) // 5):
            forged(frame[:at] + bytes([frame[at] ^ 1]) + frame[at + 1 :])
        # In a new session its number would be next, but not its keys.
        link.open()
        forged(frame)
        assert link.ask("info")[0]["updating"] is False


def test_somebody_who_answers_for_a_board_gets_no_update_done(home):
    lan_board.learn("feed", "attic", 0)
    answer = b"HTTP/1.1 200 OK\r\n\r\n" + (64).to_bytes(2, "big") + b"ab" * 32
    with Middle(0, lambda body: answer) as middle:
        lan_board.learn("feed", "attic", middle.port)
        said = tenner("update", *VIA, "--file", made(home), *HERE, "--json", code=4)
        (found,) = printed("update", said)["boards"]
        assert found["end"] == "away"
        assert "messages came that it did not send" in found["why"]
