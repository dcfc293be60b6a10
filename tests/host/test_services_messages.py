"""The offline model's messages API: event shapes, and the refusals of the real API."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import Any

import pytest

from tenner_sim.services import API_KEY, MODEL, OfflineModel
from tests import photos, provider_requests
from tests.host.services_client import Http

TOOL = {
    "name": "i2c",
    "description": "I2C",
    "input_schema": {
        "type": "object",
        "properties": {"action": {"type": "string"}, "address": {"type": "string"}},
    },
}
HEADERS = {"x-api-key": API_KEY, "anthropic-version": "2023-06-01"}
USE = {"type": "tool_use", "id": "toolu_1", "name": "i2c", "input": {}}
RESULT = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "0x19 0x00"}


@pytest.fixture(scope="module")
def model() -> Iterator[OfflineModel]:
    provider_requests.load("messages")
    with OfflineModel() as running:
        yield running


def post(model: OfflineModel, body: Any, headers: dict[str, str] = HEADERS) -> tuple[int, Any]:
    reply = Http(model.url).post("/v1/messages", body, headers)
    return reply.status, reply.json


def request(**changes: Any) -> dict[str, Any]:
    base = {"model": MODEL, "max_tokens": 100, "messages": [user("say hi")]}
    return {key: value for key, value in {**base, **changes}.items() if value is not ...}


def user(content: Any) -> dict[str, Any]:
    return {"role": "user", "content": content}


def assistant(*blocks: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": list(blocks)}


def test_a_plain_reply(model: OfflineModel) -> None:
    status, reply = post(model, request())
    assert status == 200
    assert reply["type"] == "message"
    assert reply["content"] == [{"type": "text", "text": "hi"}]
    assert reply["stop_reason"] == "end_turn"
    assert reply["usage"]["output_tokens"] == 1


def test_a_streamed_reply(model: OfflineModel) -> None:
    body = request(
        system=[
            {
                "type": "text",
                "text": "You look after a room.",
                "cache_control": {"type": "ephemeral"},
            }
        ],
        messages=[user(ASK)],
        tools=[TOOL],
        stream=True,
    )
    reply = Http(model.url).post("/v1/messages", body, HEADERS)
    events = [
        dict(line.split(": ", 1) for line in block.splitlines())
        for block in reply.body.decode().strip().split("\n\n")
    ]
    data = [json.loads(event["data"]) for event in events]
    assert [event["event"] for event in events] == [item["type"] for item in data]
    kinds = [kind for kind, before in zip(data, [{}, *data]) if kind["type"] != before.get("type")]
    assert [item["type"] for item in kinds] == [
        "message_start",
        "content_block_start",
        "ping",
        "content_block_delta",
        "content_block_stop",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
    ]
    partial = "".join(
        item["delta"]["partial_json"]
        for item in data
        if item["type"] == "content_block_delta" and item["delta"]["type"] == "input_json_delta"
    )
    assert json.loads(partial) == {
        "action": "read",
        "bus": "i2c0",
        "address": 0x48,
        "register": 0,
        "length": 2,
    }
    assert data[-2]["delta"]["stop_reason"] == "tool_use"


def test_round_trip(model: OfflineModel) -> None:
    status, reply = post(
        model,
        request(
            system="You look after a room.",
            messages=[user(ASK)],
            tools=[TOOL],
        ),
    )
    assert status == 200
    use = reply["content"][-1]
    messages = [
        user(ASK),
        assistant(*reply["content"]),
        user([{"type": "tool_result", "tool_use_id": use["id"], "content": "0x19 0x00"}]),
    ]
    status, reply = post(
        model, request(system="You look after a room.", messages=messages, tools=[TOOL])
    )
    assert reply["content"][0]["text"] == "The TMP102 at 0x48 on i2c0 reads 25 °C."


def test_length_stop(model: OfflineModel) -> None:
    _, reply = post(model, request(max_tokens=2, messages=[user("say something long 50")]))
    assert reply["stop_reason"] == "max_tokens"


ASK = "What does the TMP102 at 0x48 on i2c0 say?"
MARK = {"cache_control": {"type": "ephemeral"}}
REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("no max_tokens", {"max_tokens": ...}, "max_tokens: Field required"),
    ("max_tokens 0", {"max_tokens": 0}, "max_tokens"),
    ("max_tokens huge", {"max_tokens": 10**6}, "max_tokens is too large"),
    ("no messages", {"messages": []}, "at least one message is required"),
    ("assistant first", {"messages": [assistant({"type": "text", "text": "x"})]}, "first message"),
    (
        "system role",
        {"messages": [{"role": "system", "content": "x"}]},
        'Unexpected role "system"',
    ),
    ("tool role", {"messages": [{"role": "tool", "content": "x"}]}, "messages.0.role"),
    ("empty content", {"messages": [user("")]}, "must have non-empty content"),
    ("empty text", {"messages": [user([{"type": "text", "text": ""}])]}, "non-whitespace"),
    ("blank text", {"messages": [user([{"type": "text", "text": " "}])]}, "non-whitespace"),
    ("unknown key", {"messages": [{**user("x"), "name": "y"}]}, "Extra inputs"),
    ("unknown parameter", {"max_completion_tokens": 3}, "Extra inputs are not permitted"),
    ("orphan result", {"messages": [user([RESULT])]}, "unexpected `tool_result`"),
    (
        "call without result",
        {"messages": [user("x"), assistant(USE), user("y")]},
        "`tool_use` without `tool_result` right after it: ['toolu_1']",
    ),
    (
        "call at the end",
        {"messages": [user("x"), assistant(USE)]},
        "`tool_use` without `tool_result`",
    ),
    (
        "text before result",
        {"messages": [user("x"), assistant(USE), user([{"type": "text", "text": "y"}, RESULT])]},
        "unexpected `tool_result`",
    ),
    (
        "result twice",
        {"messages": [user("x"), assistant(USE), user([RESULT, RESULT])]},
        "unexpected `tool_result`",
    ),
    (
        "id twice",
        {"messages": [user("x"), assistant(USE), user([RESULT]), assistant(USE), user([RESULT])]},
        "ids must be unique",
    ),
    (
        "input a string",
        {"messages": [user("x"), assistant({**USE, "input": "{}"}), user([RESULT])]},
        "messages.1.content.0.input",
    ),
    (
        "bad id",
        {"messages": [user("x"), assistant({**USE, "id": "a.b"}), user([RESULT])]},
        "tool_use.id",
    ),
    ("bad tool name", {"tools": [{**TOOL, "name": "a.b"}]}, "tools.0.name"),
    ("duplicate tool", {"tools": [TOOL, TOOL]}, "Tool names must be unique"),
    ("no schema", {"tools": [{"name": "x"}]}, "input_schema: Field required"),
    ("schema no object", {"tools": [{**TOOL, "input_schema": {"type": "array"}}]}, "'object'"),
    ("openai's tool", {"tools": [{**TOOL, "parameters": {}}]}, "Extra inputs"),
    (
        "five cache marks",
        {"messages": [user([{"type": "text", "text": "x", **MARK}] * 5)]},
        "5 blocks with cache_control, at most 4",
    ),
    ("empty cached system", {"system": [{"type": "text", "text": "", **MARK}]}, "non-whitespace"),
]


@pytest.mark.parametrize(
    ("changes", "says"), [case[1:] for case in REFUSED], ids=[c[0] for c in REFUSED]
)
def test_a_wrong_request_is_refused(
    model: OfflineModel, changes: dict[str, Any], says: str
) -> None:
    status, reply = post(model, request(**changes))
    assert status == 400
    assert reply["type"] == "error"
    assert reply["error"]["type"] == "invalid_request_error"
    assert says in reply["error"]["message"]


@pytest.mark.parametrize(
    ("headers", "status", "kind"),
    [
        ({"anthropic-version": "2023-06-01"}, 401, "authentication_error"),
        ({**HEADERS, "x-api-key": "wrong"}, 401, "authentication_error"),
        ({"x-api-key": API_KEY}, 400, "invalid_request_error"),
        ({**HEADERS, "anthropic-version": "1"}, 400, "invalid_request_error"),
    ],
)
def test_headers_are_checked(
    model: OfflineModel, headers: dict[str, str], status: int, kind: str
) -> None:
    got, reply = post(model, request(), headers)
    assert got == status
    assert reply["error"]["type"] == kind


def test_unknown_model(model: OfflineModel) -> None:
    status, reply = post(model, request(model="claude-none"))
    assert status == 404
    assert reply["error"] == {
        "type": "not_found_error",
        "message": "The model `claude-none` does not exist.",
    }


def test_consecutive_roles_are_joined(model: OfflineModel) -> None:
    assert post(model, request(messages=[user("hello"), user("say hi")]))[0] == 200


def picture(data: bytes, kind: str = "image/png") -> dict[str, Any]:
    text = base64.b64encode(data).decode()
    return {"type": "image", "source": {"type": "base64", "media_type": kind, "data": text}}


def test_pictures(model: OfflineModel) -> None:
    text = {"type": "text", "text": "what?"}
    data = photos.photo(90, 67, "PNG")
    seen = request(messages=[user([picture(data), text])])
    status, reply = post(model, seen)
    assert (status, reply["content"][0]["text"]) == (200, f"I see image/png, {len(data)} bytes.")
    damaged = picture(data)
    damaged["source"]["data"] = damaged["source"]["data"][:-5] + "\\"
    for block, says in (
        (picture(data, "image/jpeg"), "does not match the provided media type image/jpeg"),
        (picture(data[: len(data) // 2]), "Could not process image"),
        (picture(b"x"), "Could not process image"),
        (damaged, "valid base64"),
    ):
        status, reply = post(model, request(messages=[user([block, text])]))
        assert status == 400 and says in reply["error"]["message"], reply
    status, reply = post(model, request(messages=[user("hi"), assistant(picture(data))]))
    assert status == 400
