"""`tenner doctor` on boards with one thing wrong each: it names that, and what to do."""

import json
import os
import subprocess
import sys

import pytest
from click.testing import CliRunner

from tenner_host import ROOT, build, littlefs_image
from tenner_host.cli import main as tenner
from tenner_host.doctor import cable, inside
from tenner_host.doctor.findings import State
from tenner_sim.services import Step
from tenner_sim.vboard import VirtualBoard
from tenner_sim.vboard.image import VFS_SIZE
from tests.host.e2e import SENSORS, SideBySide, agent_board

together = SideBySide(at_once=3)

#: Everything there is to look at, in this order.
CHECKS = (
    (
        "port service repl loader image micropython code files heap settings certificates i2c0 "
        "wifi signal clock dns tls key telegram agent"
    )
    .replace("heap", "heap,largest block")
    .replace(" ", ",")
    .replace("largest,block", "largest block")
)


def examine(board, *options):
    """check -> finding; the exit status goes with them."""
    # A process of its own: several boards are examined at once.
    command = [sys.executable, "-m", "tenner_host.cli", "doctor", "--port", board.pty, "--json"]
    done = subprocess.run(
        [*command, *options], cwd=ROOT, capture_output=True, text=True, timeout=100, check=False
    )
    assert done.stdout, done.stderr
    found = json.loads(done.stdout)["checks"]
    failed = [one["check"] for one in found if one["state"] == "fail"]
    assert done.returncode == (7 if failed else 0), done.stderr
    for one in found:
        assert one["do"] or one["state"] in ("ok", "skip"), one
    return {one["check"]: one for one in found}


@together.check
def test_a_healthy_board():
    with agent_board() as bench:
        bench.ready()
        found = examine(bench.board)
        assert [check for check, one in found.items() if one["state"] != "ok"] == []
        assert list(found) == CHECKS.split(",")
        bench.wait_for("(pool.ntp.org)")
        bench.echo("still here")


@together.check
def test_a_healthy_board_whose_model_is_in_the_clear():
    with agent_board(tls=False) as bench:
        bench.ready()
        found = examine(bench.board, "--no-loader")
        assert [check for check, one in found.items() if one["state"] == "fail"] == []
        assert found["certificates"]["state"] == "skip", found["certificates"]
        assert found["tls"]["state"] == "warn"


def bad_key(bench):
    bench.model.plan([Step(status=401, times=9)])


def no_wifi(bench):
    bench.board.wifi(False)


def sensor_off(bench):
    bench.board.fault("tmp102", "absent")


#: Bytes that leave 6 % of the flash free beside the agent.
FILLING = VFS_SIZE * 94 // 100 - littlefs_image.taken(build.firmware_tree("VIRTUAL"))

# (name, fault from the start, fault on the way, check, finding, what to do)
FAULTS = [
    ("key", {}, bad_key, "key", "does not take the key", "is llm.api_key complete"),
    ("wifi", {}, no_wifi, "wifi", "cannot join", "no network of that name"),
    ("ssid", {"changes": {"wifi.ssid": "other"}}, None, "wifi", "cannot join 'other'", "2.4 GHz"),
    ("password", {"changes": {"wifi.password": "wrong"}}, None, "wifi", "cannot", "password is wrong"),  # noqa: E501
    ("dns", {"changes": {"llm.base_url": "https://nowhere.invalid/v1"}}, None, "dns", "resolve", "DNS"),  # noqa: E501
    ("tls", {"certificate": "wrong-name"}, None, "tls", "is for another host name", "config.json"),
    ("token", {"changes": {"telegram.token": "12:wrong"}}, None, "telegram", "does not know", "BotFather"),  # noqa: E501
    ("model", {"changes": {"llm.model": ""}}, None, "settings", "without llm.model", "tenner setup"),  # noqa: E501
    ("config", {"changes": {"llm.modle": "x"}}, None, "settings", "uses its default", "tenner setup"),  # noqa: E501
    ("certs", {"roots": {}}, None, "certificates", "none in /certs", "tenner setup"),
    ("root", {"roots": {"broken": b"no"}}, None, "certificates", "isn't a certificate", "tenner setup"),  # noqa: E501
    ("shadow", {"files": {"/lib/tenner/app.py": "x=1"}}, None, "code", "hides newer", "tenner sync"),  # noqa: E501
    ("stale", {"files": {"/lib/tenner/old.mpy": "x"}}, None, "code", "files aren't from this", "tenner sync"),  # noqa: E501
    ("cut-off", {"files": {"/lib/tenner/app.mpy.new": "x"}}, None, "code", "was cut off", "tenner sync"),  # noqa: E501
    ("quarantined", {"files": {"/state/x.json.bad": "x"}}, None, "files", "quarantined", "tenner pull"),  # noqa: E501
    ("full", {"files": {"/workspace/big": os.urandom(FILLING)}}, None, "files", "is free", "/workspace/big"),  # noqa: E501
    ("bus", {"files": {"/workspace/SENSORS.json": SENSORS.replace("0x48", "0x49")}}, None, "i2c0", "0x49", "SDA"),  # noqa: E501
    ("json", {"files": {"/workspace/SENSORS.json": "{"}}, None, "sensors", "cannot be read", "tenner sync"),  # noqa: E501
    ("odd", {"files": {"/workspace/SENSORS.json": '{"a`b": {"driver": "internal"}}'}}, None, "sensors", "a sensor's name has no quotes", "rename a`b"),  # noqa: E501
]  # fmt: skip


@together.each(FAULTS)
def test_what_is_wrong_is_named(_name, start, then, check, says, do):
    with agent_board(**start) as bench:
        if then:
            then(bench)
        found = examine(bench.board, "--no-loader")
        assert found[check]["state"] in ("fail", "warn"), found
        assert says in found[check]["text"], found[check]
        assert do in found[check]["do"], found[check]


@together.check
def test_an_empty_board():
    with VirtualBoard({}) as board:
        found = examine(board)
        assert found["code"]["do"] == "run `tenner sync`"
        assert found["settings"]["do"] == "run `tenner setup`"
        assert found["agent"]["state"] == "fail"
        assert found["wifi"]["state"] == "skip"


def test_no_permission_is_the_first_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(tenner, ["doctor", "--port", "/dev/ttyNOPE", "--json"])
    found = json.loads(done.stdout)["checks"]
    assert (found[0]["check"], found[0]["state"]) == ("port", "fail")
    assert done.exit_code == 7


def test_a_bridge_without_a_driver(tmp_path):
    (tmp_path / "usb" / "1-1").mkdir(parents=True)
    (tmp_path / "usb" / "1-1" / "idVendor").write_text("1a86\n")
    (finding,) = cable.without_port(tmp_path / "usb", tmp_path / "tty")
    assert finding.state is State.FAIL
    assert "modprobe ch341" in finding.do and "brltty" in finding.do
    (finding,) = cable.without_port(tmp_path / "nothing", tmp_path / "tty")
    assert finding.state is State.SKIP


def test_the_text_for_people():
    with agent_board(changes={"telegram.token": None}) as bench:
        bench.model.plan([Step(status=401, times=9)])
        done = CliRunner().invoke(tenner, ["doctor", "--port", bench.board.pty, "--no-loader"])
    assert "ok    repl           MicroPython answers; " in done.stdout
    assert "fail  key            " in done.stdout
    assert "                     -> is llm.api_key complete" in done.stdout
    assert "skip  telegram       no token is set" in done.stdout
    assert done.stderr == "tenner: 1 of 19 checks failed, first key\n"


@pytest.mark.parametrize("name", ["tmp102", "lm75", "sht31", "bme280", "ads1115"])
def test_where_a_driver_looks_is_known(name):
    from tenner_host.doctor.outside import _default_address

    assert _default_address(name) is not None
    assert _default_address("gpio") is None
    assert _default_address("../app") is None


class Memory:
    """A board that tells this of its memory."""

    def __init__(self, *told):
        self.told = told

    def call(self, module, call):
        return repr(self.told)


# (free, used, regions beside Python's heap, states of the two lines)
MEMORIES = [
    (100000, 60000, [(181000, 90000, 59000, 80000)], ["ok", "ok"]),
    (50000, 40000, [(181000, 90000, 59000, 80000)], ["fail", "ok"]),
    (100000, 60000, [(181000, 90000, 15000, 80000)], ["ok", "fail"]),
    (100000, 60000, [(181000, 30000, 29000, 20000)], ["ok", "fail"]),
    (100000, 60000, None, ["ok", "skip"]),
]


@pytest.mark.parametrize(("free", "used", "regions", "states"), MEMORIES)
def test_the_memory_check_knows_its_limits(free, used, regions, states):
    found = list(inside.check_memory(Memory(free, used, regions)))
    assert [one.state.value for one in found] == states
