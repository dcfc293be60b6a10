# tenner tests: fields that a model wants back, in the turn, in the history, and after a boot.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio
import json
import unittest

import agent_fakes
from agent_fakes import make_agent
from strict_servers import SERVERS, Anthropic, DeepSeek, Gemini, Kimi, LongGemini, OpenRouter
from support import run, temp_folder
from tenner.llm.chain import Chain
from tenner.port.compat import ticks_ms
from tenner.store.files import make_dirs


class Http:
    """One connection to several strict servers, by their hosts; a server that is down is None."""

    def __init__(self, servers):
        self.servers = servers
        self.body_bytes = 0
        self.buffer = bytearray(16)
        self.end = 0
        self.heard_ms = ticks_ms()

    def fail(self, error):
        """No exchange here is silent."""

    async def exchange(
        self, method, url, headers, body, consume, timeout_s, repeats=False, phases=None
    ):
        counted = sum([len(piece) for piece in body()])
        data = b"".join(body())
        assert counted == len(data)
        self.body_bytes = len(data)
        await asyncio.sleep(0)
        server = self.servers[url.split("/")[2]]
        if server is None or len(server.bodies) == server.down_after:
            raise OSError(111, "refused")
        return await consume(server.answer(data))

    async def close(self):
        pass


class Settings(agent_fakes.Settings):
    def __init__(self, apis):
        super().__init__()
        rows = [
            {"name": name, "api": apis[name], "base_url": "http://%s/v1" % name, "model": "m"}
            for name in sorted(apis)
        ]
        for key in rows[0]:
            self.values["llm." + key] = rows[0][key]
        self.values.update(
            {
                "llm.api_key": "",
                "llm.timeout_s": 60,
                "llm.max_tokens": 256,
                "llm.fallbacks": rows[1:],
            }
        )
        self.values["session.max_kb"] = 64


class Board:
    """An agent on a board with models; `boot` starts it again from its flash."""

    def __init__(self, case, **servers):
        self.root = temp_folder(case)
        make_dirs(self.root + "/state")
        self.servers = servers
        self.apis = {name: servers[name].api for name in servers}
        self.boot()

    def boot(self):
        agent = self.agent = make_agent(self.root)
        agent.config = Settings(self.apis)
        path = self.root + "/state/models.json"

        async def sleep(seconds):
            pass

        chain = Chain(agent.config, lambda: Http(self.servers), path, lambda text: None, sleep)
        agent.app._parts["chain"] = agent.chain = chain

    def ask(self, text="go"):
        return run(agent_fakes.say(self.agent, text))


def three_turns(case, server):
    """Return the answers to three questions, with a boot after each."""
    board = Board(case, a=server)
    answers = []
    for number in range(3):
        answers.append(board.ask("question %d" % number))
        board.boot()
    return answers


class TestThreeTurns(unittest.TestCase):
    def three(self, server):
        self.assertEqual(three_turns(self, server), ["ok"] * 3, server.title)
        return server

    def test_every_server_works(self):
        for kind in SERVERS:
            server = self.three(kind())
            # A refusal teaches something, once for all turns and boots.
            self.assertEqual(len(server.refused), server.learning, (server.title, server.refused))
            self.assertEqual(len(server.bodies), 6 + server.learning, server.title)

    def test_replies_may_be_cut_anywhere(self):
        for kind in SERVERS:
            for size in (1, 3, 300):
                server = kind()
                server.split = size
                refused = self.three(server).refused
                self.assertEqual(len(refused), server.learning, (server.title, size))

    def test_a_long_signature_becomes_the_stand_in_in_the_history(self):
        server = self.three(LongGemini())
        found = [
            one["extra_content"]["google"]["thought_signature"]
            for message in server.bodies[-1]["messages"]
            for one in message.get("tool_calls", ())
            if "extra_content" in one
        ]
        self.assertEqual(found, [Gemini.STAND_IN, Gemini.STAND_IN, server.signature(4)])

    def test_a_short_signature_stays_in_the_history(self):
        server = self.three(Gemini())
        sent = json.dumps(server.bodies[-1])
        for number in (0, 2, 4):
            self.assertTrue(server.signature(number) in sent)

    def test_reasoning_of_older_turns_is_an_empty_text(self):
        server = self.three(Kimi())
        found = [
            message["reasoning_content"]
            for message in server.bodies[-1]["messages"]
            if message.get("tool_calls")
        ]
        self.assertEqual(found[:2], ["", ""])

    def test_another_model_does_not_get_them(self):
        # Each refuses the fields of the other, as a strict server does.
        for first, second in ((Kimi, Anthropic), (OpenRouter, Anthropic)):
            one, other = first(), second()
            board = Board(self, a=one, b=other)
            self.assertEqual(board.ask(), "ok")
            board.servers["a"] = None
            self.assertEqual(board.ask(), "ok", second.title)
            sent = json.dumps(other.bodies[-1])
            for word in ("I look, for the 0.", "c2ln", "EqQB"):
                self.assertFalse(word in json.dumps(other.bodies[0]), (word, second.title))
            self.assertTrue("reasoning_content" in sent or "signature" in sent)

    def test_each_pair_of_models_shares_a_chat(self):
        # The second has calls of the first in its history; a turn changes between them, too.
        for place, first in enumerate(SERVERS):
            for step in (1, 4, 6):
                self.pair(first(), SERVERS[(place + step) % len(SERVERS)]())

    def pair(self, one, other):
        board = Board(self, a=one, b=other)
        where = one.title, other.title
        self.assertEqual(board.ask(), "ok", where)
        board.servers["a"] = None
        self.assertEqual(board.ask(), "ok", where)
        board.boot()
        board.servers["a"] = one
        self.assertEqual(board.ask(), "ok", where)
        one.down_after = len(one.bodies) + 1
        self.assertEqual(board.ask(), "ok", where)
        for server in (one, other):
            self.assertTrue(
                len(server.refused) <= server.learning + server.foreign, server.refused
            )

    def test_no_file_is_left(self):
        for kind in (LongGemini, DeepSeek, OpenRouter, Anthropic):
            board = Board(self, a=kind())
            board.ask()
            with self.assertRaises(OSError):
                open(board.root + "/state/tails.part").close()


if __name__ == "__main__":
    unittest.main()
