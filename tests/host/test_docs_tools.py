"""docs/tools.md matches the arguments, refusals and questions of the tools."""

import json
import re

import pytest

import tables
from tenner.net.web import guard
from tenner.port.gpio import Gpio
from tenner.store import configload
from tenner.store.config import Config
from tenner.tools import built_in
from tenner.tools import exec as exec_tool
from tenner.tools.prepare import parsed, verified
from tenner_host import BOARDS, ROOT

TEXT = (ROOT / "docs" / "tools.md").read_text()
CALLS = re.findall(r"^(\w+) (\{.*\})$", TEXT, re.MULTILINE)


@pytest.fixture
def ctx():
    with tables._Board() as board:
        board._write("workspace/SENSORS.json", "{}")
        yield tables._ToolContext(board)


def test_every_call_is_a_right_one(ctx):
    assert {name for name, _ in CALLS} == {"i2c", "spi", "gpio", "adc", "pwm", "sensor", "exec"}
    for name, text in CALLS:
        if name == "exec":
            exec_tool.check(json.loads(text), ctx)
            continue
        module, args = verified(
            ctx, name, parsed(name, text), *ctx.registry.find(name, ctx.turn.kind)
        )
        if hasattr(module, "check"):
            module.check(args, ctx)


def test_every_tool_is_named():
    for name in built_in.names():
        assert f"`{name}`" in TEXT, name


def test_the_policy_is_one(tmp_path):
    path = tmp_path / "config.json"
    policy, web, commands = re.findall(r"```json\n(.*?)```", TEXT, re.DOTALL)
    path.write_text(policy)
    assert configload.load(str(path), {}).get("tools.gpio") == ["read", "RELAY"]
    path.write_text(commands)
    assert configload.load(str(path), {}).get("exec.timeout_s") == 20
    path.write_text(web)
    assert configload.load(str(path), {}).get("web.allow") == ["nas.local", "192.168.1.10:8080"]


def test_the_limits_of_the_web_are_those_of_the_tool():
    source = (ROOT / "firmware" / "tenner" / "tools" / "web_fetch.py").read_text()
    most, small = re.findall(r"^_MOST\w* = const\((\d+)\)", source, re.MULTILINE)
    assert f"{int(most):,} bytes come at a time ({int(small):,} on a board without PSRAM)" in TEXT
    with pytest.raises(OSError) as refusal:
        guard.check("http://192.168.1.1/")
    assert f"error: {refusal.value}\n" in TEXT


def test_defaults_are_those_of_the_settings():
    settings = Config({})
    tools = ", ".join(f"`{name}`" for name in settings.get("heartbeat.tools"))
    assert f"`heartbeat.tools` ({tools})" in TEXT
    assert f"`sensors.history_kb` ({settings.get('sensors.history_kb')})" in TEXT
    assert f"`turn.timeout_s` ({settings.get('turn.timeout_s')} s)" in TEXT
    for name in ("timeout_s", "memory_mb"):
        assert f"`exec.{name}` ({settings.get('exec.' + name)})" in TEXT
    assert settings.get("sensors.every") == 300
    assert "`sensors.every` (five minutes)" in TEXT


def test_pins_are_refused_in_these_words():
    refusals = re.findall(r"^error: (pin (\w+) .*)$", TEXT, re.MULTILINE)
    assert len(refusals) == 3
    for expected, name in refusals:
        said = set()
        for path in BOARDS.glob("*/pins.csv"):
            try:
                Gpio(str(path)).check(name, "out")
            except OSError as error:
                said.add(str(error))
        assert expected in said


def test_the_format_of_readings_is_that_of_the_files(tmp_path):
    import struct

    from tenner.sensors.ring import Ring

    ring = Ring(str(tmp_path / "readings"), 4096)
    values = [("room.humidity", 50.5), ("room.temperature", 21.25)]
    for number in range(10):
        ring.keep(1795000000 + 300 * number, values)
    line, _, data = (tmp_path / "readings.1").read_bytes().partition(b"\n")
    names = json.loads(line)
    assert names == [1, "room.humidity", "room.temperature"]
    waiting = (tmp_path / "readings.new").read_bytes()
    assert struct.unpack("<I", waiting[:4]) == (1,)
    assert len(waiting) <= 128
    rows = list(struct.iter_unpack("<IBf", data + waiting[4:]))
    assert [(time, names[index], value) for time, index, value in rows] == [
        (1795000000 + 300 * number, *pair) for number in range(10) for pair in values
    ]
