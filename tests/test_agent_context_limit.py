# tenner tests: a model whose context is small gets requests that fit, also after a restart.
# MIT license; Copyright (c) 2026 the tenner authors

import unittest

import agent_fakes
from agent_fakes import Call, Reply, make_agent
from support import run, temp_folder
from tenner.llm.errors import LlmError
from tenner.store.files import make_dirs, write_atomic

MODEL = "m at http://llm.example/v1"


class SmallModel:
    """Refuses requests over `limit` bytes, in words that name `tokens` or none."""

    def __init__(self, limit, tokens=0, *replies):
        self.limit = limit
        self.tokens = tokens
        self.replies = list(replies)
        self.sizes = []
        self.max_tokens = []
        self.refused = 0
        self.records = b""

    async def complete(self, request, model=None, timeout_ms=None):
        self.records = b"".join(request.records())
        size = len(self.records) + len(b"".join(request.system()))
        self.sizes.append(size)
        self.max_tokens.append(request.max_tokens)
        if size > self.limit:
            self.refused += 1
            error = LlmError("context_overflow", "the model m is too small")
            error.sent = MODEL, size + 100, self.tokens
            raise error
        return self.replies.pop(0) if self.replies else Reply("done")

    async def close(self):
        """The turn is over."""


class TestSmallContext(unittest.TestCase):
    def setUp(self):
        self.root = temp_folder(self)

    def agent(self, model, **settings):
        agent = make_agent(self.root, llm__context_tokens=16000, **settings)
        agent.app._parts["chain"] = model
        return agent

    def say(self, agent, text):
        return run(agent_fakes.say(agent, text))

    def filled(self, limit, tokens=0, turns=12):
        """Return an agent with a long history, whose model then refuses requests over `limit`
        bytes."""
        model = SmallModel(1000000)
        agent = self.agent(model)
        for number in range(turns):
            model.replies = [Reply("%d %s" % (number, "x" * 500))]
            self.say(agent, "and %d?" % number)
        model.limit, model.tokens = limit, tokens
        model.sizes = []
        model.max_tokens = []
        return agent, model

    def test_what_is_sent_shrinks_until_it_fits(self):
        agent, model = self.filled(2500)
        self.assertEqual(self.say(agent, "three"), "done")
        self.assertTrue(len(model.sizes) > 2, model.sizes)
        for before, after in zip(model.sizes, model.sizes[1:]):
            self.assertTrue(after < before, model.sizes)
        self.assertTrue(b"three" in model.records)

    def test_what_fits_is_remembered_for_the_next_message_and_over_a_restart(self):
        agent, model = self.filled(2500)
        self.say(agent, "three")
        for again in (agent, self.agent(model)):
            model.refused = 0
            self.assertEqual(self.say(again, "four"), "done")
            self.assertEqual(model.refused, 0, model.sizes)
            self.assertTrue(b"done" in model.records, "some history is sent all the same")

    def test_another_model_is_not_held_to_it(self):
        agent, model = self.filled(2500)
        self.say(agent, "three")
        model.limit = 1000000
        model.sizes = []
        self.say(self.agent(model, llm__model="large"), "four")
        self.assertTrue(model.sizes[0] > 5000, model.sizes)

    def test_tokens_that_the_server_names_count_and_leave_room_for_the_reply(self):
        agent, model = self.filled(2500, 700)
        self.say(agent, "three")
        self.assertEqual(model.max_tokens, [256, 175])
        self.assertTrue(model.sizes[1] <= (700 - 175) * 4, model.sizes)
        self.say(agent, "four")
        self.assertEqual(model.max_tokens[2], 175)

    def test_files_of_the_prompt_are_cut_when_there_is_no_history_left(self):
        make_dirs(self.root + "/workspace")
        write_atomic(self.root + "/workspace/AGENTS.md", "a" * 4000)
        write_atomic(self.root + "/workspace/USER.md", "u" * 4000)
        model = SmallModel(4500)
        self.assertEqual(self.say(self.agent(model), "hi"), "done")
        self.assertTrue(model.sizes[0] > 8000 and model.sizes[-1] < 4500, model.sizes)

    def test_results_of_the_turns_own_tools_are_cut(self):
        call = Reply("", [Call("a", "echo", '{"x":"%s"}' % ("y" * 3000))])
        model = SmallModel(100000, 0, call)
        agent = self.agent(model)

        real = agent.registry.call

        async def call_it(*args):
            model.limit = 5500
            return await real(*args)

        agent.registry.call = call_it
        self.assertEqual(self.say(agent, "go"), "done")
        self.assertTrue(b"[cut]" in model.records)

    def test_new_is_said_when_nothing_is_left(self):
        agent, model = self.filled(10)
        answer = self.say(agent, "three")
        self.assertTrue("/new" in answer and "too small" in answer, answer)
        self.assertTrue(len(model.sizes) < 10, model.sizes)

    def test_a_small_context_of_the_settings_counts_prompt_and_tools(self):
        make_dirs(self.root + "/workspace")
        write_atomic(self.root + "/workspace/AGENTS.md", "a" * 3000)
        model = SmallModel((4096 - 1024) * 4)
        settings = {"llm__max_tokens": 1024, "session__max_kb": 64}
        agent = make_agent(self.root, llm__context_tokens=4096, **settings)
        agent.app._parts["chain"] = model
        for number in range(8):
            model.replies = [Reply("%d %s" % (number, "x" * 2000)) for _ in range(2)]
            self.assertTrue("xxx" in self.say(agent, "and?"))
        self.assertEqual(model.refused, 0, model.sizes)

    def test_a_damaged_file_is_quarantined(self):
        make_dirs(self.root + "/state")
        for text in ("{", '{"%s": 5}' % MODEL, "[1]"):
            with open(self.root + "/state/context.json", "w") as file:
                file.write(text)
            self.assertEqual(self.say(self.agent(SmallModel(1000000)), "hi"), "done")

    def test_a_beat_shrinks_too(self):
        make_dirs(self.root + "/workspace")
        write_atomic(self.root + "/workspace/TOOLS.md", "t" * 1000)
        model = SmallModel(1500)
        result = run(agent_fakes.answer.Turn(self.agent(model), "heartbeat", "look").run())
        self.assertEqual((result.text, result.error), ("done", None))


if __name__ == "__main__":
    unittest.main()
