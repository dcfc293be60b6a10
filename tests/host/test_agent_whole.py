"""The parts of a turn, seen from outside: the entire agent on the 32-bit interpreter."""

import json

import pytest

from tenner_sim.services import OWNER, STALL, Answer, ToolCall
from tests.bench import heap

HEAP_KB = 192
SCAN = ToolCall("i2c", {"action": "scan", "bus": "i2c0"})
STRANGER = "4242"


@pytest.fixture(scope="module")
def agent(micropython32):
    with heap.agent(HEAP_KB) as running:
        running.idle()
        yield running


def messages(agent):
    return agent.services.model.requests[-1].json["messages"]


def last_result(agent):
    return [one["content"] for one in messages(agent) if one["role"] == "tool"][-1]


def told(agent, chat=OWNER):
    return [one.text for one in agent.services.telegram.sent if one.chat_id == chat]


def call(agent, name, **arguments):
    """Have the model call a tool; return its result."""
    telegram = agent.services.telegram
    agent.services.model.script = [Answer("", [ToolCall(name, arguments)]), "Done."]
    count = told(agent).count("Done.")
    telegram.say(OWNER, f"please {name}")
    telegram.wait_for(lambda _: told(agent).count("Done.") > count)
    return last_result(agent)


def test_the_first_request_of_a_person_is_small(agent):
    if not agent.services.model.requests:
        agent.ask("say: first", "first")
    assert len(agent.services.model.requests[0].body) <= 6600


def test_the_rounds_of_a_turn_share_one_connection(agent):
    model = agent.services.model
    agent.ask("say: first")
    before = model.connections, len(model.requests)
    model.script = [Answer("", [SCAN]), Answer("", [SCAN, SCAN]), "Three times 0x48."]
    agent.ask("scan it", "Three times 0x48.")
    assert len(model.requests) - before[1] == 3
    assert model.connections - before[0] == 1


def test_a_note_is_found_again_and_long_term_memory_is_in_the_prompt(agent):
    # Before notes are read: they are text from outside, after which this would be asked for.
    call(agent, "write_file", path="memory/MEMORY.md", content="The owner is called Ada.\n")
    assert "added" in call(
        agent, "append_file", path="memory/2026-05-01.md", text="The freezer was defrosted."
    )
    assert "2026-05-01.md:1: The freezer was" in call(agent, "search_memory", query="FREEZER was")
    assert "no note has" in call(agent, "search_memory", query="freezer exploded")
    agent.ask("say: hello")
    system = messages(agent)[0]["content"]
    assert "# memory/MEMORY.md\nThe owner is called Ada." in system
    assert "defrosted" not in system


def test_a_message_goes_to_the_owner_and_to_nobody_else(agent):
    assert call(agent, "message", text="Look at this.").startswith("queued for telegram:")
    assert told(agent).count("Look at this.") == 1
    result = call(agent, "message", text="Psst.", chat=STRANGER)
    assert result.startswith("error: ") and "not allowed" in result
    agent.ask("say: on")
    assert told(agent, int(STRANGER)) == []


def test_stop_ends_a_turn_and_the_next_one_works(agent):
    model, telegram = agent.services.model, agent.services.telegram
    model.plan([STALL])
    count = len(model.requests)
    telegram.say(OWNER, "say: never")
    model.wait_requests(count + 1)
    telegram.say(OWNER, "/stop")
    telegram.wait_for(lambda _: "Stopped, as you asked." in told(agent))
    telegram.wait_for(lambda _: "Stopping." in told(agent))
    assert model.plan_left == []
    agent.ask("say: on", "on")
    assert "(no answer: Stopped, as you asked.)" in json.dumps(messages(agent))


def test_a_background_task_reports_once(agent):
    model, telegram = agent.services.model, agent.services.telegram
    # Text from outside in the conversation would have it ask first.
    agent.ask("/new")
    model.script = [
        Answer("", [ToolCall("spawn", {"task": "count the freezers"})]),
        "I will tell you.",
        "There are two.",
    ]
    telegram.say(OWNER, "count in the background")
    report = "Background task (count the freezers): There are two."
    telegram.wait_for(lambda _: report in told(agent))
    task = model.requests[-1].json
    assert [one["role"] for one in task["messages"]] == ["system", "user"]
    assert "spawn" not in [tool["function"]["name"] for tool in task["tools"]]
    agent.ask("say: thanks")
    assert told(agent).count(report) == 1
    assert report in json.dumps(messages(agent))


def test_a_history_too_long_for_the_model_is_sent_in_half(micropython32):
    # A board sends the newest 8 KB by itself.
    with heap.agent(HEAP_KB, messages=2000, settings={"session": {"window_kb": 64}}) as agent:
        agent.idle()
        model = agent.services.model
        model.context_tokens = 12000
        agent.ask("say: shorter", "shorter")
        tries = [len(one.body) for one in model.requests]
        assert len(tries) >= 2 and tries[1] < tries[0] * 0.6, tries
        model.wait_requests(3)
        # The agent summarizes the rest afterwards.
        assert model.requests[2].json["messages"][-1]["content"].endswith("Write the summary now.")


def test_a_long_conversation_is_summed_up_and_goes_on(micropython32):
    with heap.agent(HEAP_KB, llm={"context_tokens": 4096}) as agent:
        agent.idle()
        path = agent.root / "state" / "sessions" / f"telegram_{OWNER}.jsonl"
        summed = []
        for number in range(60):
            agent.ask(f"say: {number} " + "x" * 400)
            if sum("compacted" in line for line in agent.lines) > len(summed):
                summed.append(json.loads(path.read_bytes().splitlines()[0]))
                if len(summed) == 2:
                    break
        assert [kind for kind, _ in summed] == ["s", "s"]
        requests = agent.services.model.requests
        asked = [one.json["messages"] for one in requests if "You compress" in one.body.decode()]
        assert [one[-1]["content"][-22:] for one in asked] == ["Write the summary now."] * 2
        # The result of the first one is an input of the second.
        assert summed[0][1] in asked[1][1]["content"]
        kinds = [json.loads(line)[0] for line in path.read_bytes().splitlines()]
        assert kinds.count("s") == 1
        agent.ask("say: on", "on")
        assert summed[1][1] in messages(agent)[1]["content"]
        assert not any("Traceback" in line for line in agent.lines)
