"""The refusals of Anthropic's messages API, in its own words."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from .tool_schema import schema_problem

_KEYS = frozenset(
    (
        "model", "messages", "max_tokens", "system", "stream", "tools", "tool_choice", "temperature",
        "top_p", "top_k", "stop_sequences", "metadata", "thinking", "service_tier", "container",
        "context_management", "mcp_servers", "cache_control", "output_config", "inference_geo",
    )
)  # fmt: skip
_TOOL_NAME = re.compile(r"^[a-zA-Z0-9_-]{1,128}$")
_ID = re.compile(r"^[a-zA-Z0-9_-]+$")
_MAX_CACHE_MARKS = 4

#: Error type for each status, as the API documents them.
ERROR_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    504: "timeout_error",
    529: "overloaded_error",
}


class Refusal(Exception):
    """A request that the API refuses."""

    def __init__(self, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.message = message
        self.status = status

    def body(self) -> dict[str, Any]:
        return error_body(self.message, self.status)


def error_body(message: str, status: int) -> dict[str, Any]:
    kind = ERROR_TYPES.get(status, "api_error")
    return {
        "type": "error",
        "error": {"type": kind, "message": message},
        "request_id": "req_offline",
    }


def check_headers(headers: dict[str, str], api_key: str) -> None:
    """Refuse a missing or wrong key, or a missing version."""
    key = headers.get("x-api-key")
    if key is None:
        raise Refusal("x-api-key header is required", 401)
    if key != api_key:
        raise Refusal("invalid x-api-key", 401)
    version = headers.get("anthropic-version")
    if version is None:
        raise Refusal("anthropic-version: header is required")
    if version not in ("2023-06-01", "2023-01-01"):
        raise Refusal(f'anthropic-version: "{version}" is not a valid version')


def check(
    body: Any, models: Iterable[str], max_tokens: int, *, strict_alternation: bool = False
) -> None:
    """Refuse a request that the real API refuses.

    The real API joins consecutive messages of one role; `strict_alternation` refuses them, as
    older and compatible servers do.
    """
    if not isinstance(body, dict):
        raise Refusal("The request body is not valid JSON: expected an object")
    for key in sorted(set(body) - _KEYS):
        raise Refusal(f"{key}: Extra inputs are not permitted")
    for key in ("model", "max_tokens", "messages"):
        if key not in body:
            raise Refusal(f"{key}: Field required")
    _check_type(body, "model", str, "string")
    _check_type(body, "stream", bool, "boolean")
    _check_type(body, "messages", list, "list")
    tokens = body["max_tokens"]
    if not isinstance(tokens, int) or isinstance(tokens, bool):
        raise Refusal("max_tokens: Input should be a valid integer")
    if tokens < 1:
        raise Refusal("max_tokens: must be greater than or equal to 1")
    if tokens > max_tokens:
        raise Refusal(
            f"max_tokens: {tokens} > {max_tokens}, which is the maximum allowed number of output "
            f"tokens for {body['model']}"
        )
    _check_system(body.get("system", ""))
    _check_tools(body.get("tools", []))
    _check_messages(body["messages"], strict_alternation)
    marks = sum(1 for _ in _marks(body))
    if marks > _MAX_CACHE_MARKS:
        raise Refusal(
            f"A maximum of {_MAX_CACHE_MARKS} blocks with cache_control may be provided. Found {marks}."
        )
    if body["model"] not in models:
        raise Refusal(f"model: {body['model']}", 404)


def blocks(content: Any) -> list[dict[str, Any]]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _marks(value: Any) -> Iterable[Any]:
    """Yield every cache mark in the request."""
    if isinstance(value, dict):
        if value.get("cache_control") is not None:
            yield value["cache_control"]
        for key, item in value.items():
            if key not in ("input", "input_schema"):
                yield from _marks(item)
    elif isinstance(value, list):
        for item in value:
            yield from _marks(item)


def _check_type(body: dict[str, Any], key: str, kind: type, name: str) -> None:
    if key in body and not isinstance(body[key], kind):
        raise Refusal(f"{key}: Input should be a valid {name}")


def _check_system(system: Any) -> None:
    if isinstance(system, str):
        return
    if not isinstance(system, list):
        raise Refusal("system: Input should be a valid list")
    for index, block in enumerate(system):
        if not isinstance(block, dict) or block.get("type") != "text":
            raise Refusal(f"system.{index}: Input should be a text block")
        _check_text(block, f"system.{index}")


def _check_text(block: dict[str, Any], where: str) -> None:
    text = block.get("text")
    if not isinstance(text, str):
        raise Refusal(f"{where}.text.text: Field required")
    if not text:
        if "cache_control" in block:
            raise Refusal(f"{where}: cache_control cannot be set for empty text blocks")
        raise Refusal("messages: text content blocks must be non-empty")
    if not text.strip():
        raise Refusal("messages: text content blocks must contain non-whitespace text")


def _check_tools(tools: Any) -> None:
    if not isinstance(tools, list):
        raise Refusal("tools: Input should be a valid list")
    names: set[str] = set()
    for index, tool in enumerate(tools):
        where = f"tools.{index}.custom"
        if not isinstance(tool, dict) or "name" not in tool:
            raise Refusal(f"{where}.name: Field required")
        if not isinstance(tool["name"], str) or not _TOOL_NAME.match(tool["name"]):
            raise Refusal(f"{where}.name: String should match pattern '{_TOOL_NAME.pattern}'")
        if "input_schema" not in tool:
            raise Refusal(f"{where}.input_schema: Field required")
        for key in tool:
            if key not in (
                "name",
                "description",
                "input_schema",
                "type",
                "cache_control",
                "strict",
            ):
                raise Refusal(f"{where}.{key}: Extra inputs are not permitted")
        schema = tool["input_schema"]
        if not isinstance(schema, dict) or "type" not in schema:
            raise Refusal(f"{where}.input_schema.type: Field required")
        if schema["type"] != "object":
            raise Refusal(f"{where}.input_schema.type: Input should be 'object'")
        if schema_problem(schema):
            raise Refusal(
                f"{where}.input_schema: JSON schema is invalid. It must match JSON Schema draft 2020-12"
            )
        if tool["name"] in names:
            raise Refusal("tools: Tool names must be unique.")
        names.add(tool["name"])


def _check_messages(messages: list[Any], strict_alternation: bool) -> None:
    if not messages:
        raise Refusal("messages: at least one message is required")
    previous = ""
    for index, item in enumerate(messages):
        if not isinstance(item, dict):
            raise Refusal(f"messages.{index}: Input should be a valid dictionary")
        for key in sorted(set(item) - {"role", "content"}):
            raise Refusal(f"messages.{index}.{key}: Extra inputs are not permitted")
        role = item.get("role")
        if role == "system":
            raise Refusal(
                'messages: Unexpected role "system". The Messages API accepts a top-level `system` '
                'parameter, not "system" as an input message role.'
            )
        if role not in ("user", "assistant"):
            raise Refusal(f"messages.{index}.role: Input should be 'user' or 'assistant'")
        if index == 0 and role != "user":
            raise Refusal('messages: first message must use the "user" role')
        if strict_alternation and role == previous:
            raise Refusal(
                'messages: roles must alternate between "user" and "assistant", but found multiple '
                f'"{role}" roles in a row'
            )
        previous = role
        _check_content(item, index, last=index == len(messages) - 1)
    _check_pairs(messages)


def _check_content(item: dict[str, Any], index: int, last: bool) -> None:
    content = item.get("content")
    if not isinstance(content, (str, list)):
        raise Refusal(f"messages.{index}.content: Input should be a valid list")
    if not content and not (last and item["role"] == "assistant"):
        raise Refusal(
            f"messages.{index}: all messages must have non-empty content except for the optional final "
            "assistant message"
        )
    if isinstance(content, str):
        if last and item["role"] == "assistant" and content != content.rstrip():
            raise Refusal("messages: final assistant content cannot end with trailing whitespace")
        return
    for place, block in enumerate(content):
        where = f"messages.{index}.content.{place}"
        kind = block.get("type") if isinstance(block, dict) else None
        if kind == "text":
            _check_text(block, where)
        elif kind == "tool_use":
            if item["role"] != "assistant":
                raise Refusal(f"{where}: `tool_use` blocks can only be in `assistant` messages")
            _check_tool_use(block, where)
        elif kind == "tool_result":
            if item["role"] != "user":
                raise Refusal(f"{where}: `tool_result` blocks can only be in `user` messages")
            _check_tool_result(block, where)
        elif kind not in ("thinking", "redacted_thinking", "image", "document"):
            raise Refusal(
                f"{where}: Input tag '{kind}' found using 'type' does not match any of the expected tags"
            )


def _check_tool_use(block: dict[str, Any], where: str) -> None:
    if not isinstance(block.get("id"), str) or not _ID.match(block["id"]):
        raise Refusal(f"{where}.tool_use.id: String should match pattern '{_ID.pattern}'")
    if not isinstance(block.get("name"), str) or not _TOOL_NAME.match(block["name"]):
        raise Refusal(f"{where}.tool_use.name: String should match pattern '{_TOOL_NAME.pattern}'")
    if not isinstance(block.get("input"), dict):
        raise Refusal(f"{where}.tool_use.input: Input should be a valid dictionary")


def _check_tool_result(block: dict[str, Any], where: str) -> None:
    if not isinstance(block.get("tool_use_id"), str):
        raise Refusal(f"{where}.tool_result.tool_use_id: Field required")
    content = block.get("content", "")
    if not isinstance(content, (str, list)):
        raise Refusal(f"{where}.tool_result.content: Input should be a valid list")
    for inner in content if isinstance(content, list) else []:
        if not isinstance(inner, dict) or inner.get("type") not in ("text", "image", "document"):
            raise Refusal(f"{where}.tool_result.content: Input should be a valid block")
        if inner["type"] == "text":
            _check_text(inner, where)


def _check_pairs(messages: list[dict[str, Any]]) -> None:
    """Every tool_use is answered at the head of the next message, and only there."""
    seen: set[str] = set()
    turns: list[tuple[int, str, list[dict[str, Any]]]] = []
    for index, item in enumerate(messages):
        if turns and turns[-1][1] == item["role"]:
            turns[-1][2].extend(blocks(item["content"]))
        else:
            turns.append((index, item["role"], list(blocks(item["content"]))))
    waiting: list[str] = []
    before = 0
    for index, _, content in turns:
        answered: list[str] = []
        leading = True
        for place, block in enumerate(content):
            if block["type"] != "tool_result":
                leading = False
                continue
            if block["tool_use_id"] in answered:
                raise Refusal(
                    f"messages.{index}.content.{place}: each tool_use must have a single result. Found "
                    f"multiple `tool_result` blocks with id: {block['tool_use_id']}"
                )
            if block["tool_use_id"] not in waiting:
                raise Refusal(
                    f"messages.{index}.content.{place}: unexpected `tool_use_id` found in `tool_result` "
                    f"blocks: {block['tool_use_id']}. Each `tool_result` block must have a corresponding "
                    "`tool_use` block in the previous message."
                )
            if leading:
                answered.append(block["tool_use_id"])
        _check_answered([one for one in waiting if one not in answered], before)
        waiting = []
        before = index
        for block in content:
            if block["type"] == "tool_use":
                if block["id"] in seen:
                    raise Refusal("messages: `tool_use` ids must be unique")
                seen.add(block["id"])
                waiting.append(block["id"])
    _check_answered(waiting, before)


def _check_answered(left: list[str], index: int) -> None:
    if left:
        raise Refusal(
            f"messages.{index}: `tool_use` ids were found without `tool_result` blocks immediately after: "
            f"{', '.join(left)}. Each `tool_use` block must have a corresponding `tool_result` block in "
            "the next message."
        )
