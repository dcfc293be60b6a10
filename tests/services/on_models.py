"""Model servers that nobody here wrote: llmock and fakellm (PyPI) and aimock (npm), each with its
own idea of an API.

llmock has the error texts and stream events of each provider, breaks streams on demand, and judges
the client.
"""

import json
import sys

import pytest

from tests.ports import free_port
from tests.services.agent import INTERPRETERS, KEY, Agent, find
from tests.services.kit import call, need, node, npm, pypi, running

#: Provider of llmock: (api, path below the server).
PROVIDERS = {
    "openai": ("chat", "/v1"),
    "mistral": ("chat", "/mistral/v1"),
    "groq": ("chat", "/groq/openai/v1"),
    "together": ("chat", "/together/v1"),
    "perplexity": ("chat", "/perplexity/v1"),
    "ai21": ("chat", "/ai21/v1"),
    "xai": ("chat", "/xai/v1"),
    "anthropic": ("messages", "/anthropic"),
}
NOTE = "The cellar is at 12.5 degrees."
UMLAUTS = 'Grüße aus Zürich: 21,5 °C, 水温 18 度, 👩‍👩‍👧 und 😀. "quoted" \\ back\n\nNew line.'


@pytest.fixture(params=INTERPRETERS, scope="module")
def python(request):
    return find(request.param)


@pytest.fixture
def agent(tmp_path, python):
    made = Agent(tmp_path, python)
    made.write("note.md", NOTE)
    made.write("IDENTITY.md", "The agent of a cellar.")
    return made


def python_service(name, *args):
    """The command and environment of a service from PyPI."""
    folder = need(pypi, name)
    run = f"from {name}.cli import app; app()"
    return [sys.executable, "-c", run, *args], {
        "PYTHONPATH": folder,
        "PYTHONDONTWRITEBYTECODE": "1",
    }


# --- llmock


class Llmock:
    def __init__(self, port):
        self.url = f"http://127.0.0.1:{port}"

    def plan(self, *behaviors):
        call(self.url + "/_llmock/reset", {})
        if behaviors:
            call(self.url + "/_llmock/scenario", {"behaviors": list(behaviors)})

    def requests(self):
        return call(self.url + "/_llmock/requests")["requests"]

    def findings(self):
        """Return its findings about the client that are errors."""
        verdict = call(self.url + "/_llmock/verdict")
        return [one for one in verdict["findings"] if one["severity"] == "error"]


@pytest.fixture(scope="module")
def llmock(tmp_path_factory):
    folder = tmp_path_factory.mktemp("llmock")
    port = free_port()
    command, environment = python_service("llmock", "serve", "--port", str(port))
    with running(command, port, folder, environment):
        yield Llmock(port)


@pytest.fixture(params=PROVIDERS)
def provider(request, agent, llmock):
    """The agent set up for a provider of llmock."""
    api, path = PROVIDERS[request.param]
    llm = {"api": api, "base_url": llmock.url + path, "api_key": KEY, "model": "model-1"}
    agent.set(llm={**llm, "timeout_s": 120})
    llmock.plan()
    return request.param


def reply(text):
    return {"type": "reply", "text": text}


def calls(name, **arguments):
    return {"type": "reply", "tool_calls": [{"name": name, "arguments": arguments}]}


def test_llmock_a_text_arrives_as_it_was(agent, llmock, provider):
    llmock.plan(reply(UMLAUTS))
    said = agent.once("Hello?")
    assert (said.text, said.code) == (UMLAUTS, 0), said.log


def test_llmock_a_tool_is_called_and_its_result_told(agent, llmock, provider):
    llmock.plan(calls("read_file", path="note.md"), reply("It is 12.5."))
    said = agent.once("What does note.md say?")
    assert (said.text, said.code) == ("It is 12.5.", 0), said.log
    second = json.dumps(llmock.requests()[-1]["body"], ensure_ascii=False)
    assert NOTE in second
    assert llmock.findings() == []


def test_llmock_two_tools_in_one_reply(agent, llmock, provider):
    both = [
        {"name": "read_file", "arguments": {"path": "note.md"}},
        {"name": "list_dir", "arguments": {"path": "/workspace"}},
    ]
    llmock.plan({"type": "reply", "tool_calls": both}, reply("Both."))
    said = agent.once("Look round.")
    assert (said.text, said.code) == ("Both.", 0), said.log
    second = json.dumps(llmock.requests()[-1]["body"], ensure_ascii=False)
    assert NOTE in second
    assert "IDENTITY.md" in second


def test_llmock_a_tool_that_does_not_exist(agent, llmock, provider):
    llmock.plan({"type": "tool_fault", "kind": "unknown_tool"}, reply("I see."))
    said = agent.once("Look round.")
    assert said.code == 0, said.log
    assert "there is no tool" in json.dumps(llmock.requests()[-1]["body"])


def test_llmock_arguments_that_are_no_json(agent, llmock, provider):
    llmock.plan({"type": "tool_fault", "kind": "malformed_arguments"}, reply("I see."))
    said = agent.once("Look round.")
    assert said.code == 0, said.log
    assert "error" in json.dumps(llmock.requests()[-1]["body"])
    assert llmock.findings() == []


@pytest.mark.parametrize("status", [429, 500, 503])
def test_llmock_what_passes_is_tried_again(agent, llmock, provider, status):
    fail = {"type": "fail", "status": status}
    if status == 429:
        fail["retry_after"] = 1
    llmock.plan(fail, reply("Here I am."))
    said = agent.once("Hello?")
    assert (said.text, said.code) == ("Here I am.", 0), said.log
    assert llmock.findings() == []


@pytest.mark.parametrize("status", [401, 403, 404])
def test_llmock_what_does_not_pass_is_said_and_not_tried_again(agent, llmock, provider, status):
    llmock.plan({"type": "fail", "status": status, "times": None})
    said = agent.once("Hello?")
    assert said.code == 1
    assert said.text.startswith("tenner: "), said.text
    words = {401: "api_key", 403: "api_key", 404: "model"}
    assert words[status] in said.text.lower() or str(status) in said.text
    assert len(llmock.requests()) == 1
    assert llmock.findings() == []


def test_llmock_a_provider_that_is_down_is_said(agent, llmock, provider):
    llmock.plan({"type": "fail", "status": 503, "times": None})
    said = agent.once("Hello?")
    assert said.code == 1
    assert "503" in said.text or "overloaded" in said.text or "busy" in said.text, said.text
    assert len(llmock.requests()) <= 3
    assert llmock.findings() == []


@pytest.mark.parametrize("kind", ["disconnect", "truncate", "malformed"])
def test_llmock_a_stream_that_breaks_is_asked_for_again(agent, llmock, provider, kind):
    broken = {"type": "stream_fault", "kind": kind, "after_chunks": 3}
    llmock.plan(reply("One two three four five six seven."), broken, reply("Whole again."))
    said = agent.once("Hello?")
    assert (said.text, said.code) == ("Whole again.", 0), said.log
    assert llmock.findings() == []


def test_llmock_a_stream_that_hangs_is_given_up(agent, llmock, provider):
    llmock.plan({"type": "stream_fault", "kind": "stall", "stall_seconds": 300, "times": None})
    agent.set(llm={"timeout_s": 5})
    said = agent.once("Hello?")
    assert said.code == 1
    assert "5 s" in said.text, said.text


def test_llmock_a_slow_first_word_is_waited_for(agent, llmock, provider):
    llmock.plan({"type": "slow_first_token", "seconds": 1.5}, reply("There."))
    said = agent.once("Hello?")
    assert (said.text, said.code) == ("There.", 0), said.log


@pytest.mark.parametrize("status", [400, 402, 405, 408, 409, 422, 500, 502, 504, 529])
@pytest.mark.parametrize("provider", ["openai", "anthropic"], indirect=True)
def test_llmock_each_refusal_is_a_sentence(agent, llmock, provider, status):
    llmock.plan({"type": "fail", "status": status, "times": None, "message": "The words of it."})
    said = agent.once("Hello?")
    assert said.code == 1
    assert said.text.startswith("tenner: "), said.text
    assert "The words of it." in said.text, said.text
    assert "Traceback" not in said.log
    assert llmock.findings() == []


def test_llmock_a_prompt_that_is_too_long_is_said_to_be(agent, llmock, provider):
    llmock.plan({"type": "fail", "status": 413, "times": None})
    said = agent.once("Hello?")
    assert said.code == 1
    assert "too long" in said.text or "/new" in said.text, said.text


# --- fakellm

RULES = """
version: 1
defaults:
  fallback: deterministic_echo
rules:
  - name: note
    when: {turn: 1, messages_contain: "read the note"}
    respond:
      tool_calls:
        - {name: read_file, arguments: {path: "note.md"}}
  - name: told
    when: {tool_result_contains: "12.5 degrees"}
    respond: {content: "The note says 12.5."}
  - name: two
    when: {turn: 1, messages_contain: "look twice"}
    respond:
      tool_calls:
        - {name: read_file, arguments: {path: "note.md"}}
        - {name: read_file, arguments: {path: "none.md"}}
  - name: words
    when: {messages_contain: "umlauts"}
    respond: {content: "Grüße, 21,5 °C 😀"}
"""


@pytest.fixture(scope="module")
def fakellm(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fakellm")
    (folder / "rules.yaml").write_text(RULES, encoding="utf-8")
    port = free_port()
    words = ["serve", "--port", str(port), "--config", str(folder / "rules.yaml")]
    folder_of = need(pypi, "fakellm")
    run = [sys.executable, "-c", "from fakellm.cli import main; main()", *words]
    with running(run, port, folder, {"PYTHONPATH": folder_of, "PYTHONDONTWRITEBYTECODE": "1"}):
        yield f"http://127.0.0.1:{port}"


@pytest.fixture(params=["chat", "messages"])
def faked(request, agent, fakellm):
    path = "/v1" if request.param == "chat" else ""
    agent.set(llm={"api": request.param, "base_url": fakellm + path, "api_key": KEY, "model": "m"})
    call(fakellm + "/_fakellm/reset", {})
    return agent


def test_fakellm_a_tool_and_what_it_said(faked):
    said = faked.once("Please read the note.")
    assert (said.text, said.code) == ("The note says 12.5.", 0), said.log


def test_fakellm_two_tools_one_of_which_fails(faked):
    said = faked.once("Please look twice.")
    assert (said.text, said.code) == ("The note says 12.5.", 0), said.log


def test_fakellm_letters(faked):
    assert faked.once("Some umlauts, please.").text == "Grüße, 21,5 °C 😀"


def test_fakellm_an_echo(faked):
    said = faked.once("Anything else.")
    assert said.code == 0
    assert said.text


# --- aimock

FIXTURES = [
    ({"toolResultContains": "12.5 degrees"}, {"content": "The note says 12.5."}),
    (
        {"userMessage": "read the note"},
        {"toolCalls": [{"name": "read_file", "arguments": {"path": "note.md"}}]},
    ),
    (
        {"userMessage": "say and do"},
        {
            "content": "I look.",
            "toolCalls": [{"name": "read_file", "arguments": {"path": "note.md"}}],
        },
    ),
    ({"userMessage": "umlauts"}, {"content": UMLAUTS}),
    ({"userMessage": "much"}, {"content": "word " * 700}),
    ({"userMessage": "nothing"}, {"content": ""}),
    ({"userMessage": "think"}, {"reasoning": "Let me see.", "content": "Done."}),
    (
        {"userMessage": "too many"},
        {"error": {"message": "Rate limit reached", "type": "rate_limit_error"}, "status": 429},
    ),
    (
        {"userMessage": "no key"},
        {"error": {"message": "Incorrect API key", "type": "authentication_error"}, "status": 401},
    ),
]


class Aimock:
    def __init__(self, port):
        self.url = f"http://127.0.0.1:{port}"

    def chaos(self, **rates):
        call(self.url + "/__aimock/chaos", method="DELETE")
        if rates:
            call(self.url + "/__aimock/chaos", rates)

    def requests(self):
        return call(self.url + "/__aimock/journal")


@pytest.fixture(scope="module", params=[1, 7, 20], ids=lambda size: f"chunks-of-{size}")
def aimock(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("aimock")
    rows = [{"match": match, "response": response} for match, response in FIXTURES]
    (folder / "fixtures.json").write_text(json.dumps({"fixtures": rows}), encoding="utf-8")
    port = free_port()
    script = need(npm, "@copilotkit/aimock") / "dist" / "cli.js"
    assert script.exists()
    words = ["-p", str(port), "-f", str(folder / "fixtures.json"), "-c", str(request.param)]
    with running(need(node, "@copilotkit/aimock", "dist/cli.js", *words), port, folder):
        yield Aimock(port)


@pytest.fixture(params=["chat", "messages"])
def aimocked(request, agent, aimock):
    path = "/v1" if request.param == "chat" else ""
    llm = {"api": request.param, "base_url": aimock.url + path, "api_key": KEY, "model": "gpt-4o"}
    agent.set(llm={**llm, "timeout_s": 120})
    aimock.chaos()
    return agent


def test_aimock_letters_whatever_the_size_of_a_chunk(aimocked):
    said = aimocked.once("Some umlauts, please.")
    assert (said.text, said.code) == (UMLAUTS, 0), said.log


def test_aimock_a_tool_and_what_it_said(aimocked):
    said = aimocked.once("Please read the note.")
    assert (said.text, said.code) == ("The note says 12.5.", 0), said.log


def test_aimock_words_before_a_tool(aimocked):
    said = aimocked.once("Please say and do.")
    assert said.code == 0, said.log
    assert said.text.endswith("The note says 12.5.")


def test_aimock_a_long_reply_is_whole(aimocked):
    said = aimocked.once("Tell me much.")
    assert said.text.split() == ["word"] * 700, said.log


def test_aimock_thoughts_are_not_said(aimocked):
    assert aimocked.once("Please think.").text == "Done."


def test_aimock_an_empty_reply_is_said_to_be(aimocked):
    said = aimocked.once("Say nothing.")
    assert said.text, said.log


@pytest.mark.parametrize(("words", "told"), [("too many", "limit"), ("no key", "key")])
def test_aimock_refusals(aimocked, words, told):
    said = aimocked.once(words)
    assert said.code == 1
    assert told in said.text.lower()


@pytest.mark.parametrize("kind", ["dropRate", "malformedRate", "disconnectRate", "rateLimitRate"])
def test_aimock_chaos_of_one_kind_is_a_sentence(aimocked, aimock, kind):
    aimock.chaos(**{kind: 1.0})
    try:
        said = aimocked.once("Some umlauts, please.")
    finally:
        aimock.chaos()
    assert said.code == 1
    assert said.text.startswith("tenner: ")
    assert "Traceback" not in said.log
