"""Entry to the server of `tenner web`: codes, sessions, and requests that no page of its own
sends. No agent is needed: nothing here gets as far as a board."""

import asyncio
import contextlib
import gzip
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from types import SimpleNamespace

import pytest

from tenner_host import ROOT, page_files
from tenner_host.web import access, guard
from tenner_host.web.access import Access, TooManyTries, head_problem
from tenner_host.web.api import openapi_document
from tenner_host.web.events import Ended, Events
from tenner_host.web.server import HOST
from tenner_sim import LIMIT_S
from tests.host.guests import check_guest
from tests.host.web_client import Client, served


class Clock:
    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


def test_a_code_serves_once(clock):
    codes = []
    door = Access(codes.append, clock)
    session, token = door.pair(codes[0].lower())
    assert door.allows(session, token)
    assert len(codes) == 2 and codes[0] != codes[1]
    assert door.pair(codes[0]) is None
    assert door.pair(f" {codes[1][:5]}-{codes[1][5:]} ") is not None


def test_a_session_needs_both_of_its_halves(clock):
    codes = []
    door = Access(codes.append, clock)
    one, two = door.pair(codes[-1]), door.pair(codes[-1])
    assert not door.allows(one[0], None)
    assert not door.allows(None, one[1])
    assert not door.allows(one[0], two[1])
    door.end(one[0])
    assert not door.allows(*one) and door.allows(*two)


def test_an_unused_session_ends(clock):
    codes = []
    door = Access(codes.append, clock)
    pair = door.pair(codes[-1])
    clock.now += access.IDLE_S - 1
    assert door.allows(*pair)
    clock.now += access.IDLE_S + 1
    assert not door.allows(*pair)


def test_wrong_codes_are_slowed_down(clock):
    codes = []
    door = Access(codes.append, clock)
    for _ in range(access.TRIES):
        assert door.pair("AAAA") is None
    with pytest.raises(TooManyTries) as caught:
        door.pair("AAAA")
    assert 0 < caught.value.args[0] <= access.SECONDS_A_TRY
    clock.now += access.SECONDS_A_TRY
    assert door.pair("AAAA") is None


def test_strangers_wrong_codes_do_not_stop_the_right_one(clock):
    codes = []
    door = Access(codes.append, clock)
    for _ in range(50):
        with contextlib.suppress(TooManyTries):
            assert door.pair("AAAA") is None
    assert door.pair(codes[-1]) is not None


def test_sessions_are_bounded(clock):
    codes = []
    door = Access(codes.append, clock)
    pairs = []
    for _ in range(access.MAX_SESSIONS + 1):
        clock.now += 1
        pairs.append(door.pair(codes[-1]))
    assert not door.allows(*pairs[0])
    assert all(door.allows(*pair) for pair in pairs[1:])


def test_a_guest_stays_one_and_has_codes_of_its_own(clock):
    codes, of_guests = [], []
    door = Access(codes.append, clock, of_guests.append)
    assert of_guests[0].startswith(access.GUEST) and not codes[0].startswith(access.GUEST)
    # The mark alone makes no code, and its absence no owner.
    for wrong in (access.GUEST, access.GUEST + codes[0], of_guests[0].removeprefix(access.GUEST)):
        assert door.pair(wrong) is None
    guest = door.pair(of_guests[0].lower())
    owner = door.pair(codes[0])
    assert (len(codes), len(of_guests)) == (2, 2)
    assert door.allows(*guest) and door.is_guest(guest[0])
    assert door.allows(*owner) and not door.is_guest(owner[0])
    assert not door.allows(owner[0], guest[1]) and not door.allows(guest[0], owner[1])


def test_there_are_no_guests_unless_the_owner_says_so(clock):
    door = Access(lambda code: None, clock)
    assert not door.has_guests and door.guest_code == ""
    for code in ("", access.GUEST, access.GUEST + door.code):
        assert door.pair(code) is None


GOOD = {"host": "127.0.0.1:8766"}
# (headers, status)
HEADS = [
    ({}, None),
    ({"host": "LOCALHOST:8766"}, None),
    ({"origin": "http://127.0.0.1:8766", "sec-fetch-site": "same-origin"}, None),
    ({"host": "evil.example:8766"}, 421),
    ({"host": "evil.example"}, 421),
    ({"host": "127.0.0.1"}, 421),
    ({"host": "127.0.0.1:8767"}, 421),
    ({"host": "127.0.0.1:8766.evil.example"}, 421),
    ({"host": ""}, 421),
    ({"origin": "http://evil.example"}, 403),
    ({"origin": "http://127.0.0.1:3000"}, 403),
    ({"origin": "https://127.0.0.1:8766"}, 403),
    ({"origin": "null"}, 403),
    ({"sec-fetch-site": "cross-site"}, 403),
    ({"sec-fetch-site": "same-site"}, 403),
]


@pytest.mark.parametrize(("headers", "status"), HEADS, ids=str)
def test_requests_of_foreign_pages_are_known(headers, status):
    problem = head_problem({**GOOD, **headers}, 8766)
    assert (problem and problem[0]) == status


def test_a_slow_reader_is_dropped_and_others_are_not():
    async def read():
        events = Events()
        reader = events.reader(0)
        for number in range(800):
            events.publish("log", text=str(number))
        with pytest.raises(Ended):
            await reader.next(LIMIT_S)
        late = events.reader(events.last - 2)
        assert [(await late.next(LIMIT_S))["text"] for _ in range(2)] == ["798", "799"]

    asyncio.run(read())


# A server whose board is away: nothing that is refused may depend on a board.


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with served(str(tmp_path_factory.mktemp("dev") / "ttyNONE")) as made:
        yield made


@pytest.fixture
def stranger(server):
    return Client(server)


@pytest.fixture
def client(server):
    return Client(server).pair()


def closed_routes():
    document = json.loads(openapi_document())
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            if operation.get("security") != []:
                yield method.upper(), path


@pytest.mark.parametrize(("method", "path"), list(closed_routes()))
def test_nothing_is_told_without_a_session(stranger, client, method, path):
    body = {} if method in ("POST", "PUT", "PATCH") else None
    for headers in (
        {},
        {"Cookie": client.headers["Cookie"], "X-Tenner-Token": None},
        {"Cookie": client.headers["Cookie"], "X-Tenner-Token": "x"},
        {"X-Tenner-Token": client.headers["X-Tenner-Token"]},
    ):
        answer = stranger(method, path, body, **headers)
        assert answer.status == 401, (headers, answer.body)
        assert set(answer.json) == {"error"}


def test_a_guest_looks_and_does_nothing(server, client):
    guest = Client(server).pair(server.access.guest_code)
    check_guest(guest, client, views=False)
    with guest.events() as events:
        server.state.events.publish("log", when="", area="telegram", text="a code")
        server.state.events.publish("chat", message={})
        assert [next(events)["type"] for _ in range(2)] == ["link", "chat"]
    for text in ("/web", "/page", "/Pair", "/web@bot guest"):
        answer = client("POST", "/chat", {"text": text})
        assert answer.status == 409 and "guests read this chat" in answer.json["error"]
    # Its browser may still pair as the owner's.
    assert guest.pair()("GET", "/session").json["guest"] is False


def test_the_cookie_is_for_browsers_of_this_page_only(server):
    answer = Client(server)("POST", "/pair", {"code": server.access.code})
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie and "SameSite=strict" in cookie and "Path=/api/v1" in cookie
    # The link in the terminal is that of the next browser.
    assert server.links[-1] == f"{server.address}#code={server.access.code}"


def test_two_servers_of_one_computer_keep_their_browsers(server, tmp_path):
    """A browser sends its cookies to every port of a host."""
    with served(str(tmp_path / "ttyNONE")) as other:
        clients = Client(server).pair(), Client(other).pair()
        cookies = [one.headers["Cookie"] for one in clients]
        assert len({one.partition("=")[0] for one in cookies}) == 2
        for one in clients:
            one.headers["Cookie"] = "; ".join(cookies)
            assert one("GET", "/session").status == 200
        gone = clients[1]("DELETE", "/session")
        assert gone.headers["set-cookie"].partition("=")[0] == cookies[1].partition("=")[0]
        assert [one("GET", "/session").status for one in clients] == [200, 401]


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "rebound.example:8766"},
        {"Origin": "http://evil.example"},
        {"Origin": "http://127.0.0.1:1"},
        {"Sec_Fetch_Site": "same-site"},
    ],
    ids=str,
)
@pytest.mark.parametrize("path", ["/session", "//", "//app.js", "/openapi.json"])
def test_foreign_pages_get_nothing_even_with_a_session(client, headers, path):
    answer = client("GET", path, **headers)
    assert answer.status in (403, 421) and set(answer.json) == {"error"}


@pytest.mark.parametrize(
    "path",
    [
        "//../openapi.json",
        "//%2e%2e/server.py",
        "//..%2fserver.py",
        "//page/../../server.py",
        "//server.py",
        "//app.js/",
        "//app.js%00",
        "//./app.js",
        "//\\..\\server.py",
        "//etc/passwd",
        "/../../app.js",
        "/session/..",
        "//.git/config",
    ],
)
def test_no_path_leads_out_of_the_page(client, path):
    assert client("GET", path).status in (404, 405), path


def test_the_page_is_whole_and_strict(stranger):
    files = page_files.page()
    for path in ["", *files]:
        answer = stranger("GET", "//" + path)
        assert answer.status == 200, path
        assert answer.body == files[path or "index.html"]
        packed = stranger("GET", "//" + path, Accept_Encoding="gzip, br")
        assert packed.headers["content-encoding"] == "gzip"
        assert gzip.decompress(packed.body) == answer.body
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy and "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
    assert "text/javascript" in stranger("GET", "//app.js").headers["content-type"]
    assert stranger("POST", "//app.js", b"").status == 405


def test_the_page_names_no_other_host():
    for path, data in {**page_files.page(), **page_files.page("fleet.js")}.items():
        found = re.findall(rb"(?:https?:)?//[a-z0-9.-]+\.[a-z]{2,}", data)
        assert set(found) <= {b"http://www.w3.org"}, path


def test_a_body_is_bounded(client):
    long = b"x" * (guard.MAX_BODY + 1)
    answer = client("POST", "/heartbeat/check", long)
    assert (answer.status, answer.json) == (413, {"error": "the body is longer than 64 KB"})
    answer = client("POST", "/heartbeat/check", b"", Content_Length="9" * 30)
    assert answer.status in (400, 413)


def test_a_body_without_a_length_is_bounded_too(server, client):
    connection = http.client.HTTPConnection(HOST, server.port, timeout=LIMIT_S)
    pieces = (b"x" * 4096 for _ in range(guard.MAX_BODY // 4096 + 1))
    headers = {**client.headers, "Content-Type": "application/json"}
    connection.request("POST", "/api/v1/heartbeat/check", pieces, headers, encode_chunked=True)
    assert connection.getresponse().status == 413
    connection.close()


# (body, content type)
BODIES = [
    (b"{", "application/json"),
    (b"[]", "application/json"),
    (b"1" * 5000, "application/json"),
    (b"[" * 60000, "application/json"),
    (b"\xff\xfe", "application/json"),
    (b'{"text": 5}', "application/json"),
    (b'{"text": "\\u0003"}', "application/json"),
    (b'{"text": "\\ud800"}', "application/json"),
    (b'{"text": "ok"}', "text/plain"),
    (b"text=ok", "application/x-www-form-urlencoded"),
]


@pytest.mark.parametrize(("body", "kind"), BODIES, ids=lambda value: str(value)[:20])
def test_a_wrong_body_is_a_sentence(client, body, kind):
    answer = client("POST", "/heartbeat/check", body, Content_Type=kind)
    assert answer.status == 400 and re.fullmatch(r"[\w -].{10,}", answer.json["error"])


def test_the_pairing_is_slow_for_one_who_guesses_and_open_to_the_owner(tmp_path):
    with served(str(tmp_path / "ttyNONE")) as server:
        guesser = Client(server)
        statuses = [guesser("POST", "/pair", {"code": "AAAA"}).status for _ in range(20)]
        assert statuses == [403] * access.TRIES + [429] * (20 - access.TRIES)
        assert int(guesser("POST", "/pair", {"code": "AAAA"}).headers["retry-after"]) >= 1
        assert guesser("POST", "/pair", {"code": server.access.code}).status == 200


def test_ten_thousand_requests_let_nothing_in(server, stranger):
    """Four strangers at once; the owner is served in between."""
    counts = {}
    lock = threading.Lock()

    def ask():
        for _ in range(2500):
            status = stranger("GET", "/now").status
            with lock:
                counts[status] = counts.get(status, 0) + 1

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    assert Client(server).pair()("GET", "/session").status == 200
    for thread in threads:
        thread.join()
    assert counts == {401: 10000}


@contextlib.contextmanager
def sleepers(server):
    """Clients that send nothing, or half of a request."""
    with contextlib.ExitStack() as stack:
        made = []
        for number in range(60):
            one = socket.create_connection((HOST, server.port), timeout=LIMIT_S)
            stack.enter_context(one)
            if number % 2:
                one.sendall(b"GET / HTTP/1.1\r\nHost: 127")
            made.append(one)
        yield made


def test_sleeping_clients_do_not_keep_others_out(server, client):
    with sleepers(server):
        assert client("GET", "/session").status == 200


def test_sleeping_clients_are_cut_off(server, client, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(guard, "HEAD_S", 0.2)
        with sleepers(server) as made:
            for one in made:
                # The end, whether in order or not.
                with contextlib.suppress(ConnectionResetError):
                    assert one.recv(4096) == b""
    assert client("GET", "/session").status == 200


def test_one_who_reads_no_events_is_cut_off(server, client, monkeypatch):
    monkeypatch.setattr(guard, "SEND_S", 0.2)
    events = server.state.events
    with socket.socket() as sleeper:
        sleeper.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        sleeper.connect((HOST, server.port))
        lines = [f"{name}: {value}" for name, value in client.headers.items()]
        head = ["GET /api/v1/events HTTP/1.1", f"Host: {HOST}:{server.port}", *lines, "", ""]
        sleeper.sendall("\r\n".join(head).encode())
        assert sleeper.recv(15) == b"HTTP/1.1 200 OK"
        assert len(events._readers) == 1
        end = time.monotonic() + LIMIT_S
        while events._readers and time.monotonic() < end:
            events.publish("log", when="", area="", text="x" * 50000)
            assert client("GET", "/session").status == 200
        assert not events._readers


def test_ctrl_c_ends_it_in_one_line_although_a_page_is_open(tmp_path):
    command = [sys.executable, "-m", "tenner_host.cli", "web", "--listen", "0"]
    running = subprocess.Popen(
        [*command, "--port", str(tmp_path / "ttyNONE")],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    with running:
        word, address, code = re.split(r" +|#code=", running.stdout.readline().strip())
        assert (word, address[:17]) == ("open", "http://127.0.0.1:")
        there = SimpleNamespace(port=int(address[17:-1]), access=SimpleNamespace(code=code))
        client = Client(there).pair()
        assert client("GET", "/session").json["board"]["label"].endswith("ttyNONE")
        with client.events() as events:
            assert next(events)["type"] == "link"
            running.send_signal(signal.SIGINT)
            out, err = running.communicate(timeout=LIMIT_S)
    assert running.returncode == 130 and out.startswith("for another browser  http://")
    assert re.fullmatch(r"[^\n]+ttyNONE.*; Ctrl-C ends .*\n\ntenner: stopped\n", err), err


def test_a_board_that_is_away_is_a_sentence(server, client):
    found = client("GET", "/now").json
    assert found["agent"] is None and "ttyNONE" in found["problem"]
    answer = client("POST", "/chat", {"text": "hello"})
    assert answer.status in (422, 503) and "ttyNONE" in answer.json["error"]
    chat = client("GET", "/chat").json
    assert chat["messages"][-1]["failed"] and not chat["waiting"]
