"""The bytes a beat sends, the flash erases of a turn, and a person's wait behind a heartbeat."""

from __future__ import annotations

import json
import time

from tenner_host import build
from tenner_sim.services import OWNER, Services, Step
from tenner_sim.vboard import BoardError, VirtualBoard
from tests.bench.rows import NotMeasured

_HEARTBEAT = (
    b"# Heartbeat\n"
    b"- (every 2s; when room.temperature > 30 reset 28) Too warm: read the TMP102 at 0x48 on "
    b"i2c0 and "
    b"tell me the temperature.\n"
)


def _tree(services: Services) -> dict[str, bytes]:
    tree = build.firmware_tree("VIRTUAL")
    wifi = {"ssid": "virtual", "password": "tenner-virtual"}
    tree["/config.json"] = json.dumps({"wifi": wifi, **services.settings()}).encode()
    tree["/workspace/HEARTBEAT.md"] = _HEARTBEAT
    tree["/workspace/SENSORS.json"] = b'{"room":{"driver":"tmp102","bus":"i2c0","address":"0x48"}}'
    return tree


def _board(services: Services) -> VirtualBoard:
    try:
        return VirtualBoard(_tree(services), heap="512K")
    except BoardError as exc:
        raise NotMeasured(str(exc)) from exc


def heartbeat_bytes() -> float:
    """Bytes of the body of the first model request of a beat that one sensor's condition has
    started."""
    with Services(tls=False) as services, _board(services) as board:
        board.wait_for("no condition met", 30)
        board.set("room.temperature", 31.5)
        services.telegram.wait_sent(1, 30)
        return len(services.model.requests[0].body)


def erases_per_turn() -> float:
    """Blocks erased on flash by a person's turn with one tool call, averaged over ten."""
    question = 'call i2c {"action":"read","bus":"i2c0","address":"0x48","register":0,"length":2}'
    with Services(tls=False) as services, _board(services) as board:
        board.wait_for("no condition met", 30)
        services.telegram.say(OWNER, question)
        services.telegram.wait_sent(1, 30)
        before = board.flash_counters().erases
        for number in range(10):
            services.telegram.say(OWNER, question)
            services.telegram.wait_sent(number + 2, 30)
        return (board.flash_counters().erases - before) / 10


#: Keeps a day of readings of three values, as runtime/sampler.py does, when somebody presses
#: return.
_A_DAY_OF_READINGS = b"""
import os, sys
from tenner.sensors.ring import Ring
os.mkdir("/state")
ring = Ring("/state/readings", 32768)
for number in range(289):
    values = [("room.temperature", 20 + number / 100), ("room.humidity", 50), ("tank.level", number)]
    ring.keep(1795000000 + 300 * number, values)
    if not number:
        print("the first is kept")
        sys.stdin.readline()
print("a day is kept")
"""  # noqa: E501


def erases_of_readings() -> float:
    """Blocks erased on flash by a day of readings of three values, one every five minutes."""
    # Module by module, since main.py imports one of them alone.
    tree = {f"/lib/{name}": data for name, data in build.linux_tree(mpy=True).items()}
    try:
        board = VirtualBoard({**tree, "/main.py": _A_DAY_OF_READINGS}, heap="512K")
    except BoardError as exc:
        raise NotMeasured(str(exc)) from exc
    with board:
        board.wait_for("the first is kept", 30)
        before = board.flash_counters().erases
        board.type("\n")
        board.wait_for("a day is kept", 60)
        return board.flash_counters().erases - before


def person_wait_ms() -> float:
    """From a person's message to its model request, while a heartbeat's reply is being
    streamed."""
    with Services(tls=False) as services, _board(services) as board:
        board.wait_for("no condition met", 30)
        # The heartbeat's reply drips for minutes: only cancellation ends it.
        services.model.plan([Step(path="/chat/completions", write_bytes=1, piece_delay_ms=500)])
        board.set("room.temperature", 31.5)
        services.model.wait_requests(1, 30)
        start = time.monotonic()
        services.telegram.say(OWNER, "say hello")
        services.model.wait_requests(2, 60)
        return (time.monotonic() - start) * 1000
