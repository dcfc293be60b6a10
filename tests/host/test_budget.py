"""The memory of chips without PSRAM: the written figures, and where a shortage is told."""

import re

import pytest

from tenner_host import ROOT, budget
from tenner_host.doctor import inside
from tenner_host.setup import memory
from tests.host import flash_fakes

TELEGRAM = budget.chains()["telegram"]


def constant(module, name):
    text = (ROOT / "firmware" / "tenner" / module).read_text()
    return eval(re.search(rf"^{name} = (?:const\()?([\d* ]+)", text, re.M)[1])


def test_the_agent_has_the_same_figures():
    assert constant("chip_heap.py", "_TURN") == budget.TURN_KB * 1024
    assert constant("chip_heap.py", "_SPARE") == budget.RESERVE_KB * 1024
    assert constant("chip_heap.py", "_WIFI") == budget.chips()["ESP32_GENERIC"].wifi_kb * 1024
    assert constant("channels/status_lines.py", "_GOAL") == budget.GOAL_KB * 1024
    longest = constant("chip_heap.py", "tls_bytes")
    assert longest == constant("net/tls_reserve.py", "UNKNOWN")
    assert abs(longest - TELEGRAM.peak) < 100
    # The agent adds no less to a measured session than the handshake took.
    for chain in budget.chains().values():
        extra = "_ELLIPTIC" if chain.held < constant("net/tls_reserve.py", "_RSA_HELD") else "_RSA"
        assert chain.held + constant("net/tls_reserve.py", extra) + 2000 >= chain.peak


def test_which_boards_have_room():
    esp32, c3 = budget.chips()["ESP32_GENERIC"], budget.chips()["ESP32_GENERIC_C3"]
    assert (round(esp32.left_kb(TELEGRAM.peak)), esp32.missing_kb(TELEGRAM.peak)) == (93, 1)
    assert esp32.missing_kb(budget.chains()["ecdsa"].peak) == 0
    assert (round(c3.left_kb(TELEGRAM.peak)), c3.missing_kb(TELEGRAM.peak)) == (116, 0)
    assert budget.roomy() == "ESP32-C3, ESP32-C6 or ESP32-S3"
    assert budget.is_tight("ESP32_GENERIC") and not budget.is_tight("ESP32_GENERIC_C3")
    assert not budget.is_tight("VIRTUAL") and not budget.is_tight("")


def test_the_pages_have_the_same_figures():
    esp32, c3 = budget.chips()["ESP32_GENERIC"], budget.chips()["ESP32_GENERIC_C3"]
    left = [round(one.left_kb(TELEGRAM.peak)) for one in (esp32, c3)]
    assert f"[{left[0]} KB, a C3, C6 or S3 {left[1]}]" in (ROOT / "README.md").read_text()
    spare = [size - budget.TURN_KB for size in left]
    page = (ROOT / "docs" / "memory.md").read_text()
    assert f"a stock ESP32 has {spare[0]} KB to spare, and a C3 {spare[1]} KB" in page
    assert f"about {left[1] - left[0]} KB more for Python" in page


@pytest.mark.parametrize(
    ("board", "variant", "own", "is_short"),
    [
        ("ESP32_GENERIC", "", False, True),
        ("ESP32_GENERIC", "OTA", False, True),
        ("ESP32_GENERIC", "SPIRAM", False, False),
        ("ESP32_GENERIC", "", True, False),
        ("ESP32_GENERIC_C3", "", False, False),
        ("ESP32_GENERIC_S3", "SPIRAM_OCT", False, False),
        ("VIRTUAL", "", False, False),
    ],
)
def test_an_image_that_is_too_small_for_telegram_is_told(board, variant, own, is_short):
    text = budget.shortage(board, variant, own)
    assert bool(text) is is_short
    if text:
        assert "has 93 KB for the agent, which needs 94" in text
        assert "ESP32-C3, ESP32-C6 or ESP32-S3 has room" in text


def test_flash_says_it_once(tmp_path, monkeypatch):
    flash_fakes.place(tmp_path, monkeypatch)
    image = flash_fakes.written(tmp_path, model=flash_fakes.MODELS["esp32"])
    with flash_fakes.board(chip="esp32") as used:
        arguments = ("--board", "ESP32_GENERIC", "--image", image, "--port", used.pty)
        report = flash_fakes.flashed(*arguments)
        assert report["memory"].startswith("Little memory: beside a connection to Telegram")
        said = flash_fakes.tenner("flash", *arguments).stderr
        assert said.count("Little memory") == 1


# After setup, in the agent's own state.


def status(channel="telegram: starting", least=20, *more):
    first = f"for Wi-Fi and TLS: 40 KB free, 20 KB of it in one block, {least} KB at the least"
    return ["up 0 h 0 min", first, *more, channel]


NEVER = "a connection to api.telegram.org takes 46 KB of memory, 6 KB more than this board has"


@pytest.mark.parametrize(
    ("looks", "words"),
    [
        ([status(), status(), status("telegram: polling", 9)], ""),
        ([status(), status("mqtt: connected", 4)], ""),
        ([status(), status("telegram: polling", 3)], "only 3 KB were left"),
        ([status(), status("telegram: starting", 1, "memory: " + NEVER)], NEVER),
        # After the last look the least figure counts.
        ([status("telegram: too little; next try in 4 s", 1)] * 20, "only 1 KB were left"),
        ([status()] * 20, ""),
        # Linux, or a chip of another kind.
        ([["up 0 h 0 min", "telegram: starting"]], ""),
    ],
)
def test_setup_listens_to_the_agent(looks, words):
    left = list(looks)
    said = memory.watch(lambda: left.pop(0), lambda: None)
    assert words in said if words else said == ""
    assert len(looks) - len(left) <= memory.LOOKS


# The doctor reads the agent's file.


@pytest.mark.parametrize(
    ("data", "board", "state", "words"),
    [
        (None, "ESP32_GENERIC", None, ""),
        (b"\x00\xff broken", "ESP32_GENERIC", None, ""),
        (b"a.example 37400\nb.example 39100", "ESP32_GENERIC", "ok", "39 KB, for b.example"),
        (b"a.example 37400\nt.example 48400", "ESP32_GENERIC", "warn", "t.example takes 48 KB"),
        (b"t.example 48400", "ESP32_GENERIC_C3", "ok", "48 KB"),
        (b"t.example 48400", "", "ok", "48 KB"),
        (b"t.example 48400 told", "ESP32_GENERIC_C3", "fail", "more than this board has left"),
    ],
)
def test_the_doctor_says_which_server_does_not_fit(data, board, state, words):
    found = list(inside.check_needs(data, board))
    assert [one.state.value for one in found] == ([state] if state else [])
    for one in found:
        assert words in one.text
        assert ("docs/memory.md" in one.do) is (state != "ok")


class Regions:
    """A board that tells this of its memory."""

    def __init__(self, least):
        self.least = least

    def call(self, module, call):
        return repr((100000, 60000, [(181000, 90000, 59000, self.least)]))


@pytest.mark.parametrize(("least", "state"), [(4096, "ok"), (4095, "warn"), (900, "warn")])
def test_the_doctor_says_that_the_worst_moment_was_short(least, state):
    finding = list(inside.check_memory(Regions(least)))[-1]
    assert finding.state.value == state
    assert state == "ok" or f"only {least // 1024} KB were left" in finding.text
