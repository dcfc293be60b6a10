"""A chip holds the bus: turns end with a reason, everything else goes on, and mended is mended."""

import json

from tests.host.e2e import ASK, READS, WARM_ROOM, SideBySide, agent_board

together = SideBySide()

STUCK = "bus i2c0 stuck low (ETIMEDOUT): SDA or SCL held down, no pull-ups"


@together.check
def test_a_chip_that_holds_the_bus():
    # The room's sensor is well; another chip hangs the bus it is on.
    with agent_board(WARM_ROOM) as bench:
        bench.ready()
        bench.wait_for("no gate is true")
        bench.board.fault("sht31", "stuck")
        bench.wait_told(r"cannot check room\.temperature.*stuck low")
        for action in (
            {"action": "read", "address": "0x48", "length": 2},
            {"action": "scan"},
        ):
            assert STUCK in bench.ask(f"call i2c {json.dumps(action)}")
            # The chip's own scan finds nothing on such a bus. The turn is over, the rest lives.
            bench.type("/lanes")
            bench.wait_for("running: nothing")
            bench.type("/heartbeat")
            bench.wait_for("no answer from room.temperature")
        bench.echo("everything else")
        bench.board.fault("sht31", None)
        bench.wait_for("room.temperature: answers again")
        assert bench.ask(ASK) == READS.format(21.5)
        # Said once, although it was looked at every second.
        told = [text for text in bench.told() if "cannot check" in text]
        assert len(told) == 1
        assert "Traceback" not in bench.log
