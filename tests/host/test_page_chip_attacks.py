"""Attacks on the page of a chip, on the virtual board with the interpreter of a chip and its
heap; the agent keeps its beat.

A virtual board answers some ten requests a second: `TENNER_ATTACKS=10000` takes a quarter of an
hour.
"""

import os

import pytest

from tests.host import page_home
from tests.host.chip_home import Client, chip_home
from tests.host.strangers import (
    HEADS,
    ODD,
    answer_of,
    check_odd_answer,
    check_wrong_codes,
    connections,
    flood,
)

pytestmark = pytest.mark.long

ATTACKS = int(os.environ.get("TENNER_ATTACKS", "240"))
#: Requests of a stranger, and the status of their answers.
PATHS = {
    "/now": 401,
    "/settings": 401,
    "/chat": 401,
    "/log": 401,
    "/readings.csv": 401,
    "/../config.json": 404,
    "/%2e%2e/config.json": 404,
    "//config.json": 404,
    "//../config.json": 404,
    "//state/browsers.json": 404,
    "//%2e%2e%2fconfig.json": 404,
    "//app.js%00": 404,
}


@pytest.fixture(scope="module")
def home(micropython32):
    with chip_home(interpreter=micropython32, heartbeat=page_home.HEARTBEAT) as made:
        yield made


def beats(home, value):
    """The heartbeat notices a change of its sensor, the owner is told, and gets an answer."""
    room = home.bench.board
    normal = sum("back to normal" in text for text in home.bench.told())
    room.set("room.temperature", value)
    home.bench.wait_told(f"It is {value}")
    home.bench.echo(f"still here at {value}")
    room.set("room.temperature", 20.0)
    home.bench.wait_told("back to normal", count=normal + 1)


def test_many_requests_let_nothing_in_and_the_agent_beats_on(home):
    stranger = Client(home)
    counts = {}
    for number in range(ATTACKS):
        path, expected = list(PATHS.items())[number % len(PATHS)]
        status = stranger("GET", path).status
        assert status == expected, path
        counts[status] = counts.get(status, 0) + 1
        if number == ATTACKS // 2:
            beats(home, 31.5)
    print(counts)
    assert sum(counts.values()) == ATTACKS
    assert Client(home).pair()("GET", "/session").status == 200


def test_wrong_codes_are_slowed_down(home):
    check_wrong_codes(Client(home), home.access.code, 12)


def test_sleepers_keep_neither_browsers_nor_the_beat_out(home):
    """They connect and send nothing, or the beginning of a request."""
    texts = [b"GET / HTTP/1.1\r\nHost: 127"[: 4 * number] for number in range(7)]
    with connections(home, texts):
        beats(home, 32.5)
        assert Client(home)("GET", "/now").status == 401


def test_slow_writers_keep_neither_browsers_nor_the_beat_out(home):
    """Each promises a body that never comes whole."""
    head = b"POST /api/v1/pair HTTP/1.1\r\nHost: localhost\r\nContent-Length: 999\r\n\r\n{"
    with connections(home, [head] * 3):
        beats(home, 33.5)
        assert Client(home)("GET", "/now").status == 401


def test_slow_readers_keep_neither_browsers_nor_the_beat_out(home):
    """They ask for the largest file of the page and take nothing of it. A computer's network has
    room for all of it: tests/test_page_server.py has one whose browser takes nothing."""
    asked = b"GET /app.js HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: gzip\r\n\r\n"
    with connections(home, [asked] * 6):
        assert Client(home)("GET", "/now").status == 401
        beats(home, 34.5)


@pytest.mark.parametrize("head", HEADS.values(), ids=HEADS)
def test_two_hundred_a_second_keep_neither_browsers_nor_the_beat_out(home, head):
    owner = Client(home).pair()
    with flood(home, head) as count:
        beats(home, 35.5 + list(HEADS.values()).index(head))
        owner.tries = 0
        for _ in range(5):
            assert owner("GET", "/now").status == 200
        # Another address than the strangers': it need not come often.
        assert owner.tries < 15, owner.tries
    assert count[0] > 50, count


def odd(home, data):
    with connections(home, [data]) as (one,):
        return answer_of(one)


@pytest.mark.parametrize(("data", "status"), ODD, ids=range(len(ODD)))
def test_an_odd_request_is_a_sentence(home, data, status):
    head, body = odd(home, data)
    while " 503 " in head and "at work" in body["error"]:
        head, body = odd(home, data)
    # Memory may run short before a head reaches its limit.
    check_odd_answer(head, body, status, *([503] if status == 431 else []))


@pytest.mark.parametrize(
    ("headers", "status"),
    [({"Host": "evil.example"}, 421), ({"Origin": "http://evil.example"}, 403)],
    ids=["rebound", "origin"],
)
def test_another_site_is_refused_with_a_session(home, headers, status):
    client = Client(home).pair()
    for method, path in (("GET", "/now"), ("PATCH", "/settings"), ("POST", "/chat")):
        answer = client(method, path, None if method == "GET" else {}, **headers)
        assert answer.status == status and set(answer.json) == {"error"}


def test_the_agent_has_no_complaints(home):
    """No restart, no traceback, no fault: a stranger's request is not the owner's business."""
    log = home.bench.log
    is_quiet = "Traceback" not in log and "failed" not in log and log.count(" start)") == 1
    assert is_quiet, log
