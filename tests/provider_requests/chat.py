"""Chat completions: the types of the package `openai`, and OpenAI's rules beyond them."""

from __future__ import annotations

import re
from typing import Any

from openai.types.chat.completion_create_params import (
    CompletionCreateParamsNonStreaming,
    CompletionCreateParamsStreaming,
)
from pydantic import TypeAdapter

from tenner_sim.services import pictures
from tenner_sim.services.refusal import Refusal
from tests.provider_requests import decoded, typed

_PLAIN: TypeAdapter[Any] = TypeAdapter(CompletionCreateParamsNonStreaming)
_STREAMING: TypeAdapter[Any] = TypeAdapter(CompletionCreateParamsStreaming)
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_LONGEST_ID = 40


def check(body: dict[str, Any]) -> None:
    typed.check(_STREAMING if body.get("stream") else _PLAIN, body)
    for key in ("messages", "tools"):
        if body.get(key) == []:
            raise Refusal(f"{key}: empty array", param=key, code="empty_array")
    for key in ("max_tokens", "max_completion_tokens"):
        value = body.get(key)
        if value is not None and value < 1:
            raise Refusal(f"{key}: below 1", param=key, code="integer_below_min_value")
    _check_messages(body["messages"])
    _check_tools(body.get("tools") or [])


def _check_messages(messages: list[dict[str, Any]]) -> None:
    """Every call has exactly one result, right after it; every result has a call."""
    waiting: list[str] = []
    for index, message in enumerate(messages):
        where = f"messages.{index}"
        calls = message.get("tool_calls")
        content = message.get("content")
        for part in content if isinstance(content, list) else ():
            if part["type"] == "image_url":
                if message["role"] != "user":
                    raise Refusal(f"{where}: a picture in a message of the {message['role']}")
                decoded.check(pictures.of_part(part))
        if message.get("content") is None and not calls:
            raise Refusal(f"{where}.content: expected a string, got null", param=where)
        if message["role"] == "tool":
            if message["tool_call_id"] not in waiting:
                raise Refusal(f"{where}: a result without a call before it", param=where)
            waiting.remove(message["tool_call_id"])
            continue
        if waiting:
            raise Refusal(f"{where}: no result of the calls {waiting}", param="messages")
        if calls == []:
            raise Refusal(f"{where}.tool_calls: empty array", param=where, code="empty_array")
        for call in calls or []:
            _check_name(call["function"]["name"], where)
            if len(call["id"]) > _LONGEST_ID:
                raise Refusal(f"{where}: id longer than {_LONGEST_ID}", param=where)
            if call["id"] in waiting:
                raise Refusal(f"{where}: id {call['id']!r} twice", param=where)
            waiting.append(call["id"])
    if waiting:
        raise Refusal(f"messages: no result of the calls {waiting}", param="messages")


def _check_tools(tools: list[dict[str, Any]]) -> None:
    names: set[str] = set()
    for index, tool in enumerate(tools):
        where = f"tools.{index}"
        if tool["type"] != "function":
            continue
        function = tool["function"]
        _check_name(function["name"], where)
        if function["name"] in names:
            raise Refusal(f"{where}: name {function['name']!r} twice", param=where)
        names.add(function["name"])
        typed.check_schema(function.get("parameters", {"type": "object"}), where)


def _check_name(name: str, where: str) -> None:
    if not _NAME.fullmatch(name):
        raise Refusal(f"{where}: name {name!r} does not match '{_NAME.pattern}'", param=where)
