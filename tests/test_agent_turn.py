import asyncio
import json
import os
import sys
import unittest

import agent_fakes
import net_peer
from agent_fakes import Call, Reply, make_agent
from net_peer import Peer
from support import run, temp_folder
from tenner.agent import accounting, history, model_call, spool, tool_calls
from tenner.agent import answer as answer_module
from tenner.agent import turn as turn_module
from tenner.agent.message_queue import Message
from tenner.agent.tool_calls import ToolContext
from tenner.agent.turn import Turn
from tenner.llm.chain import Chain
from tenner.llm.errors import LlmError
from tenner.net.http import Http
from tenner.store.files import make_dirs, write_atomic
from tenner.tools.untrusted import DATA


def say(agent, text):
    async def go():
        answer = await agent_fakes.say(agent, text)
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
        self.assertEqual(sent[4][3], {}, "arguments that are no object become an empty one")
        self.assertEqual(len(agent.registry.calls), 3)

    def test_a_picture_is_in_each_request_of_its_turn_only(self):
        agent = self.agent(Reply("", [Call("a", "echo", "{}")]), Reply("a leaf"), Reply("gone"))
        message = agent_fakes.Message("console", "me", "[a photo]\nwhat?", "me")
        message.image = "image/png", "/state/incoming.tmp"
        run(agent_fakes.answer.answer(agent, message))
        for sent in agent.chain.records:
            found = rows(sent)
            self.assertEqual(found[0], ["i", "image/png", "/state/incoming.tmp"])
            self.assertTrue(found[1][1].startswith("[a photo]\nwhat?"), found[1])
        say(agent, "and now?")
        found = rows(agent.chain.records[2])
        # The note marks the turn as one with untrusted text.
        self.assertEqual([row[0] for row in found], ["u", "n", "a", "c", "t", "a", "u"])
        self.assertTrue(found[0][1].startswith("[a photo]\nwhat?"), found[0])
        self.assertTrue(DATA in found[1][1], found[1])

    def test_a_call_too_many_is_refused_by_name(self):
        calls = [Call("a", "echo", "{}"), Call("b", "valve", None), Call("c", "echo", "{}")]
        agent = self.agent(Reply("", calls), Reply("done"))
        self.assertEqual(say(agent, "go"), "done")
        sent = rows(agent.chain.records[1])
        self.assertEqual([row[1] for row in sent[5:]], ["a", "b", "c"])
        self.assertTrue(sent[6][2].startswith("error: valve was not run"), sent)
        self.assertEqual(sent[3], ["c", "b", "valve", {}])
        self.assertEqual([call[0] for call in agent.registry.calls], ["echo", "echo"])

    def test_a_model_that_writes_the_heartbeat_hears_how_it_is_understood(self):
        class Heartbeat:
            async def marks(self):
                return [1, 2]

            async def understood(self, before):
                return '\nline 1: off: "evry 5m": is no clause %s' % before

        calls = [
            Call("a", "write_file", '{"path": "HEARTBEAT.md", "content": "- (evry 5m) x"}'),
            Call("b", "write_file", '{"path": "notes.md", "content": "y"}'),
        ]
        agent = self.agent(Reply("", calls), Reply("done"))
        agent.app._parts["heartbeat"] = Heartbeat()

        async def call(name, arguments, ctx):
            return "wrote"

        agent.registry.call = call
        say(agent, "go")
        sent = rows(agent.chain.records[1])
        self.assertEqual(
            [row[2] for row in sent[-2:]],
            ['wrote\nline 1: off: "evry 5m": is no clause [1, 2]', "wrote"],
        )

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

    def test_an_answer_cut_at_the_length_limit_is_gone_on_with(self):
        agent = self.agent(Reply("part one", stop="length"), Reply("part two"))
        self.assertEqual(say(agent, "long"), "part one part two")
        self.assertEqual([row[0] for row in rows(agent.chain.records[1])], ["u", "a", "n"])
        say(agent, "next")
        kept = rows(agent.chain.records[2])
        self.assertEqual([row[0] for row in kept], ["u", "a", "n", "a", "u"])

    def test_an_answer_that_is_cut_again_says_so(self):
        agent = self.agent(Reply("part one", stop="length"), Reply("part two", stop="length"))
        answer = say(agent, "long")
        self.assertTrue(answer.startswith("part one part two\n"), answer)
        self.assertTrue("cut off at the length limit" in answer, answer)
        self.assertEqual(len(agent.chain.records), 2)

    def test_parts_are_joined_where_they_were_cut(self):
        for first, second, whole in (
            ("It is warm", "warm and dry", "It is warm and dry"),
            ("the temper", "temperature is", "the temperature is"),
            ("one\n", "two", "one\ntwo"),
            ("one", "\ntwo", "one\ntwo"),
            ("温度", "计", "温度计"),
            ("grün", "блок", "grün блок"),
            ("all", "", "all"),
            ("", "all", "all"),
        ):
            agent = make_agent(temp_folder(self), Reply(first, stop="length"), Reply(second))
            self.assertEqual(say(agent, "go"), whole)

    def test_what_there_is_of_an_answer_is_given_when_the_rest_fails(self):
        agent = self.agent(
            Reply("part one", stop="length"), LlmError("timeout", "No route."), Reply("fine")
        )
        answer = say(agent, "long")
        self.assertTrue(answer.startswith("part one\n"), answer)
        self.assertTrue("cut off" in answer and "No route." in answer, answer)
        say(agent, "next")
        kept = rows(agent.chain.records[-1])
        self.assertEqual([row[0] for row in kept], ["u", "a", "n", "a", "u"])

    def test_a_cut_answer_that_goes_on_with_a_tool_keeps_its_beginning(self):
        agent = self.agent(
            Reply("part one", stop="length"), Reply("", [Call("a", "echo", "{}")]), Reply("end")
        )
        self.assertEqual(say(agent, "long"), "part one end")

    def test_a_beats_answer_that_is_cut_keeps_its_beginning(self):
        agent = self.agent(Reply("The freezer", stop="length"), Reply("is warm."))
        result = run(Turn(agent, "heartbeat", "look").run())
        self.assertEqual((result.text, result.error), ("The freezer is warm.", None))

    def test_a_stopped_turn_gives_no_half_answer(self):
        agent = self.agent(Reply("part one", stop="length"), "hang")

        async def go():
            turn = Turn(agent, "person", "go", "console", "me")
            task = asyncio.create_task(turn.run())
            while len(agent.chain.records) < 2:
                await asyncio.sleep(0)
            self.assertEqual(turn.draft(), "part one")
            turn.interrupt("stop")
            return await task

        self.assertEqual(run(go()).error, "Stopped, as you asked.")

    def test_the_beginning_of_a_long_answer_is_sent_from_flash(self):
        words = "".join(["word %d\n" % n for n in range(1200)])
        make_dirs(self.root + "/state")
        for text in (words, words.replace("\n", " "), "\u6e29\u5ea6" * 1700):
            data = text.encode()
            with open(self.root + "/state/reply.part", "wb") as file:
                file.write(data)
            reply = Reply("the end")
            reply.kept = len(data)
            agent = make_agent(self.root, reply, Reply("next"))
            last = say(agent, "long")
            self.assertTrue(last.endswith("the end"), last)
            sent = [part for _, part in agent.delivered] + [last]
            self.assertEqual("".join(sent), text + "the end")
            self.assertTrue(
                2 < len(sent) < 20 and max([len(part.encode()) for part in sent]) <= 1024
            )
            say(agent, "and?")
            said = rows(agent.chain.records[-1])[-2]
            self.assertTrue(said[0] == "a" and said[1].endswith("the end"), said)

    def test_the_history_has_the_whole_of_a_long_answer(self):
        text = 'a "word" \u6e29\n' * 300
        make_dirs(self.root + "/state")
        with open(self.root + "/state/reply.part", "wb") as file:
            file.write(text.encode())
        reply = Reply("the end")
        reply.kept = len(text.encode())
        agent = make_agent(self.root, reply, Reply("next"))
        say(agent, "long")
        say(agent, "and?")
        self.assertEqual(rows(agent.chain.records[-1])[-2], ["a", text + "the end"])

    def test_a_long_message_is_on_flash_during_its_turn(self):
        make_dirs(self.root + "/state")
        agent = self.agent(Reply("fine"), Reply("next"))
        words = ['a "word" ', "\u6e29\n" * 300, "end"]

        def written():
            message = Message("console", "me", words[0], "me")
            message.pieces = words[1:]
            message.by_owner = False
            return message

        def asked(number):
            return [text for kind, text in rows(agent.chain.records[number]) if kind == "u"][-1]

        message = written()
        turn = run(answer_module._prepare(agent, message))
        # Memory was short, and the turn is tried again.
        run(answer_module.answer(agent, message))
        self.assertEqual(message.answer, "fine")
        head, _, rest = asked(0).partition("\n")
        self.assertTrue(head.endswith("than the owner)"), head)
        self.assertTrue(rest.startswith("".join(words) + "\n\n(now: "), rest)
        self.assertEqual(spool.text(agent, turn.spooled, True), "".join(words))
        say(agent, "and?")
        self.assertEqual([row[0] for row in rows(agent.chain.records[1])], ["u", "n", "a", "u"])
        self.assertEqual(rows(agent.chain.records[1])[0][1], asked(0))
        # A full flash costs memory, not the message.
        os.remove(self.root + "/state/message.part")
        os.mkdir(self.root + "/state/message.part")
        agent.chain.replies = [Reply("again")]
        message = written()
        run(answer_module.answer(agent, message))
        self.assertEqual(message.answer, "again")
        self.assertTrue("".join(words) in asked(2))

    def test_only_a_persons_answer_goes_by_way_of_flash(self):
        agent = self.agent()
        turn = Turn(agent, "heartbeat", "x")
        self.assertEqual(model_call.Request(turn, ()).keep_at, None)
        turn.on_result = print
        found = model_call.Request(turn, ())
        self.assertTrue(found.keep_at.endswith("state/reply.part"))
        self.assertEqual((found.max_reply, found.kept_from, found.most_kept), (6144, 1024, 24576))
        agent.port.small = False
        found = model_call.Request(turn, ())
        roomy = sys.implementation.name == "cpython"
        self.assertEqual(found.max_reply, 131072 if roomy else 16384)
        self.assertEqual(found.kept_from, 131072 if roomy else 1024)
        self.assertEqual(found.most_kept, 1048576)

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

    def test_the_model_is_told_which_server_does_not_answer(self):
        agent = self.agent(Reply("ok"))

        class Registry:
            servers = {"home": {}}
            refreshed = 0

            async def refresh(self, app):
                self.refreshed += 1

            def missing(self):
                return [
                    "The MCP server home does not answer (no route): its tools are missing now."
                ]

            def schemas(self, kind):
                return ()

        agent.app._parts["registry"] = registry = Registry()
        say(agent, "hi")
        self.assertEqual(registry.refreshed, 1)
        self.assertTrue(b"\nThe MCP server home does not answer" in agent.chain.systems[0])

    def test_each_result_stands_in_order_also_when_stopped_in_the_middle(self):
        for reason, stopper in (("stop", "Stopped, as you asked."), ("person", "Preempted")):
            calls = [Call(name, "echo", '{"n":"%s"}' % name) for name in ("a", "b", "c")]
            agent = make_agent(temp_folder(self), Reply("Let me look.", calls))
            registry = agent.registry
            registry.blocked = asyncio.Event()

            async def go(reason=reason, agent=agent, registry=registry):
                session = agent.session("console", "me")
                turn = Turn(agent, "person", "go", "console", "me", session)
                task = asyncio.create_task(turn.run())
                while len(registry.calls) < 1:
                    await asyncio.sleep(0)
                turn.interrupt(reason)
                registry.blocked.set()
                result = await task
                return turn, result

            turn, result = run(go())
            self.assertTrue(result.error.startswith(stopper), result.error)
            self.assertEqual((result.interrupted, len(registry.calls)), (reason, 1))
            kept = [json.loads(line) for line in turn.lines]
            self.assertEqual(
                [row[0] for row in kept], ["u", "a", "c", "c", "c", "t", "t", "t", "a"]
            )
            self.assertEqual([row[1] for row in kept[5:8]], ["a", "b", "c"])
            results = [row[2] for row in kept[5:8]]
            self.assertEqual(results[0], 'echo {"n":"a"}')
            self.assertTrue(all(text.startswith("cancelled") for text in results[1:]), results)
            self.assertEqual(agent.chain.replies, [])

    def test_a_turn_that_is_cancelled_leaves_no_call_without_a_result(self):
        agent = self.agent(Reply("", [Call("a", "echo", "{}"), Call("b", "echo", "{}")]))
        agent.registry.blocked = asyncio.Event()

        async def go():
            turn = Turn(agent, "person", "go")
            task = asyncio.create_task(turn.run())
            while not agent.registry.calls:
                await asyncio.sleep(0)
            task.cancel()
            try:
                await task
            except asyncio.CancelledError:
                return turn.lines

        kinds = [json.loads(line)[:2] for line in run(go())[2:]]
        self.assertEqual(kinds, [["c", "a"], ["c", "b"], ["t", "a"], ["t", "b"]])

    def ask(self, meanwhile, kind="person", **settings):
        """Run a turn that asks the owner; `meanwhile(agent, turn)` happens while it waits."""
        agent = make_agent(temp_folder(self), Reply("", [Call("a", "valve", "{}")]), **settings)

        async def go():
            turn = Turn(agent, kind, "go", "console", "me")
            lane = agent.lane
            run_it = lane.person("console:me", turn) if kind == "person" else turn.run()
            task = asyncio.create_task(run_it)
            while not agent.app.asked:
                await asyncio.sleep(0)
            extra = meanwhile(agent, turn)
            result = await task
            if extra is not None:
                await extra
            return turn, result

        return run(go())

    def test_the_owners_answer(self):
        for answer, text in ((True, "opened"), (False, "error: the owner said no")):
            turn, result = self.ask(
                lambda agent, turn, answer=answer: setattr(agent.app, "answer", answer)
            )
            self.assertEqual(result.text, "done")
            self.assertEqual(json.loads(turn.lines[-2]), ["t", "a", text])

    def test_no_connection_to_the_model_waits_for_the_owner(self):
        closed = []

        def say_yes(agent, turn):
            closed.append(turn.chain.closed)
            agent.app.answer = True

        turn, _ = self.ask(say_yes)
        self.assertEqual((closed, turn.chain.closed), ([1], 2))

    def test_waiting_for_the_owner_is_not_the_turns_time(self):
        now = [1000]
        for module in (turn_module, tool_calls):
            self.addCleanup(setattr, module, "ticks_ms", module.ticks_ms)
            module.ticks_ms = lambda: now[0]

        def later(agent, turn):
            now[0] += 599000
            agent.app.answer = True

        turn, result = self.ask(later, turn__timeout_s=60)
        self.assertEqual((result.text, result.error), ("done", None))

    def test_what_interrupts_a_question_is_a_no(self):
        for reason, words in (("person", "Preempted"), ("stop", "Stopped")):
            turn, result = self.ask(
                lambda agent, turn, reason=reason: turn.interrupt(reason), "heartbeat"
            )
            self.assertTrue(result.error.startswith(words), result.error)
            self.assertIn(b"the owner said no", turn.lines[-2])

    def test_whoever_writes_instead_of_answering_says_no(self):
        def write(agent, turn):
            second = Turn(agent, "person", "no, the other one", "console", "me")
            return asyncio.create_task(agent.lane.person("console:me", second))

        turn, result = self.ask(write)
        self.assertEqual(result.text, "done")
        self.assertIn(b"the owner said no", turn.lines[-2])

    def test_somebody_elses_message_waits_for_the_answer(self):
        def write(agent, turn):
            second = Turn(agent, "person", "hello", "telegram", "9")
            task = asyncio.create_task(agent.lane.person("telegram:9", second))

            async def answer():
                for _ in range(20):
                    await asyncio.sleep(0)
                agent.app.answer = True

            self.answering = asyncio.create_task(answer())
            return task

        turn, _ = self.ask(write)
        self.assertIn(b"opened", turn.lines[-2])

    def test_the_failure_that_ends_a_loop_is_kept_as_it_was(self):
        agent = self.agent(Reply("", [Call("i%d" % i, "bad", "{}") for i in range(4)]))
        say(agent, "loop")
        say(agent, "next")
        results = [row[2] for row in rows(agent.chain.records[-1]) if row[0] == "t"]
        self.assertEqual(results[:3], ["error: bad does not work"] * 3)
        self.assertTrue(results[3].startswith("cancelled"), results)

    def test_another_failure_in_between_is_no_loop(self):
        names = ("bad", "bad", "worse", "bad", "bad")
        calls = [Call("i%d" % i, name, "{}") for i, name in enumerate(names)]
        self.assertEqual(say(self.agent(Reply("", calls), Reply("gave up")), "go"), "gave up")

    def test_names_and_ids_that_an_api_rejects_are_kept_in_a_form_it_accepts(self):
        calls = [
            Call("x\x00" * 60, "\x00" * 64, "{}"),
            Call('"' * 64, "read it, please!", "[1]"),
            Call("é", "", '{"a":"\x00\n\t\u2028"}'),
            Call("functions.i2c:0", "echo", "{}"),
        ]
        agent = self.agent(Reply("", calls), Reply("done"))
        self.assertEqual(say(agent, "go"), "done")
        data = agent.chain.records[1]
        self.assertEqual(min(data.replace(b"\n", b" ")), 0x20)
        sent = rows(data)
        made = [row for row in sent if row[0] == "c"]
        self.assertEqual(
            [row[2] for row in made], ["_" * 64, "read_it__please_", "_", "echo"], made
        )
        self.assertEqual([row[1] for row in made], [row[1] for row in sent if row[0] == "t"])
        self.assertEqual(len({row[1] for row in made}), 4)
        self.assertEqual(made[3][1], "functions.i2c:0", "a valid id stays unchanged")
        for line in data.split(b"\n"):
            self.assertTrue(line.find(b"{") < 256, "id and name fit the first piece of a line")
        # The model's own words go to the tool; only the copy that is sent back is cleaned.
        self.assertEqual(agent.registry.calls[1][0], "read it, please!")

    def test_a_call_with_decorations_runs_as_the_tool_that_it_means(self):
        calls = [
            Call("1", "functions.echo", '"{\\"a\\": 1}"'),
            Call("2", "echo<|channel|>commentary", '{"a":1}{"a":2}'),
        ]
        agent = self.agent(Reply("", calls), Reply("done"))
        self.assertEqual(say(agent, "go"), "done")
        self.assertEqual([name for name, _ in agent.registry.calls], ["echo"] * 3)
        made = [row for row in rows(agent.chain.records[1]) if row[0] == "c"]
        self.assertEqual([row[2:] for row in made], [["echo", {"a": n}] for n in (1, 1, 2)])
        self.assertEqual(len({row[1] for row in made}), 3)

    def test_a_call_written_as_text_runs_and_is_kept_as_a_call(self):
        text = '<tool_call>\n{"name": "echo", "arguments": {"a": 1}}\n</tool_call>'
        agent = self.agent(Reply(text), Reply("done"))
        self.assertEqual(say(agent, "go"), "done")
        self.assertEqual(agent.registry.calls, [("echo", '{"a":1}')])
        self.assertFalse(b"tool_call" in agent.chain.records[1])

    def test_a_call_written_as_text_that_does_not_run_is_never_shown(self):
        for text in (
            '<tool_call>\n{"name": "wipe", "arguments": {}}\n</tool_call>',
            'I look.\n<tool_call>\n{"name": "echo", "arguments": {}}\n</tool_call>',
        ):
            agent = self.agent(Reply(text))
            answer = say(agent, "go")
            self.assertTrue("the model wrote a tool call as text" in answer, answer)
            self.assertFalse("<" in answer, answer)
            self.assertEqual(agent.registry.calls, [])

    def test_an_answer_that_speaks_of_markup_is_unchanged(self):
        text = "Qwen writes `<tool_call>` and `</tool_call>` around a call."
        self.assertEqual(say(self.agent(Reply(text)), "go"), text)

    def test_what_does_not_fit_beside_garbage_is_tried_again(self):
        agent = self.agent(MemoryError(), Reply("fine"), MemoryError(), MemoryError(), Reply("ok"))
        self.assertEqual(say(agent, "one"), "fine")
        self.assertTrue("memory" in say(agent, "two"))
        self.assertEqual(say(agent, "three"), "ok")

    def test_what_does_not_fit_into_memory_is_said_and_the_next_turn_works(self):
        call = Reply("", [Call("c1", "echo", "{}")])
        agent = self.agent(call, *[MemoryError("allocating 16384 bytes")] * 2, Reply("fine"))
        answer = say(agent, "all of it")
        self.assertTrue("memory" in answer and "shorter" in answer, answer)
        self.assertEqual(say(agent, "short"), "fine")
        self.assertEqual([row[0] for row in rows(agent.chain.records[-1])], ["u", "a", "u"])

    def test_a_turn_of_no_text_is_said(self):
        self.assertEqual(say(self.agent(Reply("")), "hi"), "(The model gave no text.)")

    def test_the_time_a_turn_may_take_is_bounded_and_said(self):
        agent = self.agent(Reply("", [Call("a", "echo", "{}")]), turn__timeout_s=0)
        self.assertEqual(say(agent, "hi"), "I stopped: this took longer than 0 s.")
        self.assertEqual(agent.chain.records, [])


def answer(text="", calls=""):
    """A model's reply, whole, as servers send it that ignore "stream"."""
    body = '{"choices":[{"index":0,"message":{"content":"%s"%s},"finish_reason":"stop"}]}'
    return net_peer.reply((body % (text, calls)).encode())


CALL = ',"tool_calls":[{"id":"c%d","function":{"name":"echo","arguments":"{}"}}]'


class TestWire(unittest.TestCase):
    """A turn and the real way to the model."""

    def talk(self, *answers, **parts):
        """Run a turn with these answers; return (result, peer)."""
        root = temp_folder(self)
        make_dirs(root + "/workspace")

        async def go():
            peer = await Peer(*answers).start()
            agent = make_agent(root)
            agent.config.values.update(
                {
                    "llm.api": "chat",
                    "llm.base_url": peer.url,
                    "llm.api_key": "k",
                    "llm.model": "m",
                    "llm.timeout_s": 10,
                    "llm.fallbacks": [],
                }
            )
            chain = Chain(agent.config, Http, root + "/cooldown.json", notify=agent.notify)
            agent.app._parts["chain"] = chain
            if "prepare" in parts:
                parts["prepare"](agent)
            turn = Turn(agent, "person", "go")
            turn.tools = getattr(agent, "schemas", None)
            result = await turn.run()
            await peer.stop()
            return result, peer

        return run(go())

    def test_the_rounds_of_a_turn_share_one_connection(self):
        result, peer = self.talk(answer("", CALL % 1), answer("", CALL % 2), answer("done"))
        self.assertEqual((result.text, result.rounds), ("done", 3))
        self.assertEqual((len(peer.requests), peer.connections), (3, 1))

    def test_a_kept_connection_that_was_closed_is_opened_again_unseen(self):
        first = [answer("", CALL % 1), Peer.CLOSE]
        result, peer = self.talk(first, answer("done"))
        self.assertEqual((result.text, result.error), ("done", None))
        self.assertEqual(peer.connections, 2)

    def edited(self, times):
        """A turn while whose first requests are counted USER.md grows, so many times."""
        left = [times]

        def prepare(agent):
            user = agent.workspace + "/USER.md"
            write_atomic(user, "likes tea")

            class Schemas:
                # Tools come after the prompt: the file was read, and is another one for the second
                # pass.
                def __iter__(self):
                    if left[0]:
                        left[0] -= 1
                        with open(user, "a") as file:
                            file.write(" a lot")
                    return iter(())

            agent.schemas = Schemas()

        return self.talk(answer("done"), prepare=prepare)

    def test_a_prompt_file_that_changes_between_the_passes_restarts_the_request(self):
        result, peer = self.edited(1)
        self.assertEqual(result.text, "done")
        self.assertEqual(len(peer.requests), 1)
        body = json.loads(peer.requests[0][1])
        self.assertTrue("likes tea a lot" in body["messages"][0]["content"], body)

    def test_a_prompt_file_that_never_stays_the_same_is_given_up(self):
        result, peer = self.edited(100)
        self.assertTrue("changed each time" in result.error, result.error)
        self.assertEqual(peer.requests, [])


class TestAgent(unittest.TestCase):
    def test_a_report_can_be_answered(self):
        agent = make_agent(temp_folder(self))
        accounting.report(agent, "telegram", 7, "The freezer is warm.")
        self.assertEqual(agent.delivered, [(7, "The freezer is warm.")])
        session = agent.session("telegram", 7)
        history.check(session)
        self.assertTrue(b"The freezer is warm." in b"".join(history.pieces(session)))

    def test_a_chat_name_never_leaves_the_folder(self):
        agent = make_agent(temp_folder(self))
        self.assertFalse(".." in agent.session("console", "../../etc").path.split("sessions")[1])

    def test_a_message_goes_to_who_it_is_for(self):
        agent = make_agent(temp_folder(self))
        for turn, chat, expected in (
            (Turn(agent, "person", "x", "console", "me"), None, ("console", "me")),
            (Turn(agent, "person", "x", "console", "me"), "me", ("console", "me")),
            (Turn(agent, "person", "x", "console", "me"), "99", ("telegram", "99")),
            (Turn(agent, "person", "x", "telegram", 8), "8", ("telegram", 8)),
            (Turn(agent, "heartbeat", "x"), None, ("telegram", 7)),
        ):
            told = []
            agent.app.deliver = lambda *args, told=told: told.append(args)
            said = run(ToolContext(agent, turn).send("hello", chat))
            self.assertEqual(told, [expected + ("hello",)])
            self.assertEqual(said, "queued for %s:%s" % expected)
        agent.app.owner = lambda: (None, None)
        self.assertTrue(run(ToolContext(agent, turn).send("hello")).startswith("error: nobody"))

    def test_spawn_reports_once_and_cannot_nest(self):
        agent = make_agent(temp_folder(self), Reply("the long answer"))

        async def go():
            parent = Turn(agent, "person", "x", "telegram", 9)
            first = agent.app.spawn("count", parent)
            second = agent.app.spawn("count more", parent)
            nested = agent.app.spawn("again", Turn(agent, "spawn", "x"))
            for _ in range(20):
                await asyncio.sleep(0)
            return first, second, nested

        first, second, nested = run(go())
        self.assertTrue(first.startswith("started"))
        self.assertTrue(second.startswith("error") and nested.startswith("error"))
        self.assertEqual(agent.delivered, [(9, "Background task (count): the long answer")])


if __name__ == "__main__":
    unittest.main()
