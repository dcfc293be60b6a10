"""`tenner sim` as an owner types it."""

import json
import os
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from click.testing import CliRunner

from tenner_host.board.sims import running_boards
from tenner_host.interpreters import Interpreter
from tenner_sim.command import sim
from tenner_sim.services import free_ports
from tenner_sim.vboard import VirtualBoard
from tenner_sim.vboard.control import socket_path
from tenner_sim.vboard.hardware import Hardware, read_pins

BOARD = Path(__file__).resolve().parent.parent.parent / "boards" / "VIRTUAL"


@pytest.fixture
def sim_dir(tmp_path, monkeypatch):
    """State of named boards in a folder with a path too long for a socket."""
    folder = tmp_path / ("long" * 30)
    monkeypatch.setenv("TENNER_SIM_DIR", str(folder))
    yield folder
    for name in running_boards():
        CliRunner().invoke(sim, ["stop", "--sim", name])


def tenner_sim(*arguments):
    result = CliRunner().invoke(sim, [str(word) for word in arguments])
    assert result.exit_code == 0, result.output
    return result.output


def refused(*arguments):
    result = CliRunner().invoke(sim, list(arguments))
    assert result.exit_code == 1
    return result.output


@pytest.fixture
def board(sim_dir):
    with VirtualBoard({"/main.py": b"print('ready')\n"}, name="demo") as board:
        board.wait_for("ready")
        yield board


def test_values_of_the_world_are_set_and_read(board):
    assert tenner_sim("get", "room.temperature") == "21.5\n"
    tenner_sim("set", "room.temperature", "31.5")
    assert board.get("room.temperature") == 31.5
    tenner_sim("set", "room.temperature", "--", "-4")
    assert board.get("room.temperature") == -4
    listed = tenner_sim("list")
    assert "demo: running, micropython, /dev/pts/" in listed
    assert "greenhouse.humidity" in listed
    assert "TMP102" in listed
    assert tenner_sim("repl-path").strip() == board.pty


def test_wifi_and_faults(board):
    tenner_sim("wifi", "down")
    assert not board.status()["wifi_up"]
    tenner_sim("wifi", "up")
    assert board.status()["wifi_up"]
    tenner_sim("fault", "tmp102", "absent")
    assert "absent" in tenner_sim("list")
    tenner_sim("fault", "tmp102", "none")
    assert "absent" not in tenner_sim("list")


def test_wiring_one_more_chip(board):
    tenner_sim("attach", "climate", "BME280", "i2c0", "0x76")
    tenner_sim("attach", "probe", "DS18B20", "gpio1")
    tenner_sim("set", "climate.pressure", "987")
    tenner_sim("fault", "probe", "brownout")
    listed = tenner_sim("list")
    assert "climate.humidity" in listed
    assert "BME280" in listed
    assert "brownout" in listed
    assert board.exec("from machine import I2C; print(118 in I2C(0).scan())") == "True\n"
    tenner_sim("detach", "climate")
    assert board.exec("print(118 in I2C(0).scan())") == "False\n"
    assert "no device 'climate'" in refused("detach", "climate")
    assert "two devices at 0x48" in refused("attach", "x", "SHT40", "i2c0", "0x48")
    assert "no model of 'NE555'" in refused("attach", "x", "NE555", "i2c0", "0x20")
    assert not [name for name in board.signals() if name.startswith("x.")]


def test_power_and_reset(board):
    tenner_sim("reset")
    board.wait_for("ready")
    tenner_sim("power", "off")
    assert "demo: off" in tenner_sim("list")
    tenner_sim("power", "on")
    board.wait_for("ready")
    tenner_sim("power", "cycle")
    board.wait_for("ready")
    board.wait_for(">>> ")
    tenner_sim("power", "cut", "--after-writes", "1", "--torn")
    board.type("f = open('/x', 'w'); f.write('y' * 2000); f.close()\r")
    board.wait_state("off")
    assert "true" in tenner_sim("clock", "--advance", "60")


def test_mistakes_get_one_sentence(board):
    assert "did you mean room.temperature" in refused("set", "room.temperatur", "1")
    assert "no device 'x' on this board" in refused("fault", "x", "absent")
    assert "no virtual board named 'other' is running; available: demo" in refused(
        "get", "room.temperature", "--sim", "other"
    )


def test_no_board_is_said(sim_dir):
    assert "start one with `tenner sim start`" in refused("list")


def test_start_outlives_its_starter_and_keeps_its_files(sim_dir):
    environment = {**os.environ, "TENNER_SIM_DIR": str(sim_dir)}

    def command(*arguments):
        return subprocess.run(
            [sys.executable, "-m", "tenner_host.cli", "sim", *arguments],
            cwd=BOARD.parent.parent,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )

    started = command("start", "--sim", "one", "--fresh")
    assert started.returncode == 0, started.stderr
    first, *answers, following = started.stdout.splitlines()
    assert first.startswith("one runs; its serial port is /dev/pts/")
    assert "Wi-Fi      virtual, password tenner-virtual" in answers
    assert "`tenner setup --sim one`" in following and "`tenner chat --sim one`" in following
    again = command("start", "--sim", "one")
    assert again.stdout == started.stdout.replace("one runs", "one is already running")
    assert again.returncode == 0
    refusal = command("start", "--sim", "one", "--fresh", "--heap", "192K").stderr
    assert "tenner: one is already running, so --fresh --heap would do nothing" in refusal
    assert "`tenner sim stop --sim one` first" in refusal
    with VirtualBoard({}, name="two"):
        assert "choose with --sim: one, two" in command("get", "room.temperature").stderr
    assert command("log").stdout.startswith("ESP-ROM")
    assert command("stop").returncode == 0


def test_the_ports_of_the_stand_ins_stay_unless_they_are_taken(tmp_path):
    path = tmp_path / "ports.json"
    ports = free_ports(path)
    assert free_ports(path) == ports and len(set(ports.values())) == 2
    with socket.create_server(("127.0.0.1", ports["model_port"])):
        others = free_ports(path)
    assert others["model_port"] != ports["model_port"]
    assert others["telegram_port"] == ports["telegram_port"]
    assert free_ports(path) == others


def test_the_phone_of_a_board_with_stand_ins(sim_dir, board):
    assert "no stand-ins run beside this board; `tenner sim start` starts some" in refused("phone")
    with VirtualBoard({}, name="two", services=free_ports(sim_dir / "ports.json")) as two:
        assert tenner_sim("phone", "--sim", "two") == "no message yet\n"
        assert two.phone() == {"messages": [], "looks": 0}
        services = two.status()["services"]
        url = "{base_url}/bot{token}/sendMessage".format(**services["telegram"])
        buttons = {"inline_keyboard": [[{"text": "Why", "callback_data": "/why"}]]}
        body = {"chat_id": services["telegram"]["owner"], "text": "warm", "reply_markup": buttons}
        request = urllib.request.Request(
            url, json.dumps(body).encode(), {"Content-Type": "application/json"}
        )
        urllib.request.urlopen(request).close()
        assert two.phone(look=False) == {
            "messages": [{"text": "warm", "buttons": ["Why"]}],
            "looks": 0,
        }
        shown = tenner_sim("phone", "--sim", "two")
        assert "│ warm " in shown and "[Why]" in shown
        assert "sent; " in tenner_sim("phone", "hello", "--sim", "two")
        assert two.phone(look=False)["looks"] == 1


def test_a_start_that_fails_is_reported_and_leaves_no_board(sim_dir, monkeypatch):
    broken = Interpreter("broken", (sys.executable, "-c", "import no_such_module"), (1, 25, 0), 64)
    monkeypatch.setattr("tenner_sim.vboard.board.find_micropython", lambda: broken)
    output = refused("start", "--fresh", "--heap", "16K").replace("│", " ")
    assert (
        "micropython did not start (exit status 1); is its heap of 16 KB too small? Its last "
        "line: ModuleNotFoundError: No module named 'no_such_module'"
    ) in " ".join(output.split())
    assert running_boards() == {}


def test_a_heap_that_is_no_size_is_refused(sim_dir):
    assert "heap '1O2K': give a size such as 112K" in refused("start", "--heap", "1O2K")


def test_a_stale_description_is_not_a_running_board(sim_dir):
    (sim_dir / "old").mkdir(parents=True)
    (sim_dir / "old" / "board.json").write_text(json.dumps({"pid": 2**22 - 3}))
    assert running_boards() == {}


def test_a_long_path_gets_a_short_socket(tmp_path):
    assert socket_path(tmp_path) == tmp_path / "control.sock"
    deep = tmp_path / ("x" * 120)
    deep.mkdir()
    short = socket_path(deep)
    assert len(str(short)) < 100
    short.parent.rmdir()


def test_description_of_the_board_is_consistent():
    hardware = Hardware(BOARD)
    pins = read_pins(BOARD / "pins.csv")
    assert len(set(pins.values())) == len(pins)
    assert sorted(pins.values()) == list(range(22)), "every GPIO of the chip, or a reason"
    assert set(hardware.where.values()) == {"i2c0 0x48", "i2c0 0x44", "i2c0 0x50", "spi0.0"}
    described = json.loads((BOARD / "board.json").read_text())
    assert described["mcu"] == "esp32c3"
    example = json.loads((BOARD / "config.example.json").read_text())
    assert example["wifi"]["ssid"] == hardware.wifi["ssid"]
