# bench chip: a day of the heartbeat on a moved clock; says how often a model is asked, and with how much.
"""
    day.py CHIP ROOT HOUR

Everything is the firmware's own, from HEARTBEAT.md to the request's body, but the clock, the sensors and
the model. The room is warm from HOUR on. The model answers HEARTBEAT_OK, so a beat is one request.
"""

import sys

sys.path[:] = [sys.argv[1], sys.argv[2] + "/lib", ".frozen"]

import asyncio  # noqa: E402

from tenner import wiring  # noqa: E402
from tenner.app import App  # noqa: E402

MIDNIGHT = 1795219200  # 2026-11-21 00:00 UTC
DAY_S = 86400


class Clock:
    trusted = True
    passed_s = 0

    def now(self):
        return MIDNIGHT + self.passed_s

    def mono_s(self):
        return self.passed_s

    def mono_ms(self):
        return self.passed_s * 1000


class Sensors:
    def __init__(self, clock, warm_from_s):
        self.clock = clock
        self.warm_from_s = warm_from_s

    async def read(self, name):
        return {"temperature": 31.5 if self.clock.passed_s >= self.warm_from_s else 21.5}

    def unit(self, name):
        return "\u00b0C"


class Reply:
    text = "HEARTBEAT_OK"
    calls = ()
    stop = "stop"
    tokens_in = tokens_out = body_bytes = 0
    estimated = False


class Chain:
    """Builds the body of each request as the client does, and counts it."""

    calls = sent = 0

    def __init__(self, app):
        from tenner.llm.chain import Chain as Real

        self.candidate = Real(app.config, None, "").candidates()[0]

    async def complete(self, request, model=None, timeout_ms=None):
        from tenner.llm import chat_completions

        self.calls += 1
        self.sent += sum(len(piece) for piece in chat_completions.body(self.candidate, request))
        return Reply()

    async def close(self):
        pass


async def main():
    app = App(sys.argv[2])
    clock = app.clock = Clock()
    chain = Chain(app)
    sensors = Sensors(clock, int(sys.argv[3]) * 3600)
    wiring.chain = lambda app: chain
    wiring.sensors = lambda app: sensors
    heartbeat = app.part("heartbeat")
    while clock.passed_s < DAY_S:
        await heartbeat.step()
        wake_s = heartbeat.next_wake()
        clock.passed_s += max(wake_s if wake_s is not None else DAY_S, 1)
    print("day", chain.calls, chain.sent)


asyncio.run(main())
