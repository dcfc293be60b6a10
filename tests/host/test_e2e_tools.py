"""Each hardware tool on the virtual board: what the model is told is what the world sees."""

import json
import re

import pytest

from tests.host.e2e import SideBySide, agent_board

together = SideBySide()

ALLOWED = {f"tools.{name}": "allow" for name in ("i2c", "spi", "gpio", "pwm")}


@together.each([("micropython",), ("cpython",)])
def test_what_is_told_is_what_is(runtime):
    with agent_board(runtime=runtime, changes=ALLOWED) as bench:
        bench.ready()
        world = bench.board.set
        world("gpio0.volts", 1.5)
        world("gpio1", 1)
        world("oven.temperature", 100.25)
        for name, args, pattern in (
            ("adc", {"action": "read", "pin": "A0"}, r"A0 \(GPIO0\): raw \d+ of 65535, 1500 mV"),
            ("gpio", {"action": "read", "pin": "A1"}, r"pin A1 \(GPIO1\) is at 1"),
            ("gpio", {"action": "write", "pin": "LED", "value": 1}, r"\(GPIO3\) is at 1"),
            ("gpio", {"action": "read", "pin": 3}, r"pin LED \(GPIO3\) is at 1"),
            ("gpio", {"action": "pulse", "pin": 3, "ms": 20, "value": 0}, r"\(GPIO3\) is at 1"),
            ("spi", {"action": "list"}, r"spi0\.0"),
            # 100.25 degrees in quarters of one, 25 degrees of the chip in sixteenths.
            ("spi", {"action": "read", "length": 4}, r"0x06 0x44 0x19 0x00 \(6 68 25 0\)"),
            ("gpio", {"action": "write", "pin": "VDD_SPI", "value": 0}, r"is reserved: "),
            ("gpio", {"action": "write", "pin": "SPI0_SCK", "value": 0}, r"carries SPI0_SCK"),
            (
                "pwm",
                {"action": "set", "pin": "LED", "freq_hz": 50, "duty_percent": 7.5},
                r"pulses of 50 Hz, 7\.5 % on pin LED \(GPIO3\)",
            ),
        ):
            answer = bench.ask(f"call {name} {json.dumps(args)}")
            assert re.search(pattern, answer), (name, args, answer)
        seen = bench.board.world()
        assert (seen["gpio3"], seen["gpio3.hz"]) == (1, 50)
        assert seen["gpio3.duty"] == pytest.approx(0.075, abs=0.001)
        bench.ask('call pwm {"action": "off", "pin": "LED"}')
        assert bench.board.world()["gpio3.hz"] == 0
        # A level ends pulses.
        bench.ask('call pwm {"action": "set", "pin": "LED", "freq_hz": 9, "duty_percent": 5}')
        bench.ask('call gpio {"action": "write", "pin": "LED", "value": 0}')
        seen = bench.board.world()
        assert (seen["gpio3"], seen["gpio3.hz"]) == (0, 0)
        assert "Traceback" not in bench.log
