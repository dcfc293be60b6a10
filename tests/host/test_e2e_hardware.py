"""The tools of the hardware on the virtual board: true values, a bus that hangs, kept readings."""

import json
import re

import pytest

from tests.host.e2e import ASK, READS, WARM_ROOM, SideBySide, agent_board

together = SideBySide()

ALLOWED = {f"tools.{name}": "allow" for name in ("i2c", "spi", "gpio", "pwm")}


@together.each([("micropython",), ("cpython",)])
def test_what_is_told_is_what_is(runtime):
    with agent_board(runtime=runtime, changes=ALLOWED) as bench:
        bench.ready()
        set_signal = bench.board.set
        set_signal("gpio0.volts", 1.5)
        set_signal("gpio1", 1)
        set_signal("oven.temperature", 100.25)
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
        seen = bench.board.signals()
        assert (seen["gpio3"], seen["gpio3.hz"]) == (1, 50)
        assert seen["gpio3.duty"] == pytest.approx(0.075, abs=0.001)
        bench.ask('call pwm {"action": "off", "pin": "LED"}')
        assert bench.board.signals()["gpio3.hz"] == 0
        # A level ends pulses.
        bench.ask('call pwm {"action": "set", "pin": "LED", "freq_hz": 9, "duty_percent": 5}')
        bench.ask('call gpio {"action": "write", "pin": "LED", "value": 0}')
        seen = bench.board.signals()
        assert (seen["gpio3"], seen["gpio3.hz"]) == (0, 0)
        assert "Traceback" not in bench.log


# --- a chip holds the bus

STUCK = "bus i2c0 stuck low (ETIMEDOUT): SDA or SCL held down, no pull-ups"


@together.check
def test_a_chip_that_holds_the_bus():
    # The room's sensor is well; another chip hangs the bus it is on.
    with agent_board(WARM_ROOM) as bench:
        bench.ready()
        bench.wait_for("no condition met")
        bench.board.fault("sht31", "stuck")
        bench.wait_told(r"cannot read the sensor room.*stuck low")
        for action in (
            {"action": "read", "address": "0x48", "length": 2},
            {"action": "scan"},
        ):
            assert STUCK in bench.ask(f"call i2c {json.dumps(action)}")
            # The chip's own scan finds nothing on such a bus. The turn is over, the rest lives.
            bench.type_until("/lanes", "running: nothing")
            bench.type_until("/heartbeat", "no answer from room")
        bench.echo("everything else")
        bench.board.fault("sht31", None)
        # That it answers again is told once it has done so for a minute:
        # tests/test_schedule_alarms.py.
        assert bench.ask(ASK) == READS.format(21.5)
        # Said once, although it was looked at every second.
        told = [text for text in bench.told() if "cannot read" in text]
        assert len(told) == 1
        assert "Traceback" not in bench.log


# --- readings are kept while nobody asks

CALL = 'call sensor {"action": "history", "name": "room"}'
KEPT = r"room, (\d+) readings from \d+ min ago to \d+ min ago:\n\S+ min (\S+) max (\S+)"


def history(bench):
    """(how many, least, greatest) once there are any."""
    for _ in range(20):
        found = re.search(KEPT, bench.ask(CALL))
        if found:
            return found.groups()
    raise AssertionError(bench.told()[-1])


@together.check
def test_history_survives_the_power():
    with agent_board() as bench:
        bench.ready()
        _, least, greatest = history(bench)
        assert (least, greatest) == ("21.5", "21.5")
        bench.board.set("room.temperature", 25.25)
        bench.board.clock(advance_s=600)
        bench.board.power_cycle()
        bench.ready()
        while (now := history(bench))[2] != "25.25":
            pass
        assert now == ("2", "21.5", "25.25")
        assert "Traceback" not in bench.log


@together.check
def test_without_a_sensor_nothing_is_written():
    with agent_board(files={"/workspace/SENSORS.json": "{}"}) as bench:
        bench.ready()
        bench.echo("one")
        assert not any(name.startswith("/state/readings") for name in bench.board.read_tree())
