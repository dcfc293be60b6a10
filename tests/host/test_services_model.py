"""The offline model, seen through the official `openai` client over verified TLS."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import Any

import openai
import pytest

from tenner_sim.services import API_KEY, MODEL, Answer, Services, ToolCall
from tenner_sim.services.offline_model import estimate
from tests import photos

I2C = {
    "type": "function",
    "function": {
        "name": "i2c",
        "description": "Talk to a chip on an I2C bus.",
        "parameters": {
            "type": "object",
            "properties": {
                "action": {"type": "string", "enum": ["scan", "read", "write"]},
                "bus": {"type": "string"},
                "address": {"type": "string"},
                "register": {"type": "integer"},
                "length": {"type": "integer"},
            },
            "required": ["action"],
        },
    },
}


@pytest.fixture(scope="module")
def services() -> Iterator[Services]:
    with Services() as running:
        yield running


@pytest.fixture
def client(services: Services) -> Iterator[openai.OpenAI]:
    with connect(services) as made:
        yield made


def connect(services: Services, key: str = API_KEY) -> openai.OpenAI:
    assert services.authority is not None
    http = openai.DefaultHttpxClient(verify=services.authority.client_context())
    return openai.OpenAI(
        base_url=services.model.base_url, api_key=key, http_client=http, max_retries=0
    )


def user(text: str) -> Any:
    return {"role": "user", "content": text}


def test_plain_answer_says_who_it_is(client: openai.OpenAI) -> None:
    reply = client.chat.completions.create(model=MODEL, messages=[user("hello there")])
    text = reply.choices[0].message.content or ""
    assert "offline stand-in" in text
    assert "hello there" in text
    assert reply.model == MODEL
    assert reply.choices[0].finish_reason == "stop"
    assert reply.usage is not None
    assert reply.usage.total_tokens == reply.usage.prompt_tokens + reply.usage.completion_tokens


def test_same_request_same_answer(client: openai.OpenAI) -> None:
    replies = [
        client.chat.completions.create(model=MODEL, messages=[user("say something long 300")])
        for _ in range(2)
    ]
    texts = [reply.choices[0].message.content for reply in replies]
    assert texts[0] == texts[1]
    assert len(texts[0] or "") == 300


@pytest.mark.parametrize("usage", [True, False])
def test_streamed_answer(client: openai.OpenAI, usage: bool) -> None:
    chunks = list(
        client.chat.completions.create(
            model=MODEL,
            messages=[user("say Grüße 😀 and good night")],
            stream=True,
            stream_options={"include_usage": usage},
        )
    )
    text = "".join(c.choices[0].delta.content or "" for c in chunks if c.choices)
    assert text.encode("utf-16-le", "surrogatepass").decode("utf-16-le") == (
        "Grüße 😀 and good night"
    )
    assert [c.choices[0].finish_reason for c in chunks if c.choices][-1] == "stop"
    assert (chunks[-1].usage is not None) is usage
    assert (chunks[-1].choices == []) is usage


def test_tool_round_trip_plain_and_streamed(client: openai.OpenAI) -> None:
    messages: list[Any] = [
        {"role": "system", "content": "You look after a room."},
        user("What does the TMP102 at 0x48 on i2c0 say?"),
    ]
    tools: list[Any] = [I2C]
    reply = client.chat.completions.create(model=MODEL, messages=messages, tools=tools)
    message = reply.choices[0].message
    assert reply.choices[0].finish_reason == "tool_calls"
    assert message.tool_calls is not None
    call = message.tool_calls[0]
    assert call.type == "function"
    assert json.loads(call.function.arguments) == {
        "action": "read",
        "bus": "i2c0",
        "address": 0x48,
        "register": 0,
        "length": 2,
    }

    names, ids, arguments = [], [], ""
    for chunk in client.chat.completions.create(
        model=MODEL, messages=messages, tools=tools, stream=True
    ):
        for part in chunk.choices[0].delta.tool_calls or []:
            assert part.function is not None
            names += [part.function.name] if part.function.name else []
            ids += [part.id] if part.id else []
            arguments += part.function.arguments or ""
    assert names == ["i2c"]
    assert len(ids) == 1
    assert arguments == call.function.arguments

    messages.append(message.model_dump(exclude_none=True))
    messages.append({"role": "tool", "tool_call_id": call.id, "content": "0x1f 0x80"})
    reply = client.chat.completions.create(model=MODEL, messages=messages, tools=tools)
    text = reply.choices[0].message.content
    assert text == "The TMP102 at 0x48 on i2c0 reads 31.5 °C."


def test_models_are_listed(client: openai.OpenAI) -> None:
    assert [model.id for model in client.models.list()][0] == MODEL
    assert client.models.retrieve(MODEL).id == MODEL


def test_max_tokens_cuts_the_answer(client: openai.OpenAI) -> None:
    reply = client.chat.completions.create(
        model=MODEL, messages=[user("say something long 1000")], max_tokens=10
    )
    assert reply.choices[0].finish_reason == "length"
    assert len(reply.choices[0].message.content or "") == 40


def test_wrong_key(services: Services) -> None:
    with connect(services, "wrong") as client, pytest.raises(openai.AuthenticationError) as caught:
        client.chat.completions.create(model=MODEL, messages=[user("hi")])
    assert caught.value.code == "invalid_api_key"


def test_unknown_model(client: openai.OpenAI) -> None:
    with pytest.raises(openai.NotFoundError) as caught:
        client.chat.completions.create(model="gpt-none", messages=[user("hi")])
    assert caught.value.code == "model_not_found"
    assert "`gpt-none` does not exist" in caught.value.message


CALL = {"id": "c1", "type": "function", "function": {"name": "i2c", "arguments": "{}"}}
ASSISTANT = {"role": "assistant", "content": None, "tool_calls": [CALL]}
RESULT = {"role": "tool", "tool_call_id": "c1", "content": "ok"}


def function(**changes: Any) -> dict[str, Any]:
    return {"type": "function", "function": {**I2C["function"], **changes}}  # type: ignore[dict-item]


REFUSED: list[tuple[str, dict[str, Any], str]] = [
    (
        "unknown key of a message",
        {"messages": [{**user("x"), "priority": 1}]},
        "messages.0.priority",
    ),
    ("no messages", {"messages": []}, "empty array"),
    ("messages missing", {"messages": None}, "list of 'messages'"),
    ("messages no list", {"messages": "hi"}, "list of 'messages'"),
    ("unknown role", {"messages": [{"role": "human", "content": "x"}]}, "messages.0.role"),
    ("null content", {"messages": [{"role": "user", "content": None}]}, "messages.0.content"),
    ("content a number", {"messages": [{"role": "user", "content": 3}]}, "messages.0.content"),
    ("part without text", {"messages": [user([{"type": "text"}])]}, "Field required"),  # type: ignore[arg-type]
    ("orphan result", {"messages": [user("x"), RESULT]}, "a result without a call"),
    (
        "result after a person spoke",
        {"messages": [ASSISTANT, user("x"), RESULT]},
        "no result of the calls ['c1']",
    ),
    ("call without result", {"messages": [user("x"), ASSISTANT]}, "no result of the calls ['c1']"),
    ("two results", {"messages": [ASSISTANT, RESULT, RESULT]}, "a result without a call"),
    (
        "result without id",
        {"messages": [ASSISTANT, {"role": "tool", "content": "x"}]},
        "messages.1.tool_call_id: Field required",
    ),
    (
        "empty tool_calls",
        {"messages": [{"role": "assistant", "content": "x", "tool_calls": []}]},
        "empty array",
    ),
    (
        "arguments an object",
        {
            "messages": [
                {
                    **ASSISTANT,
                    "tool_calls": [{**CALL, "function": {"name": "i2c", "arguments": {}}}],
                },
                RESULT,
            ]
        },
        "valid string",
    ),
    ("no tools", {"tools": []}, "empty array"),
    ("bad tool name", {"tools": [function(name="i2c.read")]}, "does not match"),
    ("long tool name", {"tools": [function(name="x" * 65)]}, "does not match"),
    ("duplicate tool", {"tools": [I2C, I2C]}, "twice"),
    (
        "schema no object",
        {"tools": [function(parameters={"type": "array"})]},
        "Input should be 'object'",
    ),
    (
        "schema of unknown type",
        {"tools": [function(parameters={"type": "object", "properties": {"a": {"type": "int"}}})]},
        "'int' is not valid",
    ),
    (
        "schema requires the unknown",
        {"tools": [function(parameters={"type": "object", "required": ["a"]})]},
        "'required' names 'a'",
    ),
    ("tool without function", {"tools": [{"type": "function"}]}, "Field required"),
    ("max_tokens 0", {"max_tokens": 0}, "max_tokens: below 1"),
    ("max_tokens huge", {"max_tokens": 10**6}, "max_tokens is too large"),
    ("max_tokens a string", {"max_tokens": "10"}, "max_tokens"),
    ("unknown parameter", {"maxtokens": 3}, "maxtokens: Extra inputs are not permitted"),
    ("stream a string", {"stream": "yes"}, "stream"),
    ("stream a number", {"stream": 0}, "stream: Input should be a valid bool"),
    ("tools a text", {"tools": ""}, "tools: Input should be a valid list"),
    ("temperature a string", {"temperature": "hot"}, "temperature"),
]


@pytest.mark.parametrize(
    ("changes", "says"), [case[1:] for case in REFUSED], ids=[c[0] for c in REFUSED]
)
def test_a_wrong_request_is_refused(
    client: openai.OpenAI, changes: dict[str, Any], says: str
) -> None:
    body = {"model": MODEL, "messages": [user("hi")], **changes}
    with pytest.raises(openai.BadRequestError) as caught:
        client.post("/chat/completions", body=body, cast_to=object)
    assert says in caught.value.message
    assert set(caught.value.body) == {"message", "type", "param", "code"}  # type: ignore[call-overload]


def test_a_good_history_is_accepted(client: openai.OpenAI) -> None:
    two = {**ASSISTANT, "tool_calls": [CALL, {**CALL, "id": "c2"}]}
    messages: list[Any] = [
        {"role": "system", "content": "x"},
        user("call both"),
        two,
        {**RESULT, "tool_call_id": "c2"},
        RESULT,
        user("a note"),
        {"role": "assistant", "content": "done"},
        user([{"type": "text", "text": "say fine"}]),  # type: ignore[arg-type]
    ]
    reply = client.chat.completions.create(model=MODEL, messages=messages, tools=[I2C])  # type: ignore[list-item]
    assert reply.choices[0].message.content == "fine"


def test_context_overflow(services: Services, client: openai.OpenAI) -> None:
    services.model.context_tokens = 100
    try:
        with pytest.raises(openai.BadRequestError) as caught:
            client.chat.completions.create(model=MODEL, messages=[user("x" * 500)])
    finally:
        services.model.context_tokens = 128_000
    assert caught.value.code == "context_length_exceeded"


def test_scripted_answers_come_first(services: Services, client: openai.OpenAI) -> None:
    services.model.script = ["one", Answer("", [ToolCall("t", {"a": 1})])]
    first = client.chat.completions.create(model=MODEL, messages=[user("say two")])
    second = client.chat.completions.create(model=MODEL, messages=[user("say two")])
    third = client.chat.completions.create(model=MODEL, messages=[user("say two")])
    assert first.choices[0].message.content == "one"
    assert second.choices[0].message.tool_calls is not None
    assert third.choices[0].message.content == "two"


@pytest.mark.parametrize(("kind", "where"), [("field", "reasoning_content"), ("tags", "content")])
def test_thoughts_come_in_each_form(
    services: Services, client: openai.OpenAI, kind: str, where: str
) -> None:
    services.model.reasoning = kind
    try:
        chunks = list(
            client.chat.completions.create(model=MODEL, messages=[user("say x")], stream=True)
        )
    finally:
        services.model.reasoning = ""
    deltas = [chunk.choices[0].delta.model_dump() for chunk in chunks]
    assert "nobody thinks here" in "".join(delta.get(where) or "" for delta in deltas)


def test_record_has_no_key(services: Services, client: openai.OpenAI) -> None:
    client.chat.completions.create(model=MODEL, messages=[user("hi")])
    request = services.model.requests[-1]
    assert request.path == "/v1/chat/completions"
    assert request.json["messages"] == [user("hi")]
    assert json.loads(request.body) == request.json
    assert request.status == 200
    assert API_KEY not in repr(request)


def test_estimate_is_four_bytes_a_token() -> None:
    assert estimate("") == 0
    assert estimate("abcdef") == 2
    assert estimate("ä" * 5) == 3


def look(client: openai.OpenAI, url: str) -> str:
    content = [{"type": "image_url", "image_url": {"url": url}}, {"type": "text", "text": "what?"}]
    message: Any = {"role": "user", "content": content}
    reply = client.chat.completions.create(model=MODEL, messages=[message])
    return reply.choices[0].message.content or ""


def data_url(data: bytes, kind: str = "image/jpeg") -> str:
    return f"data:{kind};base64,{base64.b64encode(data).decode()}"


def test_it_sees_a_picture(client: openai.OpenAI) -> None:
    data = photos.photo(90, 67)
    assert look(client, data_url(data)) == f"I see image/jpeg, {len(data)} bytes."
    assert (
        look(client, data_url(photos.photo(90, 67, "PNG"), "image/png"))[:15] == "I see image/png"
    )


def test_pictures_that_it_refuses(client: openai.OpenAI, services: Services) -> None:
    data = photos.photo(90, 67)
    whole = data_url(data)
    for url, says in (
        ("https://example.org/a.jpg", "Failed to download image"),
        (whole.replace("base64,", "base64,\\n"), "Invalid base64 image_url"),
        (whole[:-8] + "=" + whole[-8:], "Invalid base64 image_url"),
        (whole.rstrip("=")[:-1], "Invalid base64 image_url"),
        (data_url(data, "image/png"), "unsupported image"),
        (data_url(b"<svg>", "image/svg+xml"), "unsupported image"),
        (data_url(data[: len(data) // 2]), "Could not process image"),
    ):
        with pytest.raises(openai.BadRequestError, match=says):
            look(client, url)
    services.model.sees = False
    try:
        with pytest.raises(openai.BadRequestError, match="does not support image input"):
            look(client, whole)
    finally:
        services.model.sees = True
