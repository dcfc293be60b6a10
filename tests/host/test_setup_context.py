"""`tenner setup` and `tenner doctor` ask the owner's own model server for its context."""

import pytest

from tenner_host.board.probe import Fetched, ProbeError
from tenner_host.doctor import outside
from tenner_host.setup import context

# As the servers answer, without needless keys; the board reads 4 KB at most.
VLLM = b'{"object":"list","data":[{"id":"qwen3","object":"model","owned_by":"vllm","max_model_len":8192}]}'  # noqa: E501
LLAMA_CPP = b'{"default_generation_settings":{"n_ctx":4096,"params":{}},"total_slots":1,"chat_template":"{%- if'  # noqa: E501
OLLAMA = (
    b'{"models":[{"name":"gemma3:4b","model":"gemma3:4b","context_length":32768},'
    b'{"name":"qwen3:latest","model":"qwen3:latest","size_vram":1,"context_length":4096}]}'
)
LM_STUDIO = (
    b'{"id":"qwen3","state":"loaded","max_context_length":131072,"loaded_context_length":4096}'
)
LIST = b'{"object":"list","data":[{"id":"qwen3","object":"model","owned_by":"library"}]}'
HOST = "http://192.168.1.2:8000"


@pytest.fixture
def server(monkeypatch):
    """Answers by path; the list of requests."""
    asked = []

    def use(pages):
        def fetch(_board, url, *, headers):
            asked.append((url, headers))
            body = pages.get(url.removeprefix(HOST))
            if body is None:
                return Fetched(404, b"404 page not found", 1)
            return Fetched(200, body, 1)

        monkeypatch.setattr(context, "fetch", fetch)
        return asked

    return use


def settings(**llm):
    return {"llm": {"base_url": f"{HOST}/v1", "model": "qwen3", "api_key": "k", **llm}}


@pytest.mark.parametrize(
    ("pages", "tokens"),
    [
        ({"/v1/models": VLLM}, 8192),
        ({"/v1/models": LIST, "/props": LLAMA_CPP}, 4096),
        ({"/v1/models": LIST, "/api/ps": OLLAMA}, 4096),
        ({"/v1/models": LIST, "/api/v0/models/qwen3": LM_STUDIO}, 4096),
        ({"/v1/models": LIST}, 0),
        ({"/v1/models": b"<html>log in</html>"}, 0),
    ],
)
def test_each_server_is_understood(server, pages, tokens):
    asked = server(pages)
    assert context.context_tokens(None, settings()) == tokens
    assert asked[0] == (f"{HOST}/v1/models", {"Authorization": "Bearer k"})


def test_the_setting_is_lowered_and_never_raised(server):
    server({"/v1/models": VLLM})
    found = settings()
    assert (
        context.fit(None, found) == "its context is 8192 tokens: llm.context_tokens is set to that"
    )
    assert found["llm"]["context_tokens"] == 8192
    assert context.fit(None, found) == ""
    found = settings(context_tokens=6000)
    assert context.fit(None, found) == ""
    assert found["llm"]["context_tokens"] == 6000


def test_a_context_too_small_for_an_agent_is_said(server):
    server({"/props": b'{"default_generation_settings":{"n_ctx":512}}'})
    found = settings()
    assert "512 tokens is too small for an agent: give it 4,096 or more" in context.fit(
        None, found
    )
    assert found["llm"]["context_tokens"] == 2000


def test_a_public_provider_is_not_asked(server):
    asked = server({"/v1/models": VLLM})
    assert context.fit(None, settings(base_url="https://api.openai.com/v1")) == ""
    assert asked == []


def test_a_server_that_stops_answering_tells_nothing(monkeypatch):
    def fetch(*_args, **_named):
        raise ProbeError("answer", "it hangs: try again")

    monkeypatch.setattr(context, "fetch", fetch)
    assert context.fit(None, settings()) == ""


def test_doctor_compares(server, monkeypatch):
    server({"/v1/models": VLLM})
    monkeypatch.setattr(outside, "check_model", lambda *_: "it answers")
    findings = list(outside._model(None, settings()))
    assert findings[-1].check == "context"
    assert "has room for 8192 tokens, and llm.context_tokens is 16000" in findings[-1].text
    assert "--set llm.context_tokens=8192" in findings[-1].do
    findings = list(outside._model(None, settings(context_tokens=8192)))
    assert "context" not in [finding.check for finding in findings]
