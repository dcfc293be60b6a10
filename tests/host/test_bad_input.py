"""On any input, the person gets a sentence, the session still loads, and the next turn works."""

import json
import re

import pytest

from tenner_sim.services import GARBAGE, OWNER, Answer, Step, ToolCall
from tests import provider_requests
from tests.bench import heap

pytestmark = pytest.mark.long

#: Enough for the code that explains failures beside that of a turn, and little enough that a reply
#: of megabytes would not fit.
HEAP_KB = 224

FAILED = r"^I could not get an answer: the model offline-rules at localhost:\d+ [^\n]+; I'll retry"
MEGABYTE = 1 << 20


@pytest.fixture(scope="module", params=["chat", "messages"])
def agent(request, micropython32):
    """One agent for all that is about replies, which must survive them one after the other."""
    provider_requests.load(request.param)
    # The last request is the turn's: a summary would come behind it.
    window = {"session": {"window_kb": 60}}
    llm = {"api": request.param, "timeout_s": 600}
    with heap.agent(HEAP_KB, llm=llm, settings=window) as running:
        running.idle()
        yield running


#: For replies whose bytes are written here in the chat format.
chat_only = pytest.mark.parametrize("agent", ["chat"], indirect=True, scope="module")


def go_on(agent, said):
    """The next turn works, and knows the earlier messages."""
    model = agent.services.model
    model.plan([])
    assert model.script == []
    agent.ask("say: and on", "and on")
    lines, agent.lines[:] = agent.lines[:], []
    messages = model.requests[-1].json["messages"]
    assert said in json.dumps(messages, ensure_ascii=False), messages
    assert model.problems == []
    log = "\n".join(lines)
    assert "Traceback" not in log and ".bad" not in log, log


def whole_answer(agent, said, *ends):
    """Ask, and return the answer, which comes in several messages, up to the one that holds
    one of `ends`."""
    telegram = agent.services.telegram
    before = count = len(telegram.sent)
    agent.ask(said)
    while True:
        # Counted from before: the next message may have arrived already.
        count += 1
        telegram.wait_sent(count)
        if any(end in telegram.sent[count - 1].text for end in ends):
            break
    return "\n".join(message.text for message in telegram.sent[before:])


# (name, plan, the person's message)
BROKEN_REPLIES = [
    ("truncated-stream", [Step(cut=300, where="body", times=2)], FAILED),
    ("truncated-between-events", [Step(events=2, no_done=True, times=2)], FAILED),
    ("garbage-instead-of-http", [GARBAGE], FAILED),
    ("garbage-json", [Step(body=b'{"choices": [nonsense]}', times=2)], FAILED),
    ("garbage-json-in-a-stream", [Step(body=b'data: {"choices":[{,}]}\n\n', times=2)], FAILED),
    ("json-that-is-no-answer", [Step(body=b'{"ok":true}')], FAILED),
    ("two-megabytes", [Step(huge_body=2 * MEGABYTE)], FAILED),
    ("a-header-line-of-a-megabyte", [Step(huge_header=MEGABYTE)], FAILED),
    ("nul-bytes", [Step(body=b"\0" * 5000)], FAILED),
    ("no-bytes", [Step(body=b"", times=2)], FAILED),
]


@pytest.mark.parametrize(
    ("plan", "pattern"),
    [case[1:] for case in BROKEN_REPLIES],
    ids=[case[0] for case in BROKEN_REPLIES],
)
def test_a_broken_reply_is_one_sentence(agent, request, plan, pattern):
    said = f"say: {request.node.callspec.id}"
    agent.services.model.plan(plan)
    answer = agent.ask(said)
    assert re.search(pattern, answer), answer
    assert agent.services.model.plan_left == []
    go_on(agent, said)


def stream(*deltas, finish="stop"):
    """A reply in the chat format; each delta is the JSON text of one."""
    events = [b'{"choices":[{"index":0,"delta":%s}]}' % delta for delta in deltas]
    events.append(b'{"choices":[{"index":0,"delta":{},"finish_reason":"%s"}]}' % finish.encode())
    return Step(body=b"".join(b"data: %s\n\n" % event for event in [*events, b"[DONE]"]))


# (name, delta, the person's message)
ODD_TEXTS = [
    ("nul", b'{"content":"a\\u0000b"}', "a\0b"),
    ("raw-nul", b'{"content":"a\0b"}', "a\0b"),
    ("invalid-utf8", b'{"content":"a\xff\xfeb\xed\xa0\x80"}', "a\ufffd"),
    ("lone-surrogate", b'{"content":"half \\ud83d of it"}', "half \ufffd of it"),
    ("cut-pair", b'{"content":"smile \\ud83d"}', "smile "),
    ("line-separators", b'{"content":"a\\u2028b\\u0085c"}', "a"),
]


@chat_only
@pytest.mark.parametrize(
    ("delta", "expected"),
    [case[1:] for case in ODD_TEXTS],
    ids=[case[0] for case in ODD_TEXTS],
)
def test_odd_bytes_in_a_text_are_told_and_kept(agent, request, delta, expected):
    said = f"say: {request.node.callspec.id}"
    agent.services.model.plan([stream(delta)])
    # Telegram takes no NUL; the message begins as it should.
    assert agent.ask(said)[:1] == expected[:1]
    go_on(agent, said)
    answers = [
        message["content"]
        for message in agent.services.model.requests[-1].json["messages"]
        if message["role"] == "assistant"
    ]
    assert answers[-1].startswith(expected), answers[-1]


def test_a_text_of_ten_megabytes(micropython32):
    said = "say: a long text"
    piece = b'{"content":"%s"}' % (b"x" * 60_000)
    # An agent of its own: the summary of a long history would take the reply that is planned.
    with heap.agent(HEAP_KB, llm={"api": "chat", "timeout_s": 600}) as agent:
        agent.idle()
        # Where the heap is in pieces the turn is tried once more.
        agent.services.model.plan([stream(*[piece] * 170)] * 2)
        # A text without spaces is cut off where a board's memory ends, or is a sentence.
        ends = ("(cut off: the reply has over 6144 bytes)", "did not fit into my memory")
        answer = whole_answer(agent, said, *ends)
        assert len(answer) < 6300
        agent.services.model.plan([])
        go_on(agent, said)


@chat_only
def test_a_long_reply_arrives_whole(agent):
    said = "say: a long story"
    words = [f"word {number} " for number in range(1200)]
    pieces = [b'{"content":"%s"}' % "".join(words[i : i + 8]).encode() for i in range(0, 1200, 8)]
    agent.services.model.plan([stream(*pieces)])
    assert whole_answer(agent, said, "word 1199").split() == "".join(words).split()
    go_on(agent, said)


def results(agent):
    """(name of the tool, result) of each call in the model's last request, in order."""
    names, found = {}, []
    for message in agent.services.model.requests[-1].json["messages"]:
        content = message["content"]
        for call in message.get("tool_calls") or ():
            names[call["id"]] = call["function"]["name"]
        if message["role"] == "tool":
            found.append((names.pop(message["tool_call_id"]), content))
        for block in content if isinstance(content, list) else ():
            if block["type"] == "tool_use":
                names[block["id"]] = block["name"]
            elif block["type"] == "tool_result":
                found.append((names.pop(block["tool_use_id"]), block["content"]))
    assert names == {}, "every call has a result"
    return found


# (name, the call, the name it is kept by, the result)
WRONG_CALLS = [
    ("unknown-tool", ToolCall("launch_rocket", {}), "launch_rocket", 'no tool "launch_rocket"'),
    ("no-name-of-a-tool", ToolCall("rm -rf /\0\n", {}), "rm_-rf____", "there is no tool"),
    ("a-list", ToolCall("i2c", ["scan"]), "i2c", "expected an object"),
    ("a-text", ToolCall("i2c", "scan"), "i2c", "expected an object"),
    ("a-number", ToolCall("i2c", 7), "i2c", "expected an object"),
    ("null", ToolCall("i2c", None), "i2c", "xample"),
    ("nul-bytes", ToolCall("read_file", {"path": "a\0b"}), "read_file", "error"),
    ("unknown-argument", ToolCall("i2c", {"action": "scan", "speed": 9}), "i2c", "speed"),
]


@pytest.mark.parametrize(
    ("call", "name", "result"),
    [case[1:] for case in WRONG_CALLS],
    ids=[case[0] for case in WRONG_CALLS],
)
def test_a_wrong_call_is_an_error_for_the_model(agent, request, call, name, result):
    said = f"say: {request.node.callspec.id}"
    agent.services.model.script = [Answer("", [call]), "I see."]
    assert agent.ask(said) == "I see."
    kept, text = results(agent)[-1]
    assert kept == name
    assert text.startswith("error: ") and result in text, text
    go_on(agent, said)


# (name, the arguments as they come inside the delta, the result)
WRONG_ARGUMENTS = [
    ("cut-off", rb"{\"action\":\"sc", "not JSON"),
    ("not-a-number", rb"{\"action\":\"scan\",\"length\":NaN}", "not JSON"),
    ("two-objects", rb"{}{}", "action is missing"),
    ("python-tuple", rb"('action', 'scan')", "not JSON"),
    ("deep", b'{\\"a\\":' + b"[" * 40 + b"]" * 40 + b"}", "error"),
    ("raw-nul", b'{\\"action\\":\\"sc\0an\\"}', "error"),
    ("raw-line-end", rb"{\"action\":\n\t\"nothing\"}", "error"),
    ("invalid-utf8", b'{\\"action\\":\\"\xff\xfe\\"}', "error"),
    ("lone-surrogate", rb"{\"action\":\"\\ud83d\"}", "error"),
]


@chat_only
@pytest.mark.parametrize(
    ("arguments", "result"),
    [case[1:] for case in WRONG_ARGUMENTS],
    ids=[case[0] for case in WRONG_ARGUMENTS],
)
def test_arguments_that_are_none_are_an_error_for_the_model(agent, request, arguments, result):
    said = f"say: {request.node.callspec.id}"
    call = (
        b'{"tool_calls":[{"index":0,"id":"c1","function":{"name":"i2c","arguments":"%s"}}]}'
        % arguments
    )
    agent.services.model.plan([stream(call, finish="tool_calls")])
    agent.services.model.script = ["I see."]
    assert agent.ask(said) == "I see."
    kept, text = results(agent)[-1]
    assert kept == "i2c"
    assert text.startswith("error: ") and result in text, text
    sent = agent.services.model.requests[-1].json["messages"]
    made = [call for message in sent for call in message.get("tool_calls") or ()]
    assert isinstance(json.loads(made[-1]["function"]["arguments"]), dict)
    go_on(agent, said)


def test_arguments_of_a_megabyte(agent):
    said = "say: a lot"
    model = agent.services.model
    model.fragment = 2000
    try:
        call = ToolCall("write_file", {"path": "big.txt", "content": "x" * MEGABYTE})
        model.script = [Answer("", [call]), "I see."]
        agent.ask(said, "I see.")
    finally:
        model.fragment = 5
    assert results(agent)[-1][1].startswith("error: write_file was not run")
    assert not (agent.root / "workspace" / "big.txt").exists()
    go_on(agent, said)


def test_several_wrong_calls_get_a_result_each_in_order(agent):
    calls = [
        ToolCall("launch_rocket", {}),
        ToolCall("i2c", {"action": "scan", "bus": "i2c0"}),
        ToolCall("i2c", [1]),
    ]
    agent.services.model.script = [Answer("", calls), "I see."]
    agent.ask("say: three", "I see.")
    found = results(agent)[-3:]
    assert [name for name, _ in found] == ["launch_rocket", "i2c", "i2c"]
    assert "no tool" in found[0][1] and "0x48" in found[1][1] and "object" in found[2][1]
    go_on(agent, "say: three")


# --- files on flash

GOOD = b'["u","the key is under the mat"]\n["a","I will remember."]\n'
TORN_TURN = b'["u","x"]\n["a",""]\n["c","c1","i2c",{"action":"scan"}]\n'

# (name, the session's file, is a copy saved as .bad)
SESSIONS = [
    ("torn-line", GOOD + b'["u","and then', True),
    ("torn-turn", GOOD + TORN_TURN, True),
    ("torn-character", GOOD + b'["u","gr\xc3', True),
    ("foreign-line", GOOD + b'{"role":"user","content":"hello"}\n' + GOOD, True),
    ("text", b"hello\nworld\n" + GOOD, True),
    ("nul-bytes", GOOD + b"\0" * 4096, True),
    ("invalid-utf8", GOOD + b'["u","\xff\xfe"]\n["a","ok"]\n', True),
    ("raw-nul", GOOD + b'["u","a\0b"]\n["a","ok"]\n', True),
    ("escaped-nul", GOOD + b'["u","a\\u0000b"]\n["a","ok"]\n', False),
    ("a-line-of-a-megabyte", b'["u","' + b"y" * MEGABYTE + b'"]\n' + GOOD, None),
    ("a-foreign-line-of-a-megabyte", b"z" * MEGABYTE + b"\n" + GOOD, None),
    ("result-without-call", GOOD + b'["t","c9","21.5"]\n' + GOOD, True),
    ("torn-summary", b'["s","they tal\n' + GOOD, True),
]


@pytest.mark.parametrize("api", ["chat", "messages"])
@pytest.mark.parametrize(
    ("data", "quarantined"), [case[1:] for case in SESSIONS], ids=[case[0] for case in SESSIONS]
)
def test_a_history_nobody_wrote_so(micropython32, api, data, quarantined):
    with heap.agent(HEAP_KB, session=data, llm={"api": api}) as agent:
        agent.idle()
        telegram = agent.services.telegram
        telegram.say(OWNER, "say: hello")
        telegram.wait_for(lambda _: any(one.text.startswith("hello") for one in telegram.sent))
        messages = json.dumps(agent.services.model.requests[-1].json["messages"])
        assert "the key is under the mat" in messages
        for foreign in ("signals", '"role\\"', "yyyy", "zzzz", "21.5", "they tal"):
            assert foreign not in messages
        told = [one.text for one in telegram.sent if "saved it as .bad" in one.text]
        folder = agent.root / "state" / "sessions"
        bad = sorted(folder.glob("*.bad"))
        if quarantined is not None:
            assert (len(told), len(bad)) == (int(quarantined), int(quarantined)), [told, bad]
        if bad:
            assert bad[0].read_bytes() == data
        agent.ask("say: and on", "and on")
        # Once repaired it is whole: every line is JSON of a known kind.
        if quarantined:
            for line in (folder / f"telegram_{OWNER}.jsonl").read_bytes().splitlines():
                assert json.loads(line)[0] in "uacnts"
        assert not any("Traceback" in line or "MemoryError" in line for line in agent.lines)
