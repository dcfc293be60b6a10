import asyncio
import json
import unittest

from agent_fakes import Call, Reply, make_agent
from support import run, temp_folder
from tenner.agent.agent import Agent
from tenner.agent.bus import Message
from tenner.agent.lane import LaneBusy, PutBack
from tenner.agent.turn import Turn
from tenner.llm.errors import LlmError


def say(agent, text):
    async def go():
        answer = await agent.answer(Message("console", "me", text, "me"))
        await asyncio.sleep(0)
        return answer

    return run(go())


def rows(data):
    return [json.loads(line) for line in data.split(b"\n")[:-1]]


class TestTurn(unittest.TestCase):
    def setUp(self):
        self.root = temp_folder(self)

    def agent(self, *replies, **settings):
        return make_agent(self.root, *replies, **settings)

    def test_a_plain_answer(self):
        agent = self.agent(Reply("hello"))
        self.assertEqual(say(agent, "hi"), "hello")
        self.assertEqual(agent.budget.spent, [(15, "person")])

    def test_the_next_turn_remembers(self):
        agent = self.agent(Reply("hello"), Reply("again"))
        say(agent, "hi")
        say(agent, "and now?")
        kinds = [row[0] for row in rows(agent.chain.records[1])]
        self.assertEqual(kinds, ["u", "a", "u"])

    def test_every_call_gets_exactly_one_result(self):
        calls = [
            Call("a", "echo", '{"x": 1}'),
            Call("b", "bad", "{}"),
            Call("c", "echo", "nonsense"),
        ]
        agent = self.agent(Reply("", calls), Reply("done"))
        self.assertEqual(say(agent, "go"), "done")
        sent = rows(agent.chain.records[1])
        self.assertEqual([row[0] for row in sent], ["u", "a", "c", "c", "c", "t", "t", "t"])
        self.assertEqual([row[1] for row in sent[5:]], ["a", "b", "c"])
        self.assertEqual(sent[2][3], {"x": 1})
        self.assertEqual(sent[4][3], {}, "what is no object is kept as an empty one")
        self.assertEqual(len(agent.registry.calls), 3)

    def test_rounds_are_bounded_and_said(self):
        forever = [Reply("", [Call("i%d" % i, "echo", '{"i":%d}' % i)]) for i in range(9)]
        answer = say(self.agent(*forever), "loop")
        self.assertTrue("4 rounds" in answer, answer)

    def test_the_same_failure_three_times_ends_the_turn(self):
        again = [Reply("", [Call("i%d" % i, "bad", "{}")]) for i in range(4)]
        agent = self.agent(*again)
        answer = say(agent, "loop")
        self.assertTrue("three times" in answer and "bad does not work" in answer, answer)
        self.assertEqual(len(agent.registry.calls), 3)
        say(agent, "next")
        kept = rows(agent.chain.records[-1])
        calls = [row[1] for row in kept if row[0] == "c"]
        self.assertEqual(calls, [row[1] for row in kept if row[0] == "t"])

    def test_a_cut_off_answer_is_told_to_the_model_once_then_to_the_person(self):
        agent = self.agent(Reply("part one", stop="length"), Reply("part two", stop="length"))
        answer = say(agent, "long")
        self.assertTrue(answer.startswith("part two") and "cut off" in answer)
        self.assertEqual([row[0] for row in rows(agent.chain.records[1])], ["u", "a", "n"])

    def test_a_failed_model_is_one_sentence_and_the_next_turn_works(self):
        agent = self.agent(LlmError("auth", "The key was refused."), Reply("fine"))
        self.assertEqual(say(agent, "hi"), "The key was refused.")
        self.assertEqual(say(agent, "now?"), "fine")
        self.assertEqual([row[0] for row in rows(agent.chain.records[1])], ["u", "a", "u"])

    def test_too_long_a_request_sends_less_history(self):
        agent = self.agent(Reply("x" * 3000), Reply("y" * 3000))
        say(agent, "one")
        say(agent, "two")
        agent.chain.replies = [LlmError("context_overflow", "too long"), Reply("short")]
        self.assertEqual(say(agent, "three"), "short")
        self.assertTrue(len(agent.chain.records[3]) < len(agent.chain.records[2]))

    def test_prompt_files_come_in_order_and_capped(self):
        agent = self.agent(Reply("ok"))
        from tenner.store.files import make_dirs, write_atomic

        make_dirs(self.root + "/workspace/memory")
        for name in ("TOOLS", "AGENTS", "memory/MEMORY", "SOUL"):
            write_atomic(self.root + "/workspace/%s.md" % name, name + " text " + "z" * 9000)
        say(agent, "hi")
        system = agent.chain.systems[0]
        places = [
            system.find(b"\n# " + n + b".md\n")
            for n in (b"AGENTS", b"SOUL", b"TOOLS", b"memory/MEMORY")
        ]
        self.assertEqual(places, sorted(places))
        self.assertTrue(places[0] > 0 and b"USER" not in system)
        self.assertTrue(len(system) < 4 * 4300 + 1500)


class TestLane(unittest.TestCase):
    def setUp(self):
        self.root = temp_folder(self)

    def test_a_person_cancels_a_heartbeats_request(self):
        agent = make_agent(self.root, "hang", Reply("for you"))

        async def go():
            beat = asyncio.create_task(
                agent.lane.background("heartbeat", Turn(agent, "heartbeat", "check"))
            )
            await agent.chain.started.wait()
            self.assertEqual(agent.lane.busy(), "heartbeat")
            answer = await agent.answer(Message("console", "me", "hi", "me"))
            try:
                await beat
            except PutBack as back:
                return answer, back.args[0]

        answer, result = run(go())
        self.assertEqual(answer, "for you")
        self.assertEqual(result.interrupted, "person")
        self.assertEqual(agent.lane.put_backs, 1)

    def test_a_tool_call_is_allowed_to_end(self):
        agent = make_agent(self.root, Reply("", [Call("c", "echo", "{}")]), Reply("for you"))

        async def go():
            agent.registry.gate = asyncio.Event()
            beat = asyncio.create_task(
                agent.lane.background("heartbeat", Turn(agent, "heartbeat", "check"))
            )
            while not agent.registry.calls:
                await asyncio.sleep(0)
            person = asyncio.create_task(agent.answer(Message("console", "me", "hi", "me")))
            await asyncio.sleep(0)
            self.assertEqual(agent.lane.busy(), "heartbeat")
            agent.registry.gate.set()
            answer = await person
            try:
                await beat
            except PutBack:
                return answer

        self.assertEqual(run(go()), "for you")

    def test_the_background_never_waits_in_front_of_a_person(self):
        agent = make_agent(self.root, "hang")

        async def go():
            person = asyncio.create_task(agent.answer(Message("console", "me", "hi", "me")))
            await agent.chain.started.wait()
            try:
                await agent.lane.background("heartbeat", Turn(agent, "heartbeat", "check"))
            except LaneBusy as busy:
                reason = busy.args[0]
            self.assertTrue(agent.lane.stop())
            return reason, await person

        reason, answer = run(go())
        self.assertEqual(reason, "console:me")
        self.assertEqual(answer, "Stopped, as you asked.")

    def test_nothing_to_stop(self):
        self.assertFalse(make_agent(self.root).lane.stop())

    def test_people_are_served_in_order(self):
        agent = make_agent(self.root, Reply("1"), Reply("2"), Reply("3"))

        async def go():
            tasks = [
                asyncio.create_task(agent.answer(Message("console", "me", "q%d" % i, "me")))
                for i in range(3)
            ]
            answers = []
            for task in tasks:
                answers.append(await task)
            return answers

        self.assertEqual(run(go()), ["1", "2", "3"])


class TestAgent(unittest.TestCase):
    def test_a_report_can_be_answered(self):
        agent = make_agent(temp_folder(self))
        run(agent.report("telegram", 7, "The freezer is warm."))
        self.assertEqual(agent.delivered, [(7, "The freezer is warm.")])
        session = agent.session("telegram", 7)
        session.open()
        self.assertTrue(b"The freezer is warm." in b"".join(session.pieces()))

    def test_a_chat_name_never_leaves_the_folder(self):
        agent = make_agent(temp_folder(self))
        self.assertFalse("/.." in agent.session("console", "../../etc").path.split("sessions")[1])
        self.assertTrue(isinstance(agent, Agent))

    def test_spawn_reports_once_and_cannot_nest(self):
        agent = make_agent(temp_folder(self), Reply("the long answer"))

        async def go():
            parent = Turn(agent, "person", "x", "telegram", 9)
            first = agent.part("spawner").start("count", parent)
            second = agent.part("spawner").start("count more", parent)
            nested = agent.part("spawner").start("again", Turn(agent, "spawn", "x"))
            for _ in range(20):
                await asyncio.sleep(0)
            return first, second, nested

        first, second, nested = run(go())
        self.assertTrue(first.startswith("started"))
        self.assertTrue(second.startswith("error") and nested.startswith("error"))
        self.assertEqual(agent.delivered, [(9, "Background task (count): the long answer")])


if __name__ == "__main__":
    unittest.main()
