"""`tenner sim` beside a running agent: the agent sees each change."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.host.e2e import READS, WARM_ROOM, agent_board

ROOT = Path(__file__).resolve().parent.parent.parent


def sim(*arguments, code=0):
    """Run `tenner sim ...` and return its output."""
    done = subprocess.run(
        [sys.executable, "-c", "from tenner_host.cli import main; main()", "sim", *arguments],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    return done.stdout if not code else done.stderr


@pytest.fixture(scope="module", autouse=True)
def folder(tmp_path_factory):
    """Boards of a name live here, and not where the owner's are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TENNER_SIM_DIR", str(tmp_path_factory.mktemp("sim")))
        yield


@pytest.fixture(scope="module")
def bench(folder):
    with agent_board(WARM_ROOM, name="e2e") as made:
        yield made.ready()


def test_set_get_and_list(bench):
    sim("set", "room.temperature", "19.5")
    assert sim("get", "room.temperature") == "19.5\n"
    listing = sim("list")
    assert listing.startswith("e2e: running, micropython, " + bench.board.pty)
    assert "room.temperature" in listing and "TMP102" in listing
    assert sim("repl-path").strip() == bench.board.pty
    assert bench.told() == []


def test_a_warm_room_alerts_the_owner(bench):
    sim("set", "room.temperature", "33.75")
    bench.wait_told(READS.format(33.75).replace(".", r"\."))
    assert "room.temperature 33.75 > 30: alarm" in sim("log")


def test_a_broken_sensor_is_noticed_and_repaired(bench):
    sim("fault", "tmp102", "absent")
    bench.wait_told(r"^I cannot read the sensor room")
    bench.type("What does the TMP102 at 0x48 on i2c0 say?")
    bench.wait_for("I could not read the TMP102 at 0x48 on i2c0: error: ")
    sim("fault", "tmp102", "none")
    bench.wait_told(r"^The sensor room answers again")
    assert bench.ask("What does the TMP102 at 0x48 on i2c0 say?") == READS.format(33.75)


def test_wifi_power_and_reset(bench):
    sim("reset")
    bench.ready()
    sim("wifi", "down")
    sim("power", "cycle")
    bench.wait_for("boot  ")
    assert "connected" not in bench.log.rpartition("boot  ")[2]
    sim("wifi", "up")
    bench.ready()
    bench.echo("still here")


def test_mistakes_are_sentences(bench):
    assert "no virtual board named 'other'" in sim(
        "get", "room.temperature", "--sim", "other", code=1
    )
    error = sim("get", "room.temperatur", code=1)
    assert error.startswith("tenner: ") and "room.temperatur" in error
    assert error.count("\n") == 1
