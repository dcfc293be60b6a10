"""The whole-life test of a real board (tests/hw) against the virtual one, in short."""

import threading

import pytest

from tenner_sim import LIMIT_S
from tenner_sim.services import Services
from tenner_sim.vboard import VirtualBoard
from tests.bench import board as board_rows
from tests.bench import mqtt
from tests.bench.rows import NotMeasured
from tests.host.e2e import HEAP, wifi
from tests.hw.__main__ import main
from tests.hw.life import Life, Options
from tests.hw.line import Line, Sample
from tests.hw.report import Report

pytestmark = pytest.mark.long


@pytest.fixture
def board():
    with VirtualBoard(rfc2217_port=0, heap=HEAP) as board:
        yield board


def life(board, folder, **options):
    services = Services()
    options = {"turns": 4, "cuts": 1, "beats": 2, "patience_s": LIMIT_S, **options}
    return services, Life(
        Options(
            port=f"rfc2217://127.0.0.1:{board.rfc2217_port}",
            board="VIRTUAL",
            ssid=wifi()["ssid"],
            password=wifi()["password"],
            **options,
        ),
        services,
        folder,
    )


def test_a_board_is_led_through_its_life(board, tmp_path):
    services, lived = life(board, tmp_path)
    with services:
        report = lived.run()
    assert report.failures == [], report.text()
    names = [step.name for step in report.steps]
    assert names == ["clear", "sync", "setup", "sampler", "chat", "boot", "turns", "beats", "power cuts", "clean up"]  # fmt: skip  # noqa: E501
    text = report.text()
    assert "4 answered, 4 in a row" in text
    assert report.figures["chip.first_poll_s"] > 0
    assert report.figures["chip.idf_free_kb"] > 0
    sampled = [step.name for step in report.steps if step.samples]
    assert sampled == ["boot", "turns", "beats", "power cuts"]
    tree = board.read_tree()
    assert b"hw_sampler" not in tree["/main.py"]
    assert "/lib/hw_sampler.mpy" not in tree


def test_a_board_talks_to_a_broker_too(board, tmp_path):
    with mqtt.broker() as (port, _):
        services, lived = life(
            board, tmp_path, turns=1, cuts=0, beats=0, broker=f"localhost:{port}"
        )
        with services:
            report = lived.run()
    assert report.failures == [], report.text()
    names = [step.name for step in report.steps]
    assert names[-4:] == ["MQTT over TLS", "plain MQTT", "MQTT off", "clean up"]
    assert "by the broker" in report.steps[-3].seen
    assert "connected" in report.steps[-4].seen


def test_without_a_port_it_is_skipped(monkeypatch, capsys):
    for name in ("PORT", "TENNER_PORT"):
        monkeypatch.delenv(name, raising=False)
    assert main([]) == 0
    assert "skipped" in capsys.readouterr().out


def test_a_port_that_cannot_be_opened_is_a_failed_step(tmp_path, capsys):
    report = tmp_path / "report.txt"
    arguments = ["--port", "socket://127.0.0.1:9", "--report", str(report)]
    assert main(arguments) == 1
    assert "clear" in report.read_text()
    assert "cannot be opened" in report.read_text()


def test_a_slow_emulators_seconds_are_its_own():
    line = Line.__new__(Line)
    line._changed = threading.Condition()
    # It runs at a tenth, then restarts.
    line.samples = [
        Sample(at, ms, *[0] * 5) for at, ms in ((100, 1000), (110, 2000), (120, 3000), (130, 500))
    ]
    assert line.uptime_s(105) == 1.5
    assert line.uptime_s(115) - line.uptime_s(105) == 1
    assert line.uptime_s(125) == 0.5
    assert line.uptime_s(131) == 1.5


def test_the_benchs_rows_need_a_port(monkeypatch):
    for name in ("PORT", "TENNER_PORT"):
        monkeypatch.delenv(name, raising=False)
    board_rows._report.cache_clear()
    for row in board_rows.ROWS:
        with pytest.raises(NotMeasured, match="PORT="):
            row.measure()


def test_a_report_says_what_failed_and_goes_on():
    report = Report("a board")
    with pytest.raises(OSError), report.step("first"):
        raise OSError("pulled out")
    with report.step("second") as step:
        step.seen = "all right"
        step.samples = [Sample(0, 0, 9, 9, 30, 20, 10), Sample(1, 1, 8, 8, 25, 22, 10)]
    text = report.text()
    assert "FAILED: pulled out" in text
    assert " 9        25       20     10  all right" in text
    assert text.endswith("FAILED: 1 of 2 steps\n")
