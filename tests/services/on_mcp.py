"""MCP reference servers (npm): `everything` over its own HTTP, `memory` and `filesystem` behind
the bridge supergateway."""

import json
import os
import re
import shlex

import pytest

from tests.ports import free_port
from tests.services.agent import KEY
from tests.services.kit import need, node, running
from tests.services.on_models import agent, calls, llmock, python, reply  # noqa: F401 -- fixtures

REFERENCE = "@modelcontextprotocol/server-"


@pytest.fixture(scope="module")
def everything(tmp_path_factory):
    folder = tmp_path_factory.mktemp("everything")
    port = free_port()
    command = need(node, REFERENCE + "everything", "dist/index.js", "streamableHttp")
    with running(command, port, folder, {"PORT": str(port)}):
        yield f"http://127.0.0.1:{port}/mcp"


@pytest.fixture(params=["stateless", "stateful"])
def bridge(request, tmp_path):
    """Start a server of standard input and output behind the bridge, which keeps sessions or does
    not."""
    started = []

    def start(name, *args, **environment):
        port = free_port()
        command = shlex.join(need(node, REFERENCE + name, "dist/index.js", *args))
        options = ["--stdio", command, "--outputTransport", "streamableHttp"]
        options += ["--port", str(port), "--logLevel", "none"]
        if request.param == "stateful":
            options.append("--stateful")
        found = running(
            need(node, "supergateway", "dist/index.js", *options), port, tmp_path, environment
        )
        started.append(found)
        found.__enter__()
        return f"http://127.0.0.1:{port}/mcp"

    yield start
    for one in started:
        one.__exit__(None, None, None)


@pytest.fixture
def ask(agent, llmock):  # noqa: F811
    """Have the model call a tool of the server at a URL; return the offered tools, and the
    result."""

    def run(url, tool, **arguments):
        llm = {"api": "chat", "base_url": llmock.url + "/v1", "api_key": KEY, "model": "model-1"}
        agent.set(llm={**llm, "context_tokens": 64000})
        agent.set(mcp={"ref": {"url": url, "tools": ["*"]}}, tools={f"ref-{tool}": "allow"})
        llmock.plan(calls(f"ref-{tool}", **arguments), reply("Done."))
        said = agent.once("Do it.")
        assert (said.text, said.code) == ("Done.", 0), said.log
        requests = llmock.requests()
        assert llmock.findings() == []
        offered = [one["function"]["name"] for one in requests[0]["body"].get("tools", [])]
        told = [
            one["content"] for one in requests[-1]["body"]["messages"] if one["role"] == "tool"
        ]
        return offered, told[-1]

    return run


# (tool, arguments, the model's view of the result)
EVERYTHING = [
    ("echo", {"message": "Grüße 😀"}, "Grüße 😀"),
    ("get-sum", {"a": 2, "b": 40}, "42"),
    ("get-structured-content", {"location": "New York"}, "temperature"),
    ("get-tiny-image", {}, "image"),
    ("get-annotated-message", {"messageType": "error", "includeImage": False}, "Error"),
    ("get-resource-links", {"count": 2}, "esource"),
    ("trigger-long-running-operation", {"duration": 1, "steps": 2}, "completed"),
    ("get-sum", {"a": "two", "b": 1}, "error"),
    ("echo", {}, "error"),
]


@pytest.mark.parametrize(
    ("tool", "arguments", "told"),
    EVERYTHING,
    ids=[f"{n}-{row[0]}" for n, row in enumerate(EVERYTHING)],
)
def test_everything_a_tool_answers(ask, everything, tool, arguments, told):
    offered, result = ask(everything, tool, **arguments)
    assert f"ref-{tool}" in offered, offered
    assert told in result, result


def test_everything_no_tool_of_that_name(ask, everything):
    _, result = ask(everything, "no-such-tool")
    assert result.startswith("error: there is no tool"), result


def test_memory_remembers_between_calls(ask, bridge, tmp_path):
    url = bridge("memory", MEMORY_FILE_PATH=str(tmp_path / "memory.jsonl"))
    entity = {"name": "freezer", "entityType": "place", "observations": ["at -18 °C"]}
    offered, result = ask(url, "create_entities", entities=[entity])
    assert "ref-create_entities" in offered and "freezer" in result
    _, result = ask(url, "search_nodes", query="freezer")
    assert "at -18 °C" in result
    _, result = ask(url, "read_graph")
    assert "freezer" in result


def test_memory_arguments_of_a_wrong_shape(ask, bridge, tmp_path):
    url = bridge("memory", MEMORY_FILE_PATH=str(tmp_path / "memory.jsonl"))
    _, result = ask(url, "create_entities", entities="freezer")
    assert "error" in result.lower(), result


def test_filesystem_reads_and_writes(ask, bridge, tmp_path):
    place = tmp_path / "files"
    place.mkdir()
    (place / "note.txt").write_text("12.5 degrees\n")
    url = bridge("filesystem", str(place))
    offered, result = ask(url, "read_text_file", path=str(place / "note.txt"))
    assert "ref-read_text_file" in offered and "12.5 degrees" in result
    ask(url, "write_file", path=str(place / "new.txt"), content="Grüße\n")
    assert (place / "new.txt").read_text() == "Grüße\n"
    _, result = ask(url, "list_directory", path=str(place))
    assert "new.txt" in result


def test_filesystem_refuses_what_is_outside(ask, bridge, tmp_path):
    place = tmp_path / "files"
    place.mkdir()
    url = bridge("filesystem", str(place))
    _, result = ask(url, "read_text_file", path=os.devnull)
    assert re.search("denied|outside", result), result


def test_filesystem_a_large_file_is_cut(ask, bridge, tmp_path):
    place = tmp_path / "files"
    place.mkdir()
    (place / "large.txt").write_text("word " * 4000)
    url = bridge("filesystem", str(place))
    _, result = ask(url, "read_text_file", path=str(place / "large.txt"))
    assert len(json.dumps(result)) < 4000, len(result)
    assert "word word" in result


def test_everything_that_is_down_leaves_the_rest(ask):
    url = f"http://127.0.0.1:{free_port()}/mcp"
    offered, result = ask(url, "echo", message="x")
    assert "read_file" in offered
    assert "error" in result
