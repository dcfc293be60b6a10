"""The messages API: the types of the package `anthropic`, and Anthropic's rules beyond them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from anthropic.types.message_create_params import (
    MessageCreateParamsNonStreaming,
    MessageCreateParamsStreaming,
)
from pydantic import TypeAdapter

from tenner_sim.services import pictures
from tenner_sim.services.messages_api import blocks
from tenner_sim.services.refusal import Refusal
from tests.provider_requests import decoded, typed

_PLAIN: TypeAdapter[Any] = TypeAdapter(MessageCreateParamsNonStreaming)
_STREAMING: TypeAdapter[Any] = TypeAdapter(MessageCreateParamsStreaming)
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
_MAX_CACHE_MARKS = 4
_ROLES = {"tool_use": "assistant", "tool_result": "user", "image": "user"}


def check(body: dict[str, Any]) -> None:
    typed.check(_STREAMING if body.get("stream") else _PLAIN, body)
    if body["max_tokens"] < 1:
        raise Refusal("max_tokens: must be greater than or equal to 1")
    if not body["messages"]:
        raise Refusal("messages: at least one message is required")
    for index, message in enumerate(body["messages"]):
        _check_message(message, f"messages.{index}", index == len(body["messages"]) - 1)
    if body["messages"][0]["role"] != "user":
        raise Refusal('messages: first message must use the "user" role')
    _check_pairs(body["messages"])
    _check_tools(body.get("tools", []))
    for text in _texts(body):
        if not text.strip():
            raise Refusal("messages: text content blocks must contain non-whitespace text")
    marks = str(body).count("'cache_control': {")
    if marks > _MAX_CACHE_MARKS:
        raise Refusal(f"{marks} blocks with cache_control, at most {_MAX_CACHE_MARKS}")


def _check_message(message: dict[str, Any], where: str, last: bool) -> None:
    role, content = message["role"], message["content"]
    if role == "system":
        # Newer models take it; those that owners have do not.
        raise Refusal(f'{where}: Unexpected role "system"')
    final = last and role == "assistant"
    if not content and not final:
        raise Refusal(f"{where}: all messages must have non-empty content")
    if final and isinstance(content, str) and content != content.rstrip():
        raise Refusal(f"{where}: final assistant content cannot end with trailing whitespace")
    for block in blocks(content):
        if block["type"] == "tool_use":
            for key in ("id", "name"):
                if not _NAME.fullmatch(block[key]):
                    raise Refusal(f"{where}.tool_use.{key}: does not match '{_NAME.pattern}'")
            if not isinstance(block["input"], dict):
                raise Refusal(f"{where}.tool_use.input: Input should be a valid dictionary")
        if block["type"] == "image":
            decoded.check(pictures.of_block(block, where))
        if _ROLES.get(block["type"], role) != role:
            raise Refusal(f"{where}: no {block['type']} in a message of the {role}")


def _check_pairs(messages: list[dict[str, Any]]) -> None:
    """Every tool_use is answered once, at the head of the next message, and its id is unique."""
    turns: list[tuple[str, list[dict[str, Any]]]] = []
    for message in messages:
        if not turns or turns[-1][0] != message["role"]:
            turns.append((message["role"], []))
        turns[-1][1].extend(blocks(message["content"]))
    seen: set[str] = set()
    waiting: set[str] = set()
    for _, content in (*turns, ("end", [])):
        head = True
        for block in content:
            head = head and block["type"] == "tool_result"
            if block["type"] == "tool_result":
                if not head or block["tool_use_id"] not in waiting:
                    raise Refusal(f"unexpected `tool_result` of {block['tool_use_id']}")
                waiting.remove(block["tool_use_id"])
        if waiting:
            raise Refusal(f"`tool_use` without `tool_result` right after it: {sorted(waiting)}")
        for block in content:
            if block["type"] == "tool_use":
                if block["id"] in seen:
                    raise Refusal("messages: `tool_use` ids must be unique")
                seen.add(block["id"])
                waiting.add(block["id"])


def _check_tools(tools: list[dict[str, Any]]) -> None:
    names: set[str] = set()
    for index, tool in enumerate(tools):
        where = f"tools.{index}"
        if not _NAME.fullmatch(tool["name"]):
            raise Refusal(f"{where}.name: does not match '{_NAME.pattern}'")
        if tool["name"] in names:
            raise Refusal("tools: Tool names must be unique")
        names.add(tool["name"])
        if "input_schema" in tool:
            typed.check_schema(tool["input_schema"], f"{where}.input_schema")


def _texts(value: Any) -> Iterator[str]:
    """The texts of all text blocks in a request."""
    if isinstance(value, dict):
        if value.get("type") == "text" and isinstance(value.get("text"), str):
            yield value["text"]
        for key, item in value.items():
            if key not in ("input", "input_schema"):
                yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
