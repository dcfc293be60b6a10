# bench chip: a day of the heartbeat on a moved clock; counts the model requests and their bytes.
"""
    day.py CHIP ROOT HOUR

All code from HEARTBEAT.md to the request's body is the firmware's; only the clock, the sensors and
the model are replaced. The room is warm from HOUR on. The model answers HEARTBEAT_OK: one request
a beat.
"""

import sys

sys.path[:] = [sys.argv[1], sys.argv[2] + "/lib", ".frozen"]

import asyncio  # noqa: E402

from tenner.app import App  # noqa: E402
from tenner.llm import chat_completions  # noqa: E402
from tenner.llm.chain import Chain  # noqa: E402
from tenner.sensors.reading import Sensors  # noqa: E402

MIDNIGHT = 1795219200  # 2026-11-21 00:00 UTC
DAY_S = 86400
WARM_FROM_S = int(sys.argv[3]) * 3600


class Clock:
    trusted = True
    passed_s = 0

    def now(self):
        return MIDNIGHT + self.passed_s

    def mono_s(self):
        return self.passed_s

    def mono_ms(self):
        return self.passed_s * 1000


class Reply:
    text = "HEARTBEAT_OK"
    calls = blocks = ()
    kept = 0
    stop = "stop"
    tokens_in = tokens_out = body_bytes = 0
    estimated = False


class Day:
    """The clock, and the count of model requests and of their bytes."""

    clock = Clock()
    calls = sent = 0


async def read(sensors, name):
    return {"temperature": 31.5 if Day.clock.passed_s >= WARM_FROM_S else 21.5}


async def complete(chain, request, model=None, timeout_ms=None):
    """Build the body of a request as the client does, and count it."""
    Day.calls += 1
    Day.sent += sum(len(piece) for piece in chat_completions.body(chain.candidates()[0], request))
    return Reply()


async def main():
    app = App(sys.argv[2])
    clock = app.clock = Day.clock
    # Every chain and every sensor reader has these methods.
    Chain.complete = complete
    Sensors.read = read
    Sensors.unit = lambda sensors, name: "\u00b0C"
    heartbeat = app.get("heartbeat")
    while clock.passed_s < DAY_S:
        await heartbeat.step()
        wake_s = heartbeat.next_wake()
        clock.passed_s += max(wake_s if wake_s is not None else DAY_S, 1)
    print("day", Day.calls, Day.sent)


asyncio.run(main())
