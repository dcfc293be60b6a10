"""Anthropic's messages wire format: reads requests and writes answers."""

from __future__ import annotations

import json
from typing import Any

from . import pictures
from .conversation import Answer, Conversation, Message, Tool, ToolCall
from .records import Event


def conversation(body: dict[str, Any]) -> Conversation:
    """Read a checked request; consecutive messages of one role are joined in order."""
    result = Conversation(system=_plain(body.get("system", "")))
    for index, message in enumerate(body["messages"]):
        texts: list[str] = []
        calls: list[ToolCall] = []
        seen: list[pictures.Picture] = []
        for number, block in enumerate(blocks(message["content"])):
            if block["type"] == "tool_result":
                result.messages.append(
                    Message("tool", _plain(block.get("content", "")), call_id=block["tool_use_id"])
                )
            elif block["type"] == "tool_use":
                calls.append(ToolCall(block["name"], block["input"], block["id"]))
            elif block["type"] == "text":
                texts.append(block["text"])
            elif block["type"] == "image":
                seen.append(pictures.of_block(block, f"messages.{index}.content.{number}"))
        if texts or calls or seen:
            text = "\n".join(texts)
            result.messages.append(Message(message["role"], text, calls, pictures=seen))
    for tool in body.get("tools", []):
        result.tools[tool["name"]] = Tool(
            tool["name"], tool.get("description", ""), tool.get("input_schema") or {}
        )
    return result


def blocks(content: Any) -> list[dict[str, Any]]:
    """A message's content as blocks."""
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def message(
    answer: Answer, stop: str, common: dict[str, Any], usage: dict[str, int]
) -> dict[str, Any]:
    """Write an answer as one object."""
    content: list[dict[str, Any]] = []
    if answer.text:
        content.append({"type": "text", "text": answer.text})
    for call in answer.calls:
        content.append(
            {"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments}
        )
    return {
        **common,
        "content": content,
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": usage,
    }


def stream(
    answer: Answer,
    stop: str,
    common: dict[str, Any],
    usage: dict[str, int],
    *,
    fragment: int,
    reasoning: str = "",
) -> list[Event]:
    """Write an answer as a stream of events."""
    events: list[Event] = []

    def emit(kind: str, **fields: Any) -> None:
        data = json.dumps({"type": kind, **fields}, ensure_ascii=False, separators=(",", ":"))
        events.append(Event(data, kind))

    def block(index: int, start: dict[str, Any], deltas: list[dict[str, Any]]) -> None:
        emit("content_block_start", index=index, content_block=start)
        if index == 0:
            emit("ping")
        for delta in deltas:
            emit("content_block_delta", index=index, delta=delta)
        emit("content_block_stop", index=index)

    start_usage = {**usage, "output_tokens": 1}
    opening = {
        **common,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": start_usage,
    }
    emit("message_start", message=opening)
    index = 0
    if reasoning:
        deltas = [
            {"type": "thinking_delta", "thinking": part} for part in _cut(reasoning, fragment)
        ]
        deltas.append({"type": "signature_delta", "signature": "b2ZmbGluZQ=="})
        block(index, {"type": "thinking", "thinking": "", "signature": ""}, deltas)
        index += 1
    if answer.text:
        deltas = [{"type": "text_delta", "text": part} for part in _cut(answer.text, fragment)]
        block(index, {"type": "text", "text": ""}, deltas)
        index += 1
    for call in answer.calls:
        start = {"type": "tool_use", "id": call.id, "name": call.name, "input": {}}
        arguments = json.dumps(call.arguments, ensure_ascii=False) if call.arguments else ""
        parts = ["", *_cut(arguments, fragment)]
        block(index, start, [{"type": "input_json_delta", "partial_json": part} for part in parts])
        index += 1
    emit(
        "message_delta",
        delta={"stop_reason": stop, "stop_sequence": None},
        usage={"output_tokens": usage["output_tokens"]},
    )
    emit("message_stop")
    return events


def _cut(text: str, size: int) -> list[str]:
    return [text[start : start + size] for start in range(0, len(text), size)]


def _plain(content: Any) -> str:
    return "\n".join(block.get("text", "") for block in blocks(content))
