"""Readings are kept while nobody asks, and are there after the power was gone."""

import re

from tests.host.e2e import SideBySide, agent_board

together = SideBySide()

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
        assert not any("readings" in name for name in bench.board.read_tree())
