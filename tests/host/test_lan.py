"""Sealed requests over HTTP in a network that is not trusted: nobody but the owner gets in, nobody
answers for a board, and nothing gets in its way."""

import contextlib
import json
import socket
import threading

import pytest

from tenner_host.errors import BoardSilent, CommandError
from tenner_host.project import Project
from tenner_host.remote import known
from tenner_host.remote.lan_way import PATH
from tenner_host.remote.link import Link
from tenner_host.update.server import address_towards
from tenner_sim import LIMIT_S
from tenner_sim.services import Step
from tests.host import lan_board, page_home
from tests.host.remote_board import KEY, own_key, tenner
from tests.host.test_page_tls import pem_files
from tests.ports import free_port

VIA = ("--via", "lan")
BUSY_HEARTBEAT = "# Heartbeat\n\n- (every 1s; when room.temperature > 30 reset 28; notify) Warm.\n"


@pytest.fixture(scope="module")
def computer(tmp_path_factory):
    """The owner's computer, with a key and a project."""
    folder = tmp_path_factory.mktemp("computer")
    own_key(folder / "config")
    (folder / "project" / ".tenner").mkdir(parents=True)
    return folder


@pytest.fixture(autouse=True)
def home(computer, monkeypatch):
    monkeypatch.setenv("TENNER_CONFIG", str(computer / "config"))
    monkeypatch.chdir(computer / "project")


@pytest.fixture(scope="module", params=lan_board.KINDS)
def board(request, computer, tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TENNER_CONFIG", str(computer / "config"))
        folder = tmp_path_factory.mktemp("board")
        kind = request.param
        # Without Telegram the alarms go to the console.
        options = {"changes": {"telegram.token": None, "telegram.owner": None}}
        options = options if kind == "chip" else {}
        made = lan_board.board(request, kind, folder, folder, heartbeat=BUSY_HEARTBEAT, **options)
        with made as made:
            yield made
        (computer / f"config/boards/{made.device}.json").unlink()


@contextlib.contextmanager
def link_to(port, board=None):
    """A link to a board at a port, which need not be its own, or to one that is not there."""
    device = board.device if board else "feed"
    made = Link(known.Known(device, KEY, "attic", address="127.0.0.1", web_port=port), known.LAN)
    try:
        with contextlib.closing(made):
            yield made
    finally:
        if board:
            lan_board.learn(device, "attic", board.port)


def post(port, body, head="", host="127.0.0.1", source="127.0.0.1"):
    """Send a request of somebody else; (status, body) of the answer."""
    head = head or f"POST {PATH} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n"
    return ask(port, head.encode() + body, host, source)


def ask(port, data, host="127.0.0.1", source=""):
    with socket.create_connection((host, port), LIMIT_S, (source, 0)) as one:
        # It may be refused before all is sent.
        with contextlib.suppress(OSError):
            one.sendall(data)
        found = b""
        with contextlib.suppress(ConnectionError):
            while block := one.recv(4096):
                found += block
    head, _, body = found.partition(b"\r\n\r\n")
    return int(head.split()[1]), body


class Middle:
    """A man in the middle, who hears each message and may answer it. `answer(body)` returns the
    bytes of an answer, or None to pass the message on."""

    def __init__(self, board_port, answer=lambda body: None):
        self._board_port = board_port
        self._answer = answer
        self.asked = []
        self.answered = []
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port = self._server.getsockname()[1]
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self):
        while True:
            try:
                client, _ = self._server.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=[client], daemon=True).start()

    def _serve(self, client):
        with client, contextlib.suppress(OSError):
            data = client.recv(4096)
            while data[:4] == b"POST" and b"\r\n\r\n" not in data:
                data += client.recv(4096)
            if data[:4] != b"POST":
                return
            head, _, body = data.partition(b"\r\n\r\n")
            size = int(head.lower().partition(b"content-length: ")[2].split()[0])
            while len(body) < size:
                body += client.recv(4096)
            self.asked.append(body)
            made = self._answer(body)
            if made is not None:
                client.sendall(made)
                return
            with socket.create_connection(("127.0.0.1", self._board_port)) as board:
                board.sendall(head + b"\r\n\r\n" + body)
                while block := board.recv(4096):
                    self.answered.append(block)
                    client.sendall(block)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._server.close()


def frames(*contents):
    """The whole answer of somebody who sends these frames."""
    body = b"".join(len(one).to_bytes(2, "big") + one for one in contents)
    return b"HTTP/1.1 200 OK\r\n\r\n" + body


def test_nothing_gets_in_twice(board):
    port = board.port
    with Middle(port) as middle, link_to(middle.port, board) as link:
        link.open()
        assert link.ask("info")[0]["trial"] == ""
        assert b'"model"' in link.ask("read", path="/config.json", at=0)[1]
        assert len(middle.asked) == 3
        assert not any(b"model" in data for data in middle.asked + middle.answered)
        before = board.read("/lib/remote.a")
        forged = bytearray(middle.asked[2])
        forged[-1] ^= 1
        for data in (
            *middle.asked[1:],
            bytes(forged),
            middle.asked[2][:-1],
            b"\x00" + bytes(60),
            b"",
        ):
            # Forged messages are read one by one, with a pause.
            while (answer := post(port, data))[0] == 429:
                pass
            assert answer[0] == 403, (data, answer)
        # The same opening while its session is in use, which goes on.
        assert post(port, middle.asked[0])[0] in (429, 503)
        assert board.read("/lib/remote.a") == before
        assert link.ask("info")[0]["trial"] == ""
    # Its session has ended: now they are looked at.
    while (answer := post(port, b"tenner-request 1\nboard x\nmac 00\n"))[0] == 429:
        pass
    assert answer[0] == 403
    while (answer := post(port, middle.asked[0]))[0] == 429:
        pass
    assert answer[0] == 200 and b"came before" in answer[1]
    assert board.read("/lib/remote.a") == before
    assert "tenner 0." in tenner("status", *VIA)


@pytest.mark.parametrize(
    ("head", "body", "status"),
    [
        ("", b"x" * 1537, 413),
        ("Content-Length: 10000000000\r\n", b"x" * 500000, 413),
        ("Content-Length: 999999999\r\n", b"x" * 500000, 413),
        ("Content-Length: -5\r\n", b"", 400),
        ("Transfer-Encoding: chunked\r\n", b"5\r\nabcde\r\n" * 1000, 411),
        ("A: " + "b" * 9000 + "\r\n", b"", 431),
    ],
    ids=range(6),
)
def test_an_endless_body_is_refused_before_it_is_read(board, head, body, status):
    made = f"POST {PATH} HTTP/1.1\r\nHost: x\r\n{head}\r\n" if head else ""
    assert post(board.port, body, made)[0] == status
    assert ask(board.port, b"GET /sealed HTTP/1.1\r\nHost: x\r\n\r\n")[0] == 405


def test_slow_and_cut_senders_are_not_in_the_way(board):
    head = f"POST {PATH} HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n".encode()
    with contextlib.ExitStack() as stack:
        for number in range(60):
            place = ("127.0.0.1", board.port)
            one = stack.enter_context(socket.create_connection(place, timeout=LIMIT_S))
            # Some stop in the head, some in the body, and some leave there.
            one.sendall((head + bytes(900))[: 10 + 16 * number])
            if number % 5 == 4:
                one.close()
        assert "tenner 0." in tenner("status", *VIA)
        board.set(31)
        board.wait_for("Warm. room.temperature 31")
        board.set(20)
        board.wait_for("back to normal")


def test_a_flood_keeps_nobody_out(board):
    """Strangers send forged requests without end; none is answered, and the owner gets
    through."""
    counts = {}
    stop = threading.Event()

    def flood():
        while not stop.is_set():
            # One of too many connections may be cut off.
            with contextlib.suppress(OSError, IndexError):
                status = post(board.port, b"\x00" + bytes(60), source="127.0.0.2")[0]
                counts[status] = counts.get(status, 0) + 1

    threads = [threading.Thread(target=flood) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        assert "tenner 0." in tenner("status", *VIA)
        board.set(32)
        board.wait_for("Warm. room.temperature 32")
        board.set(20)
        board.wait_for("back to normal")
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert set(counts) <= {403, 429, 503} and counts[429] > counts[403], counts


def test_a_computer_waits_for_the_end_of_a_turn(board):
    with Middle(board.port) as middle, link_to(middle.port, board) as link:
        link.open()
        # Longer than a chip lets a request wait before it says 503.
        board.model.plan([Step(path="/chat/completions", delay_ms=11_000)])
        before = len(board.model.requests)
        board.type("say: hello there")
        board.model.wait_requests(before + 1, LIMIT_S)
        assert link.ask("info")[0]["trial"] == ""
        was_busy = any(b" 503 " in part for part in middle.answered)
        assert was_busy is (board.kind == "chip"), middle.answered
    board.wait_for("hello there")


def test_one_command_waits_for_the_other(board):
    port = board.port
    with link_to(port, board) as first:
        first.open()
        with (
            link_to(port, board) as second,
            pytest.raises(BoardSilent, match="another command works"),
        ):
            second.open(1)
        assert first.ask("info")[0]["trial"] == ""
        waiting = threading.Event()
        ended = []

        def wait():
            with link_to(port, board) as third:
                waiting.set()
                ended.append(third.ask("info")[0]["agent"])

        thread = threading.Thread(target=wait)
        thread.start()
        assert waiting.wait(LIMIT_S)
    thread.join(LIMIT_S)
    assert len(ended) == 1


GARBAGE = b"ab" * 32 + b" open " + b"00" * 16
ANSWERS = [
    (frames(GARBAGE, b"\x00" * 60), "2 messages came that it did not send"),
    (frames(b"no " + GARBAGE), "1 messages came that it did not send"),
    (b"HTTP/1.1 200 OK\r\n\r\n\xff\xff", "sends no sealed answer"),
    (b"HTTP/1.1 200 OK\r\n\r\n\x00\x40abc", "ended the connection"),
    (b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * 20000, "ended the connection"),
    (b"HTTP/1.1 404 Not Found\r\n\r\n<html>", "answers: HTTP 404"),
    (b'HTTP/1.1 403 X\r\n\r\n{"error": "red \x1b[31m"}' * 9999, "answers: HTTP 403"),
    (b'HTTP/1.1 403 X\r\n\r\n{"error": "red \\u001b[31m"}', r"answers: red .x1b.31m"),
    (b"SSH-2.0-OpenSSH_9.9\r\n", "ended the connection"),
    (b"", "ended the connection"),
]


@pytest.mark.parametrize(("answer", "words"), ANSWERS, ids=range(len(ANSWERS)))
def test_nobody_answers_for_a_board(answer, words):
    with (
        Middle(0, lambda body: answer) as middle,
        link_to(middle.port) as link,
        pytest.raises(BoardSilent, match=words),
    ):
        link.open(LIMIT_S)


def test_a_silent_server_ends_in_a_sentence():
    with socket.create_server(("127.0.0.1", 0)) as server:
        with (
            link_to(server.getsockname()[1]) as link,
            pytest.raises(BoardSilent, match="no answer"),
        ):
            link.open(1)


def test_a_changed_answer_counts_for_nothing(board):
    """The man in the middle passes the opening on, and changes the replies."""
    seen = []

    def answer(body):
        if body.startswith(b"tenner-request"):
            return None
        status, found = post(board.port, body)
        seen.append(found)
        changed = bytearray(found)
        changed[20] ^= 1
        return b"HTTP/1.1 200 OK\r\n\r\n" + bytes(changed) + b"".join(seen[:-1])

    with Middle(board.port, answer) as middle, link_to(middle.port, board) as link:
        link.open()
        with pytest.raises(BoardSilent, match="messages came that it did not send"):
            link.ask("info")
        # The second reply is the first one again.
        with pytest.raises(BoardSilent, match="messages came that it did not send"):
            link.ask("info")
        link._session = None


def test_without_tls_the_network_gets_nothing_but_sealed_answers(board):
    address = address_towards("192.0.2.1")
    if address.startswith("127."):
        pytest.skip("this machine has no address in a network")
    paths = ("/", "/app.js", "/api/v1/session", "/api/v1/pair", "/api/v1/openapi.json")
    # A chip has no TLS, and its page is for the whole network.
    for path in () if board.kind == "chip" else paths:
        for method in ("GET", "POST"):
            asked = f"{method} {path} HTTP/1.1\r\nHost: {address}\r\n\r\n".encode()
            status, body = ask(board.port, asked, address)
            assert status == 403 and b"without web.cert" in body, (path, status, body)
    assert post(board.port, b"", host=address)[0] in (403, 429)
    said = tenner("status", "--via", f"lan:{address}:{board.port}")
    assert "tenner 0." in said
    assert known.find("", None, known.LAN).address == address
    lan_board.learn(board.device, "attic", board.port)


def test_the_agent_has_no_complaints(board):
    """No traceback, and no line that a stranger can fill the log with."""
    assert not [line for line in board.lines if "Traceback" in line or "failed" in line]


def test_an_address_is_remembered(board, computer):
    port = board.port
    (record,) = [one for one in (computer / "config/boards").iterdir() if board.device in one.name]
    lan_board.learn(board.device, "attic", 8767, "")
    record.write_text(record.read_text().replace('"127.0.0.1"', '""'))
    assert "no address of attic is known yet" in tenner("status", *VIA, code=1)
    assert "tenner 0." in tenner("status", "--via", f"lan:127.0.0.1:{port}")
    assert "tenner 0." in tenner("status", *VIA)
    assert "tenner 0." in tenner("status", "--via", "lan:attic")
    assert "tenner 0." in tenner("status", "--via", f"lan:localhost:{port}")
    # A sync that does not see the address keeps it.
    lan_board.learn(board.device, "attic", port, "")
    assert "tenner 0." in tenner("status", *VIA)
    said = tenner("status", "--via", f"lan:127.0.0.1:{free_port()}", code=4)
    assert "nothing answers at 127.0.0.1:" in said and "web.enabled" in said
    assert "no such name" in tenner("status", "--via", "lan:nobody.invalid", code=4)
    for odd in ("lan:a b", "lan:1.2.3.4:99999", "lan:[::1", "lan:x:y"):
        assert "neither a known board nor an address such as" in tenner(
            "status", "--via", odd, code=1
        )
    assert "available: mqtt" in tenner("status", "--via", "radio", code=2)
    assert "tenner 0." in tenner("status", *VIA)


def test_boards_are_told_apart(home, computer, monkeypatch, tmp_path):
    monkeypatch.setenv("TENNER_CONFIG", str(tmp_path))
    assert "this computer knows no board" in tenner("status", *VIA, code=1)
    lan_board.learn("aa", "attic", 8767, "192.168.1.7")
    lan_board.learn("bb", "barn", 8767, "192.168.1.8")

    def found(name):
        one = known.find(name, Project.find(), known.LAN)
        return one.device, known.place(one.address, one.web_port)

    assert found("barn") == ("bb", "192.168.1.8:8767")
    assert found("192.168.1.7:99") == ("aa", "192.168.1.7:99")
    with pytest.raises(CommandError, match="several boards are known"):
        found("")
    with pytest.raises(CommandError, match="several boards are known"):
        found("192.168.1.9")
    Project.find().remember(remote="bb")
    try:
        assert found("") == ("bb", "192.168.1.8:8767")
        assert found("192.168.1.9") == ("bb", "192.168.1.9:8767")
        assert found("fe80::1") == ("bb", "[fe80::1]:8767")
        assert found("[fe80::1]:80") == ("bb", "[fe80::1]:80")
        assert found("kitchen.local:80") == ("bb", "kitchen.local:80")
        said = tenner("update", "barn", code=1)
        assert "on the network: use --via lan" in said
    finally:
        Project.find().remember(remote=None)


def test_a_page_with_tls_is_found(request, tmp_path, computer):
    """The record does not say that the page has a certificate now."""
    for name in page_home.INTERPRETERS:
        folder = tmp_path / name
        folder.mkdir()
        argv = page_home.argv_of(request, name)
        lib = page_home.lib_of(tmp_path / "lib", name)
        changes = {"web.cert": "page.pem", "web.key": "page.key"}
        made = lan_board.linux_home(folder, argv, lib, changes=changes, files=pem_files())
        with made as board:
            assert not known.find(board.device, None, known.LAN).web_tls
            assert "tenner 0." in tenner("status", "--via", f"lan:{board.device}")
            assert known.find(board.device, None, known.LAN).web_tls
            # And none again.
            record = computer / f"config/boards/{board.device}.json"
            text = record.read_text()
            assert json.loads(text)["web_tls"] is True


def test_a_board_without_the_key_of_a_computer_serves_its_page_alone(request, tmp_path):
    name = page_home.INTERPRETERS[0]
    lib = page_home.lib_of(tmp_path, name)
    with page_home.home(tmp_path, page_home.argv_of(request, name), lib) as home:
        home.open()
        asked = f"POST {PATH} HTTP/1.1\r\nHost: localhost\r\n\r\n"
        assert post(home.port, b"", asked)[0] == 404
        address = address_towards("192.0.2.1")
        if not address.startswith("127."):
            with pytest.raises(OSError):
                ask(home.port, b"GET / HTTP/1.1\r\n\r\n", address)
