# tenner tests: the memory of a chat: long histories, summaries, a full flash, budgets, background
# tasks. MIT license; Copyright (c) 2026 the tenner authors

import asyncio
import json
import os
import unittest

import agent_fakes
from agent_fakes import Call, Reply, make_agent
from support import run, temp_folder
from tenner.agent import accounting, history, history_repair
from tenner.agent.agent import Session
from tenner.agent.history_lines import record
from tenner.agent.summary import tidy
from tenner.agent.turn import Turn
from tenner.llm.errors import LlmError
from tenner.store import files

FULL = OSError(28, "no space left")


async def say(agent, text, chat="me"):
    answer = await agent_fakes.say(agent, text, chat)
    # The agent tidies before the next message.
    await asyncio.sleep(0)
    while agent.lane.busy():
        await asyncio.sleep(0)
    return answer


def rows(data):
    return [json.loads(line) for line in data.split(b"\n")[:-1]]


def sent(session):
    history.check(session)
    return b"".join(history.pieces(session))


class CountedFile:
    """A file that counts the bytes read from it."""

    total = 0

    def __init__(self, path, mode):
        self._file = open(path, mode)
        self.seek = self._file.seek
        self.tell = self._file.tell

    def __enter__(self):
        return self

    def __exit__(self, kind, value, tb):
        self._file.close()

    def read(self, size):
        return self._counted(self._file.read(size))

    def readline(self, size):
        return self._counted(self._file.readline(size))

    def _counted(self, data):
        CountedFile.total += len(data)
        return data


class TestLongHistory(unittest.TestCase):
    def test_ten_thousand_lines_open_by_their_end_and_send_a_bounded_window(self):
        path = temp_folder(self) + "/chat.jsonl"
        with open(path, "wb") as file:
            for i in range(5000):
                file.write(record("u", "question %d: how warm is it?" % i))
                file.write(record("a", "%d degrees, as before." % i))
        self.assertTrue(files.size(path) > 300000)

        session = Session(path, 8192)
        CountedFile.total = 0
        history.open = history_repair.open = CountedFile
        try:
            history.check(session)
            opened = CountedFile.total
            history.check(session)
            again = CountedFile.total - opened
            data = b"".join(history.pieces(session))
        finally:
            del history.open
        # Once through the window, and the lines where it is looked for.
        self.assertTrue(8000 < opened < 8192 + 2048, opened)
        self.assertTrue(again < 2048, again)
        self.assertTrue(7000 < len(data) <= 8192, len(data))
        self.assertEqual(rows(data)[0][0], "u")
        self.assertEqual(rows(data)[-1], ["a", "4999 degrees, as before."])

    def test_a_file_that_was_checked_is_not_checked_again(self):
        agent = make_agent(temp_folder(self))
        asked = []
        self.addCleanup(setattr, history_repair, "repair", history_repair.repair)
        history_repair.repair = lambda path, end, start, size: asked.append(size)
        run(say(agent, "hi"))
        run(say(agent, "hi again"))
        session = agent.session("console", "me")
        history.check(session)
        self.assertEqual(asked, [])
        with open(session.path, "ab") as file:
            file.write(b"x")
        history.check(agent.session("console", "me"))
        self.assertEqual(len(asked), 1)


ROOMY = {"session__max_kb": 64, "llm__context_tokens": 16000}


class TestWindow(unittest.TestCase):
    """The part of a history in a request of a board without PSRAM does not grow with it."""

    def talk(self, agent, count, calls=False):
        """Make `count` turns of 230 bytes or more; return the bytes of the history in each."""
        sizes = []
        for number in range(count):
            replies = [Reply("%d degrees" % number + "." * 120)]
            if calls:
                replies.insert(
                    0, Reply("", [Call("c%d" % number, "echo", '{"x":"%s"}' % "y" * 9)])
                )
            agent.chain.replies[:] = replies
            run(say(agent, "how warm is it, %d?" % number + " " * 40))
            data = agent.chain.records[-1]
            if data.endswith(record("u", "Write the summary now.")):
                data = agent.chain.records[-2]
            lines = rows(data)
            self.assertIn(lines[0][0], ("u", "s"))
            # No call without its result, and none the other way round.
            self.assertEqual(
                [line[1] for line in lines if line[0] == "c"],
                [line[1] for line in lines if line[0] == "t"],
            )
            sizes.append(len(data))
        return sizes

    def test_it_does_not_grow_without_psram(self):
        for calls in (False, True):
            agent = make_agent(temp_folder(self), **ROOMY)
            sizes = self.talk(agent, 80, calls)
            self.assertTrue(7000 < max(sizes) < 9500, sizes)
            # Turns leave one by one, or the older half at once for a summary.
            self.assertTrue(max(sizes[40:]) < 9500, sizes)

    def test_elsewhere_the_models_context_counts_and_a_setting_counts_first(self):
        agent = make_agent(temp_folder(self), **ROOMY)
        self.assertEqual(agent.window(), (8192, 48000))
        agent.port.small = False
        self.assertEqual(agent.window(), (48000, 48000))
        agent.config.values["session.window_kb"] = 12
        self.assertEqual(agent.window(), (12288, 48000))
        agent.config.values["session.window_kb"] = 4096
        self.assertEqual(agent.window(), (48000, 48000))

    def test_a_last_turn_that_is_longer_is_sent_whole(self):
        agent = make_agent(temp_folder(self), **ROOMY)
        for size in (3000, 9000, 20000):
            # The turn after it may be summarized with it.
            history.clear(agent.session("console", "me"))
            text = "tell a story" + "y" * size
            self.talk(agent, 3)
            agent.chain.replies[:] = [Reply("it was")]
            run(say(agent, text))
            agent.chain.replies[:] = []
            run(say(agent, "and then?"))
            found = [data for data in agent.chain.records if b"and then?" in data][-1]
            self.assertTrue(record("u", text + "\n\n(now: Saturday)") in found, size)
            self.assertTrue(record("a", "it was") in found, size)


class TestSummary(unittest.TestCase):
    def setUp(self):
        self.agent = make_agent(temp_folder(self), session__max_kb=4)
        self.agent.chain.texts = texts = []
        complete = self.agent.chain.complete

        async def answer(request, model=None, timeout_ms=None):
            # A summary repeats the facts in its request; all others are lost.
            data = b"".join(request.records())
            if data.endswith(record("u", "Write the summary now.")):
                texts.append(data)
                if self.failing:
                    self.agent.chain.replies.insert(0, self.failing)
                else:
                    facts = [word for word in ("FIRST", "SECOND") if word.encode() in data]
                    self.agent.chain.replies.insert(0, Reply("Facts: " + " ".join(facts)))
            return await complete(request, model, timeout_ms)

        self.failing = None
        self.agent.chain.complete = answer

    def talk(self, *words):
        async def go():
            for word in words:
                await say(self.agent, word)

        run(go())

    def outgrown(self):
        """Return the session as one that needs a summary now."""
        session = self.session()
        session.window = session.size - 1
        return session

    def fill(self, count=8):
        self.talk(*["x" * 500 + str(i) for i in range(count)])

    def session(self):
        return self.agent.session("console", "me")

    def test_two_compactions_keep_a_fact_of_the_first(self):
        self.talk("FIRST")
        self.fill()
        self.assertEqual(len(self.agent.chain.texts), 1)
        self.assertTrue(sent(self.session()).startswith(b'["s","Facts: FIRST"]\n["u",'))
        self.talk("SECOND")
        while len(self.agent.chain.texts) < 3:
            self.fill(1)
        data = sent(self.session())
        self.assertTrue(data.startswith(b'["s","Facts: FIRST SECOND"]\n["u",'), data[:80])
        self.assertEqual([row[0] for row in rows(data)].count("s"), 1)
        # The words themselves are gone: the rest of them came from the summaries.
        self.assertEqual(data.count(b"FIRST"), 1)
        self.assertTrue(self.agent.chain.texts[1].startswith(b'["s","Facts: FIRST"]\n'))
        self.assertTrue(files.size(self.session().path) < 2 * 4096)

    def test_turns_longer_than_the_window_are_summed_up(self):
        self.talk("FIRST" + "x" * 500, "SECOND" + "x" * 500)
        session = self.session()
        # A context that prompt and tools fill leaves so much.
        session.window = session.most = 256
        run(tidy(self.agent, session, "console:me"))
        self.assertTrue(b"SECOND" in self.agent.chain.texts[0])
        self.assertEqual(sent(session), record("s", "Facts: SECOND"))

    def test_a_summary_that_fails_keeps_everything(self):
        for failing in (LlmError("timeout", "No answer."), Reply("")):
            self.failing = failing
            self.talk("FIRST")
            self.fill()
            self.assertTrue(self.agent.chain.texts)
            with open(self.session().path, "rb") as file:
                data = file.read()
            self.assertTrue(b"FIRST" in data and b'["s",' not in data)
            self.assertEqual(data.count(b'["u",'), 9)
            history.clear(self.session())

    def test_offline_for_long_the_oldest_go_and_the_summary_stays(self):
        self.talk("FIRST")
        self.fill()
        self.failing = LlmError("timeout", "No answer.")
        self.fill(30)
        self.assertTrue(files.size(self.session().path) < 5 * 4096)
        self.assertTrue(sent(self.session()).startswith(b'["s","Facts: FIRST"]\n["u",'))

    def test_compaction_is_by_rename(self):
        self.talk("FIRST")
        self.fill(7)
        session = self.session()
        history.check(session)
        with open(session.path, "rb") as file:
            before = file.read()
        sync = files.sync
        seen = []

        def fail(file):
            seen.append(sorted(os.listdir(session.path.rsplit("/", 1)[0])))
            raise FULL

        files.sync = fail
        try:
            with self.assertRaises(OSError):
                history.compact(session, history.cut_for(session, 2048), "short")
        finally:
            files.sync = sync
        self.assertEqual(seen, [["console_me.jsonl", "console_me.jsonl.tmp"]])
        with open(session.path, "rb") as file:
            self.assertEqual(file.read(), before)
        self.assertEqual(len(os.listdir(session.path.rsplit("/", 1)[0])), 1)
        self.assertTrue(sent(session).endswith(before[-100:]))

    def test_without_a_pause_it_is_done_before_the_next_turn(self):
        async def go():
            # Somebody always waits already when a turn ends.
            self.agent.lane.wait_free = asyncio.Event().wait
            for i in range(20):
                await agent_fakes.say(self.agent, "x" * 500 + str(i))
                sizes.append(self.session().size)

        sizes = []
        self.talk("FIRST")
        run(go())
        self.assertTrue(1.5 * 4096 < max(sizes) < 2 * 4096, sizes)
        self.assertTrue(sent(self.session()).startswith(b'["s","Facts: FIRST"]'))
        # It was asked for once, when it was due, and not again with every turn.
        self.assertEqual(len(self.agent.chain.texts), sum(b < a for a, b in zip(sizes, sizes[1:])))

    def test_a_pressing_summary_does_not_make_way(self):
        self.talk("FIRST")
        self.fill(7)
        # Another summary waits for a pause.
        self.agent.tidying = True

        async def go():
            self.agent.chain.started = asyncio.Event()
            task = asyncio.create_task(
                tidy(self.agent, self.outgrown(), "console:me", pressing=True)
            )
            await self.agent.chain.started.wait()
            answer = await agent_fakes.say(self.agent, "hi", "you")
            await task
            return answer

        self.assertEqual(run(go()), "done")
        self.assertTrue(sent(self.session()).startswith(b'["s","Facts: FIRST"]'))
        self.assertTrue(self.agent.tidying)

    def test_it_makes_way_for_a_person_and_loses_nothing(self):
        self.talk("FIRST")
        self.fill(7)
        self.failing = "hang"
        before = self.session().size

        async def go():
            self.agent.chain.started = asyncio.Event()
            task = asyncio.create_task(tidy(self.agent, self.outgrown(), "console:me"))
            await self.agent.chain.started.wait()
            answer = await agent_fakes.say(self.agent, "hi", "you")
            await task
            return answer

        self.assertEqual(run(go()), "done")
        self.assertEqual(files.size(self.session().path), before)

    def test_what_is_reported_meanwhile_is_kept(self):
        self.talk("FIRST")
        self.fill(7)
        first = self.outgrown()
        complete = self.agent.chain.complete

        async def meanwhile(*args):
            # Another chat's session takes the place of this one, then a new object for this one.
            accounting.remember(self.agent, "console", "you", "something else")
            accounting.remember(self.agent, "console", "me", "The freezer is warm.")
            return await complete(*args)

        self.agent.chain.complete = meanwhile
        run(tidy(self.agent, first, "console:me"))
        self.assertTrue(sent(self.session()).startswith(b'["s","Facts: FIRST"]'))
        self.assertTrue(sent(self.session()).endswith(record("a", "The freezer is warm.")))

    def test_a_second_try_for_want_of_memory_cuts_nothing_more(self):
        self.talk("FIRST")
        self.fill(7)
        before = sent(self.session())
        account = accounting.account
        tries = []

        def short_once(agent, kind, who, result):
            tries.append(kind)
            if tries == ["summary"]:
                raise MemoryError
            account(agent, kind, who, result)

        self.addCleanup(setattr, accounting, "account", account)
        accounting.account = short_once
        run(tidy(self.agent, self.outgrown(), "console:me"))
        self.assertEqual(tries, ["summary"] * 2)
        data = sent(self.session())
        self.assertTrue(data.startswith(b'["s","Facts: FIRST"]\n["u",'), data[:80])
        self.assertTrue(data.endswith(before[-1000:]))

    def test_no_tokens_left_no_summary(self):
        self.agent.config.values["budget.tokens_per_day"] = 100
        self.agent.budget.left = lambda kind: 50 if kind == "person" else -1
        self.talk("FIRST")
        self.fill()
        self.assertEqual(self.agent.chain.texts, [])


class TestFullFlash(unittest.TestCase):
    """Every write fails; reads still work."""

    def setUp(self):
        self.agent = make_agent(temp_folder(self))
        self.put = files.put

    def tearDown(self):
        files.put = self.put

    def fill(self):
        def full(file, piece):
            raise FULL

        files.put = full

    def test_the_person_is_answered_and_told_once(self):
        run(say(self.agent, "before"))
        self.fill()
        self.assertEqual(run(say(self.agent, "one")), "done")
        self.assertEqual(run(say(self.agent, "two")), "done")
        told = [text for _, text in self.agent.delivered]
        self.assertEqual(len(told), 1)
        self.assertTrue("cannot keep our conversation" in told[0] and "28" in told[0], told)
        files.put = self.put
        self.assertEqual(run(say(self.agent, "after")), "done")
        said = [row[1] for row in rows(self.agent.chain.records[-1]) if row[0] == "u"]
        self.assertEqual([text.split("\n")[0] for text in said], ["before", "after"])
        self.assertTrue("conversation on flash again" in self.agent.delivered[-1][1])
        # It is news again when it happens again.
        self.fill()
        run(say(self.agent, "three"))
        self.assertEqual(len(self.agent.delivered), 3)

    def test_a_damaged_history_that_cannot_be_put_right_costs_only_itself(self):
        run(say(self.agent, "before"))
        path = self.agent.session("console", "me").path
        with open(path, "ab") as file:
            file.write(b'["u","torn')
        self.fill()
        self.assertEqual(run(say(self.agent, "one")), "done")
        self.assertEqual([row[0] for row in rows(self.agent.chain.records[-1])], ["u"])
        files.put = self.put
        run(say(self.agent, "after"))
        kinds = [row[0] for row in rows(self.agent.chain.records[-1])]
        self.assertEqual(kinds, ["u", "a", "u"])

    def test_an_alert_is_sent_although_it_cannot_be_remembered(self):
        self.fill()
        accounting.report(self.agent, "telegram", 7, "The freezer is warm.")
        self.assertTrue((7, "The freezer is warm.") in self.agent.delivered)

    def test_tokens_that_cannot_be_kept_do_not_cost_the_answer(self):
        def spend(tokens, kind, estimated):
            raise FULL

        self.agent.budget.spend = spend
        self.assertEqual(run(say(self.agent, "hi")), "done")


class TestBudget(unittest.TestCase):
    def test_people_have_a_reserve_and_what_they_start_has_not(self):
        agent = make_agent(temp_folder(self), budget__tokens_per_day=100)
        left = {"person": 5, "spawn": 0}
        agent.budget.left = left.get
        self.assertEqual(run(say(agent, "hi")), "done")
        parent = Turn(agent, "person", "x", "console", "me")
        said = run(self.start(agent, parent))
        self.assertTrue(said.startswith("error") and "tokens" in said, said)
        left["person"] = 0
        answer = run(say(agent, "hi"))
        self.assertTrue("used up" in answer and "midnight" in answer, answer)
        self.assertEqual(len(agent.chain.records), 1)

    async def start(self, agent, parent):
        return agent.app.spawn("count", parent)


class TestBackgroundTask(unittest.TestCase):
    def spawn(self, agent):
        async def go():
            parent = Turn(agent, "person", "x", "telegram", 9)
            said = agent.app.spawn("count", parent)
            while not agent.delivered:
                await asyncio.sleep(0)
            return said

        run(asyncio.wait_for(go(), 10))
        self.assertEqual(len(agent.delivered), 1)
        self.assertEqual(agent.spawned, [])
        return agent.delivered[0]

    def test_its_context_is_its_own_and_short(self):
        agent = make_agent(temp_folder(self), Reply("hello"), Reply("12"))
        run(say(agent, "something private", 9))
        chat, text = self.spawn(agent)
        self.assertEqual((chat, text), (9, "Background task (count): 12"))
        self.assertEqual(agent.chain.records[-1], record("u", "count"))
        # The person can answer the report.
        self.assertTrue(record("a", text) in sent(agent.session("telegram", 9)))

    def test_a_failed_one_is_reported_too(self):
        for failure in (LlmError("auth", "The key was refused."), ValueError("a fault of ours")):
            agent = make_agent(temp_folder(self), failure)
            _, text = self.spawn(agent)
            self.assertTrue("could not be done: " in text and str(failure) in text, text)

    def test_it_cannot_start_another(self):
        agent = make_agent(temp_folder(self), Reply("", [Call("a", "spawn", "{}")]), Reply("ok"))
        said = []

        async def call(name, arguments, ctx):
            said.append(ctx.agent.app.spawn("more", ctx.turn))
            return said[-1]

        agent.registry.call = call
        self.spawn(agent)
        self.assertEqual(said, ["error: a background task cannot start another one"])


if __name__ == "__main__":
    unittest.main()
