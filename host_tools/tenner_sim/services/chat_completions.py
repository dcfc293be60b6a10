"""The chat-completions wire format: reads requests and writes answers."""

from __future__ import annotations

import json
from typing import Any

from . import pictures
from .conversation import Answer, Conversation, Message, Tool, ToolCall
from .records import Event


def conversation(body: dict[str, Any]) -> Conversation:
    """Read a checked request."""
    result = Conversation()
    system = []
    for message in body["messages"]:
        role = message["role"]
        text = _text(message.get("content"))
        if role in ("system", "developer"):
            system.append(text)
        elif role == "tool":
            result.messages.append(Message("tool", text, call_id=message["tool_call_id"]))
        else:
            calls = [_call(call) for call in message.get("tool_calls") or []]
            seen = [pictures.of_part(part) for part in _parts_of(message, "image_url")]
            result.messages.append(Message(role, text, calls, pictures=seen))
    result.system = "\n".join(system)
    for tool in body.get("tools") or []:
        function = tool["function"]
        result.tools[function["name"]] = Tool(
            function["name"], function.get("description", ""), function.get("parameters") or {}
        )
    return result


def completion(answer: Answer, finish: str, common: dict[str, Any], usage: Any) -> dict[str, Any]:
    """Write an answer as one object."""
    message: dict[str, Any] = {
        "role": "assistant",
        "content": answer.text or None,
        "refusal": None,
    }
    if answer.calls:
        message["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": _dumps(call.arguments)},
            }
            for call in answer.calls
        ]
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": finish}
    return {**common, "object": "chat.completion", "choices": [choice], "usage": usage}


def stream(
    answer: Answer,
    finish: str,
    common: dict[str, Any],
    usage: Any,
    *,
    fragment: int,
    reasoning: str = "",
) -> list[Event]:
    """Write an answer as a stream, in fragments as real servers send them. `usage` None omits
    it."""
    chunks: list[dict[str, Any]] = []

    def delta(content: dict[str, Any], reason: str | None = None) -> None:
        choice = {"index": 0, "delta": content, "logprobs": None, "finish_reason": reason}
        chunk = {**common, "object": "chat.completion.chunk", "choices": [choice]}
        if usage is not None:
            chunk["usage"] = None
        chunks.append(chunk)

    delta({"role": "assistant", "content": "" if answer.text else None, "refusal": None})
    for part in _parts(reasoning, fragment):
        delta({"reasoning_content": part})
    for part in _parts(answer.text, fragment):
        delta({"content": part})
    for index, call in enumerate(answer.calls):
        function = {"name": call.name, "arguments": ""}
        delta(
            {
                "tool_calls": [
                    {"index": index, "id": call.id, "type": "function", "function": function}
                ]
            }
        )
        for part in _parts(_dumps(call.arguments), fragment):
            delta({"tool_calls": [{"index": index, "function": {"arguments": part}}]})
    delta({}, finish)
    if usage is not None:
        chunks.append({**common, "object": "chat.completion.chunk", "choices": [], "usage": usage})
    # Escaped, as many servers do; a pair of surrogates may then fall into two events.
    return [Event(json.dumps(chunk, separators=(",", ":"))) for chunk in chunks] + [
        Event("[DONE]")
    ]


def _parts(text: str, size: int) -> list[str]:
    """Cut a text into fragments counted in UTF-16 units; a pair may be cut in half."""
    units = text.encode("utf-16-le", "surrogatepass")
    step = 2 * size
    return [
        units[start : start + step].decode("utf-16-le", "surrogatepass")
        for start in range(0, len(units), step)
    ]


def _dumps(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _parts_of(message: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    content = message.get("content")
    return [part for part in content if part["type"] == kind] if isinstance(content, list) else []


def _text(content: Any) -> str:
    if isinstance(content, list):
        return "\n".join(part.get("text", "") for part in content if isinstance(part, dict))
    return content or ""


def _call(call: dict[str, Any]) -> ToolCall:
    function = call.get("function") or {}
    try:
        arguments = json.loads(function.get("arguments") or "{}")
    except ValueError:
        arguments = {}
    return ToolCall(
        function.get("name", ""), arguments if isinstance(arguments, dict) else {}, call["id"]
    )
