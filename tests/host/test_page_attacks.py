"""Attacks on the page of an agent as it is deployed; the agent keeps its beat."""

import contextlib
import json
import socket
import threading

import pytest

from tenner_sim import LIMIT_S
from tenner_sim.services import OWNER
from tenner_sim.services.telegram_people import TOKEN
from tests.host import page_home
from tests.host.web_client import Client


@pytest.fixture(scope="module", params=page_home.INTERPRETERS)
def home(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("home")
    argv = page_home.argv_of(request, request.param)
    with page_home.home(folder, argv, page_home.lib_of(folder, request.param)) as made:
        yield made.open()


def beats(home, value):
    """The heartbeat notices a change of its sensor, and the owner is told."""
    home.set(value)
    home.wait_for(f"It is {value} °C in the room")
    home.set(20)
    home.wait_for("back to normal")


def test_ten_thousand_requests_let_nothing_in_and_the_agent_beats_on(home):
    counts = {}
    lock = threading.Lock()

    def ask():
        stranger = Client(home)
        for _ in range(2500):
            status = stranger("GET", "/now").status
            with lock:
                counts[status] = counts.get(status, 0) + 1

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    beats(home, 31.5)
    assert Client(home).pair()("GET", "/session").status == 200
    for thread in threads:
        thread.join()
    assert counts == {401: 10000}


def test_wrong_codes_are_slowed_down_although_there_is_a_code(home):
    code = home.access.code
    guesser = Client(home)
    statuses = [guesser("POST", "/pair", {"code": "aaaaaaaaaa"}).status for _ in range(20)]
    assert statuses == [403] * 5 + [429] * 15
    answer = guesser("POST", "/pair", {"code": code})
    assert answer.status == 429 and 1 <= int(answer.headers["retry-after"]) <= 12


@contextlib.contextmanager
def connections(home, texts):
    with contextlib.ExitStack() as stack:
        made = []
        for text in texts:
            one = socket.create_connection(("127.0.0.1", home.port), timeout=LIMIT_S)
            stack.enter_context(one)
            with contextlib.suppress(OSError):
                one.sendall(text)
            made.append(one)
        yield made


def test_sleepers_keep_neither_browsers_nor_the_beat_out(home):
    texts = [b"GET / HTTP/1.1\r\nHost: 127"[: number % 25] for number in range(200)]
    with connections(home, texts):
        for _ in range(5):
            assert Client(home)("GET", "/now").status == 401
        beats(home, 32.5)


@pytest.mark.parametrize("name", page_home.INTERPRETERS)
def test_sleepers_beside_an_open_tls_session_end_nothing(request, tmp_path, name):
    """Telegram is polled meanwhile, behind TLS, and its messages get answers."""
    argv = page_home.argv_of(request, name)
    lib = page_home.lib_of(tmp_path, name)
    owner = {"telegram.token": TOKEN, "telegram.owner": str(OWNER)}
    with page_home.home(tmp_path, argv, lib, changes=owner) as home:
        telegram = home.open().services.telegram
        telegram.wait_requests(1)
        with connections(home, [b"GET"] * 20):
            for count in range(3):
                before = len(telegram.sent)
                telegram.say(OWNER, f"say: hello {count}")
                telegram.wait_sent(before + 1, chat_id=OWNER)
                assert Client(home)("GET", "/now").status == 401
        assert home.process.poll() is None


#: Requests, and the statuses of their answers; None is the end without one.
ODD = [
    (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(500) + b"\r\n\r\n", 400),
    (b"A" * 20000, 431),
    (b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 5000, 431),
    (b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999\r\n\r\n", 413),
    (b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 411),
    (b"GET /\x00 HTTP/1.1\r\n\r\n", 400),
    (b"GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n", 421),
    (b"GET / HTTP/1.1\r\n\r\n", 421),
    (b"GET http://localhost/ HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
    (b"CONNECT evil.example:443 HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
    (b"TRACE / HTTP/1.1\r\nHost: localhost\r\n\r\n", 405),
    (b"HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n", 405),
]


@pytest.mark.parametrize(("data", "status"), ODD, ids=range(len(ODD)))
def test_an_odd_request_is_a_sentence(home, data, status):
    with connections(home, [data]) as (one,):
        answer = b""
        while b"}" not in answer:
            block = one.recv(4096)
            assert block, answer
            answer += block
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.split(b" ")[1] == b"%d" % status
    assert set(json.loads(body)) == {"error"}


def test_the_agent_has_no_complaints(home):
    """No traceback, and no line of the log for a stranger's request."""
    assert not [line for line in home.lines if "Traceback" in line or "failed" in line]
