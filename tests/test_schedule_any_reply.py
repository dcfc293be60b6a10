# tenner tests: any stream of a model against an alarm: the owner gets one text in time.
# MIT license; Copyright (c) 2026 the tenner authors
"""
Real turns with the real reader of streams; the clock is virtual. TENNER_STREAMS is the number of
streams, TENNER_SEED the first seed: a failure prints the seed of its stream.
"""

import asyncio
import json
import os
import random
import unittest

import schedule_sim as sim
from agent_fakes import make_agent
from llm_fakes import Response
from support import run, temp_folder
from tenner.agent import accounting, background, tool_calls
from tenner.llm import chain as llm_chain
from tenner.port.compat import ticks_ms
from tenner.schedule.strip_ack import unusable

sim.quiet()
for module in (accounting, tool_calls, llm_chain):
    module.log = lambda area, text: None

STREAMS = int(os.getenv("TENNER_STREAMS") or "500")
SEED = int(os.getenv("TENNER_SEED") or "35")
PATIENCE_S, SLACK_S = 120, 60
GOOD = ("The pump room is wet.", "31.5 °C in the room. Open a window.")
TEXTS = (
    "",
    " ",
    "\u200b",
    "HEARTBEAT_OK",
    "heartbeat_ok",
    "**HEARTBEAT_OK**",
    "HEARTBEAT_OK\nAll is quiet.",
    "<think>hmm</think>",
    "<think>hmm",
    "<think>hmm</think>Hot.",
    '<tool_call>\n{"name":"sensor","arguments":{"action":"read"}}\n</tool_call>',
    "<function=list_dir>\n<parameter=path>\n.\n</parameter>\n</function>",
    '[TOOL_CALLS][{"name":"list_dir","arguments":{"path":"."}}]',
    '{"name": "list_dir", "parameters": {"path": "."}}',
    "<|channel|>analysis",
    "...",
    "😀",
)
BODIES = (
    '{"error":{"message":"Unsupported parameter"}}',
    '{"error":{"message":"Rate limit reached. Please try again in 2.5s."}}',
    "<html>Bad gateway</html>",
    "",
)
ENDS = (
    "stop",
    "stop",
    "stop",
    "stop",
    "stop",
    "stop",
    "length",
    "error",
    "content_filter",
    "tool_calls",
    "",
    None,
)


def stream(rng):
    """Return the bytes of a reply: words, reasoning and calls in events, maybe cut or damaged."""
    events = []
    text = rng.choice(TEXTS if rng.random() < 0.5 else GOOD)
    for _ in range(rng.randrange(3)):
        events.append({"reasoning_content": "It is hot. "})
    while text:
        size = rng.randrange(1, 12)
        events.append({"content": text[:size]})
        text = text[size:]
    if rng.random() < 0.15:
        call = {"name": rng.choice(("echo", "nothing")), "arguments": rng.choice(("{}", '{"a"'))}
        events.append({"tool_calls": [{"index": 0, "id": "c1", "function": call}]})
    if rng.random() < 0.1:
        events.append({"content": None})
    lines = [
        json.dumps({"choices": [{"index": 0, "delta": event, "finish_reason": None}]})
        for event in events
    ]
    if rng.random() < 0.9:
        end = {"index": 0, "delta": {}, "finish_reason": rng.choice(ENDS)}
        lines.append(json.dumps({"choices": [end]}))
    if rng.random() < 0.1:
        error = {"error": {"message": "CUDA out of memory", "code": 500}}
        lines.insert(rng.randrange(len(lines) + 1), json.dumps(error))
    if rng.random() < 0.9:
        lines.append("[DONE]")
    data = "".join(["data: %s\n\n" % line for line in lines]).encode()
    if rng.random() < 0.15:
        data = data[: rng.randrange(len(data) + 1)]
    if data and rng.random() < 0.1:
        at = rng.randrange(len(data))
        data = data[:at] + bytes([rng.randrange(256)]) + data[at + 1 :]
    return data


class Model:
    """The Http of a chain: refuses, breaks off, stays silent, or answers with a stream."""

    def __init__(self, world):
        self.world = world
        self.body_bytes = 0
        self.buffer = bytearray(16)
        self.end = 0
        self.heard_ms = ticks_ms()

    def fail(self, error):
        """Its time is that of the world, so it ends a silence itself."""

    async def exchange(
        self, method, url, headers, body, consume, timeout_s, repeats=False, phases=None
    ):
        await asyncio.sleep(0)
        rng = self.world.rng
        self.body_bytes = sum([len(piece) for piece in body()])
        delay_s = rng.choice((0, 0, 0, 1, 1, 10, 50, 118, 125, 150, 400))
        await self.world.wait(min(delay_s, int(timeout_s)))
        if delay_s >= timeout_s:
            raise asyncio.TimeoutError
        kind = rng.random()
        if kind < 0.1:
            raise OSError(104)
        if kind < 0.3:
            status = rng.choice((400, 401, 404, 429, 500, 503))
            return await consume(Response([rng.choice(BODIES).encode()], status))
        data = stream(rng)
        pieces = []
        while data:
            size = rng.randrange(1, 200)
            pieces.append(data[:size])
            data = data[size:]
        if pieces and rng.random() < 0.1:
            pieces.append(OSError(104))
        return await consume(Response(pieces))

    async def close(self):
        pass


class World:
    """A board with a hot room, whose turns are real ones."""

    def __init__(self, seed, folder):
        self.rng = random
        random.seed(seed)
        self.waiting = 0
        urgent = random.random() < 0.2
        self.patience_s = 20 if urgent else PATIENCE_S
        self.board = board = sim.Board(
            "- (every %s; when room.temperature > 30 reset 20%s) The pump room is wet: tell me.\n"
            % (random.choice(("10s", "1m", "1h")), "; urgent" if urgent else "")
        )
        self.agent = make_agent(folder)
        self.agent.app.agent = self.agent
        self.agent.app.telegram = None
        self.agent.app.breathe = self._breathe
        board.service.run_turn = self._run_turn
        self.running = False
        values = {
            "llm.api": "chat",
            "llm.base_url": "https://first.example/v1",
            "llm.api_key": "first-key-123",
            "llm.model": "m1",
            "llm.max_tokens": 100,
            "llm.timeout_s": random.choice((60, 120, 200)),
            "llm.fallbacks": [{"model": "m2"}] * random.randrange(2),
        }
        self.agent.config.values.update(values)
        self.agent._chain = llm_chain.Chain(
            self.agent.config,
            lambda: Model(self),
            folder + "/cooldown.json",
            board.notices.append,
            self.wait,
            lambda: board.clock.utc,
        )
        self.agent.app._parts["chain"] = self.agent._chain

    async def _breathe(self, turn=None):
        return False

    async def wait(self, seconds):
        """Wait by the clock of the board."""
        end = self.board.clock.mono + seconds
        self.waiting += 1
        while self.board.clock.mono < end:
            await asyncio.sleep(0)
        self.waiting -= 1

    async def _run_turn(self, request):
        self.running = True
        try:
            return await background.run_turn(
                self.agent.app, request.text, "heartbeat", None, False, True
            )
        finally:
            self.running = False

    async def pass_s(self, seconds):
        """Let time pass, and every turn go on that does not wait for it."""
        end = self.board.clock.mono + seconds
        while self.board.clock.mono < end:
            self.board.clock.pass_s(1 if self.running else 5)
            wake_s = self.board.service.next_wake()
            if not wake_s:
                await self.board.service.step(False, True)
            for _ in range(2):
                await asyncio.sleep(0)
            while self.running and not self.waiting:
                await asyncio.sleep(0)

    async def live(self):
        """Return the texts of the limit, and those of an hour."""
        board = self.board
        await board.service.step(False, True)
        board.readings["room"]["temperature"] = 31.5
        while not any(task.condition.alarm for task in board.service.tasks):
            await self.pass_s(1)
        await self.pass_s(self.patience_s + SLACK_S)
        in_time = [text for _, text in board.sent]
        await self.pass_s(1200)
        return in_time, [text for _, text in board.sent]


class AnyReply(unittest.TestCase):
    def test_the_owner_gets_one_text_about_the_alarm_in_time(self):
        own = added = 0
        folder = temp_folder(self)
        for seed in range(SEED, SEED + STREAMS):
            where = "seed %d" % seed
            try:
                in_time, later = run(World(seed, folder).live())
            except Exception:
                print(where)
                raise
            about = [text for text in in_time if not text.startswith("(later, about ")]
            self.assertEqual(len(about), 1, (where, in_time))
            self.assertEqual(later[: len(in_time)], in_time, where)
            # An addition may follow.
            more = later[1:]
            self.assertTrue(len(more) <= 1, (where, later))
            self.assertTrue(all(text.startswith("(later, ") for text in more), (where, later))
            if about[0].startswith("room.temperature 31.5 °C (limit 30): The pump room is wet"):
                own += 1
            else:
                self.assertEqual(unusable(about[0]), None, (where, about))
            added += len(more)
        # Each happens.
        if STREAMS >= 500:
            self.assertTrue(STREAMS // 2 < own < STREAMS * 9 // 10 and added, (own, added))


if __name__ == "__main__":
    unittest.main()
