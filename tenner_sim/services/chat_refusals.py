"""The chat-completions API's refusals, in its own words.

Requests are validated against the types of the official `openai` package, and against the rules
that those types do not express but the real API enforces.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from openai.types.chat import ChatCompletionMessageParam, ChatCompletionToolUnionParam
from openai.types.chat.completion_create_params import (
    CompletionCreateParamsNonStreaming,
    CompletionCreateParamsStreaming,
)
from pydantic import TypeAdapter, ValidationError

from .tool_schema import schema_problem

_ROLES = ("system", "assistant", "user", "function", "tool", "developer")
_NAME_PATTERN = "^[a-zA-Z0-9_-]+$"
_NAME = re.compile(_NAME_PATTERN)


class Refusal(Exception):
    """A request that the API refuses."""

    def __init__(
        self,
        message: str,
        *,
        status: int = 400,
        kind: str = "invalid_request_error",
        param: str | None = None,
        code: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.kind = kind
        self.param = param
        self.code = code

    def body(self) -> dict[str, Any]:
        return error_body(self.message, self.kind, self.param, self.code)


def error_body(
    message: str, kind: str, param: str | None = None, code: str | None = None
) -> dict[str, Any]:
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}


def check_key(headers: dict[str, str], api_key: str) -> None:
    """Refuse a missing or wrong bearer key."""
    scheme, _, key = headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not key:
        raise Refusal(
            "You didn't provide an API key. You need to provide your API key in an Authorization "
            "header using Bearer auth (i.e. Authorization: Bearer YOUR_KEY).",
            status=401,
        )
    if key.strip() != api_key:
        raise Refusal(
            f"Incorrect API key provided: {key[:3]}***. You can find your API key at "
            "https://platform.openai.com/account/api-keys.",
            status=401,
            code="invalid_api_key",
        )


def check(body: Any, models: Iterable[str], max_tokens: int) -> None:
    """Refuse a request that the real API refuses."""
    if not isinstance(body, dict):
        raise Refusal(
            "We could not parse the JSON body of your request. (HINT: This likely means you aren't "
            "using your HTTP library correctly. The OpenAI API expects a JSON payload, but what was "
            "sent was not valid JSON.)"
        )
    unknown = sorted(set(body) - _adapters()[0])
    if unknown:
        raise Refusal(
            f"Unrecognized request argument supplied: {unknown[0]}",
            param=unknown[0],
            code="unknown_parameter",
        )
    if "model" not in body:
        raise Refusal("you must provide a model parameter")
    _check_messages_outline(body)
    _check_tokens(body, max_tokens)
    _check_types(body)
    _check_pairs(body["messages"])
    _check_tools(body.get("tools"))
    if body["model"] not in models:
        raise Refusal(
            f"The model `{body['model']}` does not exist or you do not have access to it.",
            status=404,
            code="model_not_found",
        )


@lru_cache(maxsize=1)
def _adapters() -> tuple[
    frozenset[str], TypeAdapter[Any], TypeAdapter[Any], TypeAdapter[Any], TypeAdapter[Any]
]:
    keys = frozenset(CompletionCreateParamsStreaming.__required_keys__) | frozenset(
        CompletionCreateParamsStreaming.__optional_keys__
    )
    return (
        keys,
        TypeAdapter(CompletionCreateParamsNonStreaming),
        TypeAdapter(CompletionCreateParamsStreaming),
        TypeAdapter(ChatCompletionMessageParam),
        TypeAdapter(ChatCompletionToolUnionParam),
    )


def _check_messages_outline(body: dict[str, Any]) -> None:
    """Check the outline of messages, for which a type error would take many confusing lines."""
    messages = body.get("messages")
    if messages is None:
        raise Refusal(
            "Missing required parameter: 'messages'.",
            param="messages",
            code="missing_required_parameter",
        )
    if not isinstance(messages, list):
        raise Refusal(
            "Invalid type for 'messages': expected an array of objects.",
            param="messages",
            code="invalid_type",
        )
    if not messages:
        raise Refusal(
            "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an "
            "empty array instead.",
            param="messages",
            code="empty_array",
        )
    for index, message in enumerate(messages):
        role = message.get("role") if isinstance(message, dict) else None
        if role not in _ROLES:
            listed = ", ".join(f"'{known}'" for known in _ROLES[:-1])
            raise Refusal(
                f"Invalid value: '{role}'. Supported values are: {listed}, and 'developer'.",
                param=f"messages[{index}].role",
                code="invalid_value",
            )
        if role == "assistant" and message.get("tool_calls") == []:
            raise Refusal(
                f"Invalid 'messages[{index}].tool_calls': empty array. Expected an array with minimum "
                "length 1, but got an empty array instead.",
                param=f"messages[{index}].tool_calls",
                code="empty_array",
            )
        if message.get("content") is None and not (
            role == "assistant" and message.get("tool_calls")
        ):
            raise Refusal(
                "Invalid value for 'content': expected a string, got null.",
                param=f"messages.[{index}].content",
            )


def _check_tokens(body: dict[str, Any], limit: int) -> None:
    for name in ("max_tokens", "max_completion_tokens"):
        value = body.get(name)
        if not isinstance(value, int) or isinstance(value, bool):
            continue
        if value < 1:
            raise Refusal(
                f"Invalid '{name}': integer below minimum value. Expected a value >= 1, but got "
                f"{value} instead.",
                param=name,
                code="integer_below_min_value",
            )
        if value > limit:
            raise Refusal(
                f"{name} is too large: {value}. This model supports at most {limit} completion "
                f"tokens, whereas you provided {value}.",
                param=name,
            )


def _check_types(body: dict[str, Any]) -> None:
    _, plain, streaming, message, tool = _adapters()
    outline = {**body, "messages": []}
    tools = outline.pop("tools", None)
    _validate(streaming if body.get("stream") else plain, outline, "")
    for index, item in enumerate(body["messages"]):
        _validate(message, item, f"messages[{index}]")
    if tools is not None and not isinstance(tools, list):
        raise Refusal(
            "Invalid type for 'tools': expected an array.", param="tools", code="invalid_type"
        )
    for index, item in enumerate(tools or []):
        _validate(tool, item, f"tools[{index}]")


def _validate(adapter: TypeAdapter[Any], value: Any, where: str) -> None:
    try:
        _exhaust(adapter.validate_python(value, strict=True))
    except ValidationError as exc:
        # Of a union's branches, the one that matched furthest is probably the intended one.
        error = max(exc.errors(include_url=False), key=lambda item: len(item["loc"]))
        names = [str(part) for part in error["loc"] if str(part).islower()]
        param = ".".join([where, *names] if where else names)
        raise Refusal(
            f"Invalid type or value for '{param}': {error['msg']}.",
            param=param,
            code="invalid_type",
        ) from exc


def _exhaust(value: Any) -> None:
    """Walk a validated value: pydantic checks members of an Iterable only on iteration."""
    if isinstance(value, dict):
        for item in value.values():
            _exhaust(item)
    elif not isinstance(value, (str, bytes)) and isinstance(value, Iterable):
        for item in value:
            _exhaust(item)


def _check_pairs(messages: list[dict[str, Any]]) -> None:
    """Every call has exactly one result, right after it; every result has a call."""
    waiting: list[str] = []
    for index, message in enumerate(messages):
        if message["role"] == "tool":
            if message.get("tool_call_id") not in waiting:
                raise Refusal(
                    "Invalid parameter: messages with role 'tool' must be a response to a preceeding "
                    "message with 'tool_calls'.",
                    param=f"messages.[{index}].role",
                )
            waiting.remove(message["tool_call_id"])
            continue
        _check_answered(waiting, index)
        waiting = []
        for place, call in enumerate(message.get("tool_calls") or []):
            where = f"messages[{index}].tool_calls[{place}]"
            name = call["function"]["name"]
            if not _NAME.match(name):
                raise _bad_name(f"{where}.function.name")
            if len(call["id"]) > 40:
                raise Refusal(
                    f"Invalid '{where}.id': string too long. Expected a string with maximum length 40, "
                    f"but got a string with length {len(call['id'])} instead.",
                    param=f"{where}.id",
                    code="string_above_max_length",
                )
            if call["id"] in waiting:
                raise Refusal(f"Duplicate value for 'tool_call_id' of '{call['id']}'", param=where)
            waiting.append(call["id"])
    _check_answered(waiting, len(messages))


def _check_answered(waiting: list[str], index: int) -> None:
    if waiting:
        raise Refusal(
            "An assistant message with 'tool_calls' must be followed by tool messages responding to "
            "each 'tool_call_id'. The following tool_call_ids did not have response messages: "
            + ", ".join(waiting),
            param=f"messages.[{index}].role",
        )


def _bad_name(where: str) -> Refusal:
    return Refusal(
        f"Invalid '{where}': string does not match pattern. Expected a string that matches the "
        f"pattern '{_NAME_PATTERN}'.",
        param=where,
        code="invalid_value",
    )


def _check_tools(tools: Any) -> None:
    if tools is None:
        return
    if not tools:
        raise Refusal(
            "Invalid 'tools': empty array. Expected an array with minimum length 1, but got an empty "
            "array instead.",
            param="tools",
            code="empty_array",
        )
    names: set[str] = set()
    for index, tool in enumerate(tools):
        if tool.get("type") != "function":
            continue
        where = f"tools[{index}].function"
        name = tool["function"]["name"]
        if not _NAME.match(name):
            raise _bad_name(f"{where}.name")
        if len(name) > 64:
            raise Refusal(
                f"Invalid '{where}.name': string too long. Expected a string with maximum length 64, "
                f"but got a string with length {len(name)} instead.",
                param=f"{where}.name",
                code="string_above_max_length",
            )
        if name in names:
            raise Refusal(
                f"Invalid '{where}.name': the name '{name}' is used by another tool; tool names must "
                "be unique.",
                param=f"{where}.name",
                code="invalid_value",
            )
        names.add(name)
        problem = schema_problem(tool["function"].get("parameters", {"type": "object"}))
        if problem:
            raise Refusal(
                f"Invalid schema for function '{name}': {problem}",
                param=f"{where}.parameters",
                code="invalid_function_parameters",
            )
