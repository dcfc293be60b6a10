"""The chip mode of the heap bench: Python's heap grows into the memory of Wi-Fi and TLS, as on an
ESP32."""

import dataclasses
import subprocess

import pytest

from tests.bench import esp32
from tests.bench.agent import IN_ANSWER, QUESTION, agent
from tests.bench.images import CHIP
from tests.bench.rows import NotMeasured

pytestmark = pytest.mark.long

POOL = 100_000
SCRIPT = """
import esp32, gc, io

def pool(label):
    gc.collect()
    (size, free, largest, least), = esp32.idf_heap_info(esp32.HEAP_DATA)
    print(label, free, largest, least)

def hold(kilobytes):
    return [bytearray(1000) for _ in range(kilobytes)]

class Nowhere(io.IOBase):
    def ioctl(self, request, argument):
        return 0

def session():
    try:
        return esp32.session(Nowhere(), (17000, 8000))
    except OSError as error:
        print("session", error.errno)

pool("start")
one = session()
pool("session")
one.close()
pool("closed")
first = hold(30)
pool("first")
second = hold(20)
pool("second")
del second[:-1]
pool("sparse")
more = hold(80)
pool("all")
session()
del more, second
pool("empty")
"""


@pytest.fixture(scope="module")
def interpreter():
    try:
        return CHIP.find()
    except NotMeasured as exc:
        pytest.skip(str(exc))


def test_the_heap_grows_into_the_pool_and_gives_back_what_is_empty(interpreter, tmp_path):
    done = subprocess.run(
        interpreter.command("-c", SCRIPT, heap="40K"),
        env={"TENNER_CHIP_POOL": str(POOL), "MICROPYPATH": ""},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    lines = [line.split() for line in done.stdout.splitlines()]
    (refused,) = [line[1] for line in lines if line[0] == "session" and len(line) == 2]
    pool = {line[0]: [int(word) for word in line[1:]] for line in lines if len(line) == 4}
    free, largest, _ = pool["start"]
    assert free == largest > POOL - 100
    assert free - pool["session"][0] > 25_000
    # A session gives all of it back; the heap has not grown, and the least is remembered.
    assert pool["closed"][:2] == pool["first"][:2] == [free, largest]
    assert pool["first"][2] == pool["session"][0]
    # It doubles, and one object keeps the whole area.
    assert 38_000 < free - pool["second"][0] < 43_000
    assert pool["sparse"] == pool["second"]
    # The next growth takes the largest block there is, before any MemoryError, and no session fits
    # then.
    assert pool["all"][1] < 1000
    assert refused == "12"
    assert pool["empty"][:2] == [free, largest]


def test_a_turn_takes_a_sessions_memory_from_the_pool(interpreter):
    with agent(200, image=ECDSA) as running:
        running.idle()
        running.ask(QUESTION, IN_ANSWER)
        assert esp32.failure(running) == ""
        wifi_and_session = 26 * 1500 + 25_000
        assert 0 < running.live("least") < 144_000 - wifi_and_session


#: Models behind ECDSA fit an ESP32 with a stock image, and these turns 3 KB more than it has: with
#: its own pool every second run of 12 turns meets a lack of memory, and the board restarts itself
#: (docs/memory.md).
ECDSA = dataclasses.replace(CHIP, chain="ecdsa", pool="14656 4552 11848 116040")


def test_turns_fit_beside_wifi_and_tls(interpreter):
    done, _, wrong = esp32.turns(ECDSA, 12)
    assert (done, wrong) == (12, "")


def test_memory_that_is_short_is_noticed(interpreter):
    with agent(200, image=dataclasses.replace(CHIP, pool="30000")) as running:
        running.wait_line("Out of Memory")
        assert "Out of Memory" in esp32.failure(running)


def test_a_chain_that_can_never_fit_is_said_once_with_its_host_and_the_amount(interpreter):
    """Less memory than an ESP32 has: the model behind ECDSA works, Telegram cannot."""
    # The first part of the heap has room for the start, so that it does not grow before the first
    # connection: three services begin at once, and where it grew depended on their order.
    small = dataclasses.replace(CHIP, pool="14656 4552 11848 83520")
    with agent(76, image=small, settings={"mqtt": {"host": "127.0.0.1", "port": 9}}) as running:
        running.wait_line("memory    a connection to localhost takes", unless="restarting")
        lines = [line for line in running.lines if "takes" in line]
        lines = [line for line in lines if "KB more than" in line]
        assert lines and all("an image with the agent inside" in line for line in lines)
        assert not [line for line in running.lines if "not in /certs" in line]
        assert not [line for line in running.lines if "restarting" in line]
        assert (running.root / "state" / "tls").read_text().endswith(" told")
