"""`tenner boards` lists the connected boards without stopping an agent."""

import json

import pytest
import serial

from tenner_host.board import board_cache, ports, serial_board
from tenner_host.board.board import Board
from tenner_host.board.info import Info
from tenner_host.board.linux_board import LinuxBoard
from tenner_host.board.opening import class_of
from tenner_host.board.ports import Port
from tenner_host.board.serial_board import SerialBoard
from tenner_sim import LIMIT_S
from tenner_sim.vboard import VirtualBoard
from tests.host import flash_fakes
from tests.host.flash_fakes import tenner

AGENT = b"""
import time
print("agent runs")
while True:
    time.sleep_ms(5)
"""


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    flash_fakes.place(tmp_path, monkeypatch)
    # Ignore the devices of the computer that runs the tests.
    monkeypatch.setattr(ports, "list_ports", list)


def listed(*arguments):
    return {
        one["what"]: one
        for one in json.loads(tenner("boards", "--json", *arguments).stdout)["connected"]
    }


@pytest.fixture
def patient(monkeypatch):
    """A prompt is waited for as long as a busy machine needs; an agent would answer none."""
    monkeypatch.setattr(serial_board, "_PROMPT_LIMIT_S", LIMIT_S)


def test_a_board_at_its_prompt_is_asked(patient):
    with VirtualBoard({}, name="one", chip="esp32s3") as board:
        board.wait_for(">>> ")
        one = listed()["virtual board 'one'"]
        assert one["port"] == board.pty
        assert one["state"] == "at the REPL"
        assert one["chip"] == "ESP32-S3"
        assert one["micropython"] == "1.29.0"
        assert one["agent"] is None
        assert 1 << 20 < one["flash_free_bytes"] < 1 << 21
        shown = tenner("boards").stdout
        assert "ESP32-S3, MicroPython 1.29.0, " in shown


def test_an_agent_is_left_alone_unless_one_insists():
    with VirtualBoard({"/main.py": AGENT}, name="one") as board:
        board.wait_for("agent runs")
        before = board.status()
        one = listed()["virtual board 'one'"]
        assert one["state"].startswith("shows no prompt: its agent runs")
        assert one["micropython"] is None
        assert "not asked yet (tenner boards --ask)" in tenner("boards").stdout
        assert board.status()["child"] == before["child"]
        assert "KeyboardInterrupt" not in board.serial_log
        one = listed("--ask")["virtual board 'one'"]
        assert (one["state"], one["micropython"]) == ("runs a program", "1.29.0")
        board.wait_for("agent runs")
        # From now on it is known.
        assert listed()["virtual board 'one'"]["micropython"] == "1.29.0"


def test_what_is_wrong_with_a_port_is_its_state(monkeypatch):
    with VirtualBoard({}, name="taken") as taken, VirtualBoard(name="empty", erased=True):
        taken.wait_for(">>> ")
        with serial.Serial(taken.pty, exclusive=True):
            found = listed()
            assert "is used by another program" in found["virtual board 'taken'"]["problem"]
            assert found["virtual board 'empty'"]["chip"] == "ESP32-C3"
        taken.unplug()
        assert list(listed()) == ["virtual board 'empty'"]
        taken.plug()
        assert len(listed()) == 2


def test_a_board_that_no_list_of_ports_shows(patient, monkeypatch):
    with VirtualBoard({}, tcp_port=0) as board:
        board.wait_for(">>> ")
        url = f"socket://127.0.0.1:{board.tcp_port}"
        monkeypatch.setenv("TENNER_PORT", url)
        shown = json.loads(tenner("boards", "--json").stdout)["connected"]
        assert [(one["port"], one["state"]) for one in shown] == [(url, "at the REPL")]
        assert "No board is connected" not in tenner("boards").stdout
    shown = json.loads(tenner("boards", "--json", "--port", "ssh://root@nano").stdout)["connected"]
    assert [one["port"] for one in shown] == ["ssh://root@nano"]
    assert "Linux board" in shown[0]["state"]


def test_nothing_connected_and_what_is_known():
    assert "No board is connected" in tenner("boards").stdout
    known = json.loads(tenner("boards", "--json").stdout)["known"]
    by_name = {one["name"]: one for one in known}
    assert "VIRTUAL" not in by_name
    assert by_name["ESP32_GENERIC_C3"]["chip"] == "ESP32-C3"
    assert by_name["ESP32_GENERIC_S3"]["variants"] == ["SPIRAM_OCT"]
    # One with little memory comes last.
    shown = tenner("boards").stdout
    assert shown.rstrip().split("\n")[-1].startswith("  ESP32_GENERIC ")
    assert shown.count("little memory beside Telegram") == 1
    assert by_name["LICHEERV_NANO"]["platform"] == "linux"


def test_a_board_on_usb_is_remembered_by_its_serial_number():
    info = Info(
        micropython="1.27.0",
        mpy=2822,
        machine="ESP32C3 module with ESP32C3",
        build="ESP32_GENERIC_C3",
        platform="esp32",
        agent="0.1.0",
        block=4096,
        flash_total=1 << 21,
        flash_free=1 << 20,
        heap_free=1,
        heap_used=1,
        device_id="7c2c67000001",
        reset_cause=1,
        deflate=True,
    )
    port = Port("/dev/ttyACM0", 0x303A, 0x1001, "7C:2C:67:00:00:01", "USB JTAG")
    assert board_cache.recall(port) == {}
    board_cache.note(port, info)
    board_cache.note(Port("/dev/ttyUSB0", 0x1A86, 0x7523), info)
    moved = Port("/dev/ttyACM5", 0x303A, 0x1001, "7C:2C:67:00:00:01")
    assert board_cache.recall(moved)["micropython"] == "1.27.0"
    assert board_cache.recall(Port("/dev/ttyUSB0", 0x1A86, 0x7523)) == {}, (
        "any other has the same numbers"
    )


def test_the_scheme_of_a_port_chooses_the_class_of_its_board():
    serial = ("/dev/ttyACM0", "COM5", "socket://board:4000", "rfc2217://board:4000")
    assert {class_of(Port(device)) for device in serial} == {SerialBoard}
    assert class_of(Port("ssh://root@nano")) is LinuxBoard
    with pytest.raises(TypeError, match="abstract"):
        Board()


def test_an_image_is_not_written_to_a_linux_board():
    done = tenner("flash", "--port", "ssh://root@nano", code=1)
    assert "ssh://root@nano is a Linux board, which has its system on a card" in done.output
