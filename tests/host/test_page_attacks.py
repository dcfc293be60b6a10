"""Attacks on the page of an agent as it is deployed; the agent keeps its beat."""

import os
import threading

import pytest

from tenner_sim.services import OWNER
from tenner_sim.services.telegram_people import TOKEN
from tests.host import page_home
from tests.host.strangers import (
    HEADS,
    ODD,
    answer_of,
    check_odd_answer,
    check_wrong_codes,
    connections,
    flood,
)
from tests.host.web_client import Client

pytestmark = pytest.mark.long


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
    check_wrong_codes(Client(home), home.access.code, 20)


def test_sleepers_keep_neither_browsers_nor_the_beat_out(home):
    texts = [b"GET / HTTP/1.1\r\nHost: 127"[: number % 25] for number in range(200)]
    with connections(home, texts):
        for _ in range(5):
            assert Client(home)("GET", "/now").status == 401
        beats(home, 32.5)


@pytest.mark.parametrize("head", HEADS.values(), ids=HEADS)
def test_a_head_without_a_body_keeps_neither_browsers_nor_the_beat_out(home, head):
    # The strangers close none.
    with connections(home, [head] * 150):
        assert Client(home)("GET", "/now").status == 401
        assert len(os.listdir(f"/proc/{home.process.pid}/fd")) < 100
        beats(home, 33.5)


@pytest.mark.parametrize("head", [HEADS["pair"], HEADS["sealed"]], ids=["pair", "sealed"])
def test_two_hundred_a_second_keep_neither_browsers_nor_the_beat_out(home, head):
    with flood(home, head) as count:
        owner = Client(home).pair()
        for _ in range(5):
            assert owner("GET", "/now").status == 200
        assert len(os.listdir(f"/proc/{home.process.pid}/fd")) < 100
        beats(home, 34.5)
        assert owner("GET", "/now").status == 200
    assert count[0] > 100, count


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


@pytest.mark.parametrize(("data", "status"), ODD, ids=range(len(ODD)))
def test_an_odd_request_is_a_sentence(home, data, status):
    with connections(home, [data]) as (one,):
        check_odd_answer(*answer_of(one), status)


def test_the_agent_has_no_complaints(home):
    """No traceback, and no line of the log for a stranger's request."""
    assert not [line for line in home.lines if "Traceback" in line or "failed" in line]
