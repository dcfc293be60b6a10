import asyncio
import unittest

import agent_fakes
from agent_fakes import Call, Reply, make_agent
from support import run, temp_folder
from tenner.agent.background import run_turn
from tenner.agent.errors import LaneBusy, Preempted
from tenner.agent.turn import Turn
from tenner.app import App


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
            answer = await agent_fakes.say(agent, "hi")
            try:
                await beat
            except Preempted as back:
                return answer, back.args[0]

        answer, result = run(go())
        self.assertEqual(answer, "for you")
        self.assertEqual(result.interrupted, "person")
        self.assertEqual(agent.lane.preemptions, 1)

    def test_a_tool_call_is_allowed_to_end(self):
        agent = make_agent(self.root, Reply("", [Call("c", "echo", "{}")]), Reply("for you"))

        async def go():
            agent.registry.blocked = asyncio.Event()
            beat = asyncio.create_task(
                agent.lane.background("heartbeat", Turn(agent, "heartbeat", "check"))
            )
            while not agent.registry.calls:
                await asyncio.sleep(0)
            person = asyncio.create_task(agent_fakes.say(agent, "hi"))
            await asyncio.sleep(0)
            self.assertEqual(agent.lane.busy(), "heartbeat")
            agent.registry.blocked.set()
            answer = await person
            try:
                await beat
            except Preempted:
                return answer

        self.assertEqual(run(go()), "for you")

    def test_the_background_never_waits_in_front_of_a_person(self):
        agent = make_agent(self.root, "hang")

        async def go():
            person = asyncio.create_task(agent_fakes.say(agent, "hi"))
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
            tasks = [asyncio.create_task(agent_fakes.say(agent, "q%d" % i)) for i in range(3)]
            answers = []
            for task in tasks:
                answers.append(await task)
            return answers

        self.assertEqual(run(go()), ["1", "2", "3"])

    def test_what_waits_for_a_free_lane_does_not_spin_while_a_person_waits(self):
        agent = make_agent(self.root, "hang", Reply("for you"), Reply("for the task"))

        async def go():
            beat = asyncio.create_task(
                agent.lane.background("heartbeat", Turn(agent, "heartbeat", "check"))
            )
            await agent.chain.started.wait()
            parent = Turn(agent, "person", "x", "telegram", 9)
            agent.app.spawn("count", parent)
            await asyncio.sleep(0)
            answer = await agent_fakes.say(agent, "hi")
            try:
                await beat
            except Preempted:
                pass
            while not agent.delivered:
                await asyncio.sleep(0)
            return answer

        self.assertEqual(run(asyncio_limit(go())), "for you")
        self.assertEqual(agent.delivered, [(9, "Background task (count): for the task")])

    def test_a_week_without_a_word_is_a_week(self):
        agent = make_agent(self.root)
        agent.app.clock.seconds = 8 * 86400
        self.assertEqual(agent.lane.idle_s(), 8 * 86400)


async def asyncio_limit(coroutine):
    return await asyncio.wait_for(coroutine, 10)


class Telegram:
    """Its next poll brings a message of a person."""

    def __init__(self, lane, starved):
        self.lane = lane
        self.starved = starved
        self.polls = 0

    def is_starved(self):
        return self.starved

    async def poll_once(self):
        self.polls += 1
        self.lane.request("telegram:1000")


class TestBreath(unittest.TestCase):
    def background(self, starved):
        agent = make_agent(temp_folder(self), Reply("all is well"))
        app = agent.app
        app.agent = agent
        app.telegram = Telegram(agent.lane, starved)
        app.breathe = lambda turn=None: App.breathe(app, turn)
        try:
            return run(run_turn(app, "check", "heartbeat")).text, app.telegram.polls
        except LaneBusy as busy:
            return busy.args[0], app.telegram.polls

    def test_a_poll_that_has_waited_long_goes_before_a_background_turn(self):
        self.assertEqual(self.background(True), ("a person", 1))

    def test_another_lets_it_start_at_once(self):
        self.assertEqual(self.background(False), ("all is well", 0))


if __name__ == "__main__":
    unittest.main()
